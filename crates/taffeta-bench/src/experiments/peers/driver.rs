//! Runs of other programs through their drivers, and of ours, as films: positions frame by frame and what they took.

use super::{Task, words};
use crate::measure::{FrameSteps, build};
use crate::{BenchError, percent};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta_scene::build::bias_stiffness;
use taffeta_scene::{
    Air, Cloth, Collider, Contact, Corner, FabricChange, Method, Pin, Scene, Sheet, Solver, SphereShape,
};

/// A peer: how its driver is started and how it is raised.
#[derive(Deserialize)]
pub struct Drive {
    pub name: String,
    command: Vec<String>,
    /// Where it is started.
    folder: PathBuf,
    pub ladder: Vec<Map<String, Value>>,
}

/// Positions of every frame, the start first [m], and times [ms].
#[derive(Default)]
pub struct Film {
    pub peer: String,
    pub version: String,
    pub settings: String,
    pub frames: Vec<Vec<DVec3>>,
    /// How its quads are cut in two: what does not meet as one program cuts them may meet as another does.
    pub triangles: Vec<[u32; 3]>,
    pub cpu_ms: Vec<f64>,
    pub wall_ms: Vec<f64>,
    /// Why there is nothing of it.
    pub failure: Option<String>,
}

impl Film {
    /// Of a run that has failed.
    pub fn missing(peer: &Drive, error: &PeerError) -> Self {
        Self { peer: peer.name.clone(), failure: Some(error.to_string()), ..Self::default() }
    }
}

/// Why there is no film.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    /// The list or what a driver wrote cannot be read.
    #[error("{path}: {reason}; run peers/setup.sh again")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// It did not end in time.
    #[error("gave up after {seconds:.0} s")]
    Late {
        /// How long it was waited for [s].
        seconds: f64,
    },
    /// The driver ended with an error.
    #[error("{command} ended with {status}: {said}")]
    Ended {
        /// What was run.
        command: String,
        /// How it ended.
        status: String,
        /// The last that it said.
        said: String,
    },
}

fn read(path: &Path) -> Result<Vec<u8>, PeerError> {
    std::fs::read(path).map_err(|e| PeerError::Unreadable { path: path.into(), reason: e.to_string() })
}

/// The peers of a list.
pub fn read_list(path: &Path) -> Result<Vec<Drive>, BenchError> {
    let bytes = read(path).map_err(BenchError::asked)?;
    let refuse = |e: serde_json::Error| PeerError::Unreadable { path: path.into(), reason: e.to_string() };
    serde_json::from_slice(&bytes).map_err(|e| BenchError::asked(refuse(e)))
}

impl Drive {
    /// Runs one rung of the ladder.
    pub fn run(&self, task: &Task, rung: &Map<String, Value>) -> Result<Film, PeerError> {
        let unreadable = |path: &Path, reason: String| PeerError::Unreadable { path: path.into(), reason };
        let folder =
            tempfile::tempdir().map_err(|e| unreadable(Path::new("temporary folder"), e.to_string()))?;
        let (program, words_before) = self.command.split_first().unwrap_or((&self.name, &[]));
        let mut command = Command::new(program);
        command.args(words_before).arg(folder.path()).arg(task.with(rung).to_string());
        let said = folder.path().join("said");
        let file = std::fs::File::create(&said).map_err(|e| unreadable(&said, e.to_string()))?;
        command.current_dir(&self.folder).env("PYTHONDONTWRITEBYTECODE", "1");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
        // It watches its CPU time between frames, and on a busy machine has a share of it: a frame that does not end has to be ended.
        let most = 30.0 + 4.0 * task.seconds;
        let status = ended(&mut command, most).map_err(|e| unreadable(Path::new(program), e.to_string()))?;
        let report = folder.path().join("peer.json");
        if !report.exists() {
            let Some(status) = status else { return Err(PeerError::Late { seconds: most }) };
            let said = read(&said)?;
            return Err(PeerError::Ended {
                command: self.command.join(" "),
                status: status.to_string(),
                said: String::from_utf8_lossy(&said).lines().last().unwrap_or_default().into(),
            });
        }
        let about: Value =
            serde_json::from_slice(&read(&report)?).map_err(|e| unreadable(&report, e.to_string()))?;
        let times =
            |key: &str| about[key].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
        Ok(Film {
            peer: self.name.clone(),
            version: about["version"].as_str().unwrap_or_default().into(),
            settings: words(rung),
            frames: frames_of(&read(&folder.path().join("frames.f64"))?, (task.grid * task.grid) as usize),
            triangles: cut(task.grid),
            cpu_ms: times("cpu_ms"),
            wall_ms: times("wall_ms"),
            failure: None,
        })
    }
}

/// Runs a program; one that takes longer than `seconds` is ended, and has no status.
fn ended(command: &mut Command, seconds: f64) -> std::io::Result<Option<ExitStatus>> {
    let (begun, mut child) = (Instant::now(), command.spawn()?);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begun.elapsed().as_secs_f64() > seconds {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Quads of a grid whose rows go along z, seen from above.
pub fn quads(n: u32) -> impl Iterator<Item = [u32; 4]> {
    (0..(n - 1) * (n - 1)).map(move |k| {
        let i = k / (n - 1) * n + k % (n - 1);
        [i, i + n, i + n + 1, i + 1]
    })
}

/// Triangles as `peers/sheet.py` has them.
fn cut(n: u32) -> Vec<[u32; 3]> {
    quads(n).flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect()
}

/// Positions from little-endian doubles, as many whole frames as there are.
fn frames_of(bytes: &[u8], particles: usize) -> Vec<Vec<DVec3>> {
    let number = |eight: &[u8]| eight.try_into().map_or(f64::NAN, f64::from_le_bytes);
    let point = |bytes: &[u8]| DVec3::from_array([0, 8, 16].map(|at| number(&bytes[at..at + 8])));
    bytes.chunks_exact(24 * particles).map(|frame| frame.chunks_exact(24).map(point).collect()).collect()
}

/// Our own run at a tolerance, numbered as the sheet of the peers.
pub fn ours(task: &Task, method: Method, tolerance: f64) -> Result<Film, BenchError> {
    let mut simulation = build("peers", &scene(task, method, tolerance), &BTreeMap::new())?;
    let n = task.grid as usize;
    // Our rows begin at the far side.
    let now = |s: &Simulation| s.state().positions.chunks(n).rev().flatten().copied().collect::<Vec<_>>();
    let number = |i: u32| (task.grid - 1 - i / task.grid) * task.grid + i % task.grid;
    let mut film = Film {
        peer: "Taffeta".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        settings: format!("{}, tolerance {}", method.name(), percent(tolerance)),
        frames: vec![now(&simulation)],
        triangles: simulation.model().triangles.iter().map(|t| t.map(number)).collect(),
        ..Film::default()
    };
    for _ in 0..task.frames {
        let Ok(steps) = FrameSteps::take(&mut simulation) else { break };
        film.frames.push(now(&simulation));
        film.wall_ms.push(1e3 * steps.wall.as_secs_f64());
        film.cpu_ms.push(1e3 * steps.cpu.unwrap_or(steps.wall).as_secs_f64());
        if film.cpu_ms.iter().sum::<f64>() > 1e3 * task.seconds {
            break;
        }
    }
    Ok(film)
}

/// The sheet of `peers/sheet.py`; as there, it hardly bends.
fn scene(task: &Task, method: Method, tolerance: f64) -> Scene {
    let stretch = 1e4;
    let fabric = FabricChange {
        base: Some("cotton".into()),
        density: Some(200.0),
        warp: Some(stretch),
        weft: Some(stretch),
        bias: Some(bias_stiffness(stretch, stretch, 30.0)),
        bending_warp: Some(1e-3),
        bending_weft: Some(1e-3),
        friction: Some(0.3),
        ..FabricChange::default()
    };
    let drape = task.scene == "drape";
    let pin = Pin { corners: vec![Corner::UpperLeft, Corner::UpperRight], ..Pin::default() };
    let cloth = Cloth {
        fabric: "bench".into(),
        sheet: Some(Sheet { width: 1.0, height: 1.0, columns: task.grid, rows: task.grid, slack: 1.0 }),
        position: [0.0, if drape { 0.35 } else { 0.0 }, 0.0],
        pin: if drape { Vec::new() } else { vec![pin] },
        ..Cloth::default()
    };
    let ball =
        Collider { sphere: Some(SphereShape { radius: 0.3 }), friction: Some(0.3), ..Collider::default() };
    Scene {
        air: Air { density: 0.0, ..Air::default() },
        solver: Solver { method, tolerance, ..Solver::default() },
        contact: Contact { cloth_cloth: drape },
        fabrics: BTreeMap::from([("bench".into(), fabric)]),
        cloth: vec![cloth],
        collider: if drape { vec![ball] } else { Vec::new() },
        ..Scene::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_sheet_is_numbered_as_that_of_the_peers() {
        let task = Task { scene: "hang".into(), grid: 4, frames: 1, seconds: 9.0 };
        let Ok(film) = ours(&task, Method::ImpulseStrips, 0.01) else { panic!("a scene without faults") };
        assert_eq!(film.frames.len(), 2);
        let near = |i: usize, x: f64, z: f64| film.frames[0][i].distance(DVec3::new(x, 0.0, z)) < 1e-9;
        assert!(near(0, -0.5, -0.5) && near(3, 0.5, -0.5) && near(12, -0.5, 0.5));
        // The pins are the first row's ends.
        assert_eq!((film.frames[1][0], film.frames[1][3]), (film.frames[0][0], film.frames[0][3]));
        assert!(film.frames[1][12].y < 0.0);
        // Triangles look up, as those of the peers do.
        for [a, b, c] in film.triangles.iter().chain(&cut(4)).map(|t| t.map(|i| film.frames[0][i as usize])) {
            assert!((b - a).cross(c - a).y > 0.0);
        }
        assert_eq!(film.triangles.len(), cut(4).len());
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_does_not_end_is_ended() {
        assert!(ended(Command::new("sleep").arg("60"), 0.1).unwrap().is_none());
        assert!(ended(Command::new("sleep").arg("0"), 60.0).unwrap().is_some_and(|status| status.success()));
    }

    #[test]
    fn whole_frames_alone_are_read() {
        let bytes: Vec<u8> = (0..13).flat_map(|k| f64::from(k).to_le_bytes()).collect();
        let frames = frames_of(&bytes, 2);
        assert_eq!(
            frames,
            [
                vec![DVec3::new(0.0, 1.0, 2.0), DVec3::new(3.0, 4.0, 5.0)],
                vec![DVec3::new(6.0, 7.0, 8.0), DVec3::new(9.0, 10.0, 11.0)]
            ]
        );
    }
}
