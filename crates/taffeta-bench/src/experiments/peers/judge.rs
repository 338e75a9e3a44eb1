//! The judge of all films alike: strain, intersections and fall, from positions alone.

use super::driver::quads;
use super::{Film, LATEST_FALL, Row, Task};
use crate::measure::{crossing, median};
use taffeta::check::{self, Surface, certify_parts};
use taffeta::math::{DVec3, Pose};
use taffeta::model::{Form, Shape};
use taffeta_scene::Mesh;

/// How deep the far side has to fall for the fall time [m].
const FALL: f64 = 0.8;

/// A sheet that drapes has come so near to the ball, from twice as far [mm].
const REACHED: f64 = 25.0;

/// Cloth that is strained more than this is torn apart, and nobody looks any further [1].
const TORN: f64 = 10.0;

/// Measures every frame of a film.
pub fn row(task: &Task, film: &Film) -> Row {
    let n = task.grid;
    let mut row = Row {
        scene: task.scene.clone(),
        grid: n,
        peer: film.peer.clone(),
        version: film.version.clone(),
        settings: film.settings.clone(),
        frames: film.cpu_ms.len(),
        cpu_ms: median(film.cpu_ms.clone()),
        wall_ms: median(film.wall_ms.clone()),
        max_strain: if film.frames.is_empty() { f64::INFINITY } else { 0.0 },
        mean_strain: 0.0,
        cloth_cloth: 0,
        cloth_body: 0,
        min_gap_mm: None,
        fall_s: fall_time(&film.frames, n as usize),
        counts: false,
        spent_s: 0.0,
        gave_up: false,
        failure: film.failure.clone(),
    };
    look_through(film, task, &mut row);
    let fell = match task.scene.as_str() {
        "hang" => row.fall_s.is_some_and(|fall| fall <= LATEST_FALL),
        _ => row.min_gap_mm.is_some_and(|gap| gap < REACHED),
    };
    row.counts = row.frames == task.frames as usize && row.max_strain.is_finite() && fell;
    row
}

/// The largest strains and the most intersections of all frames.
fn look_through(film: &Film, task: &Task, row: &mut Row) {
    let positions = film.frames.first().cloned().unwrap_or_default();
    let mesh = Mesh { positions, quads: quads(task.grid).collect(), ..Mesh::default() };
    let Ok(topology) = mesh.topology() else { return };
    let length = |[a, b]: &[u32; 2]| mesh.positions[*a as usize].distance(mesh.positions[*b as usize]);
    let lengths: Vec<f64> = topology.edges.iter().map(length).collect();
    let ball = (task.scene == "drape").then_some(Form::Closed(Shape::Sphere { radius: 0.3 }));
    for positions in film.frames.iter().skip(1) {
        let strain = check::strain(positions, &topology.edges, &lengths).max;
        if !positions.iter().all(|x| x.is_finite()) || strain > TORN {
            row.max_strain = f64::INFINITY;
            return;
        }
        let cloth = Surface { positions, triangles: &film.triangles };
        let bodies = ball.iter().map(|form| (form, Pose::IDENTITY));
        let found = certify_parts(cloth, &topology.edges, &lengths, bodies, 0.0);
        row.max_strain = row.max_strain.max(found.max_strain);
        row.mean_strain = row.mean_strain.max(found.mean_strain);
        row.cloth_cloth = row.cloth_cloth.max(found.cloth_cloth);
        row.cloth_body = row.cloth_body.max(found.cloth_body);
        if ball.is_some() {
            row.min_gap_mm = Some((1e3 * found.min_gap).min(row.min_gap_mm.unwrap_or(f64::INFINITY)));
        }
    }
}

/// When the far side has fallen [s].
fn fall_time(frames: &[Vec<DVec3>], n: usize) -> Option<f64> {
    let depth = |frame: &Vec<DVec3>| -frame[n * (n - 1)..].iter().map(|x| x.y).sum::<f64>() / n as f64;
    let at = |(k, frame)| (k as f64 / 30.0, depth(frame));
    let path: Vec<(f64, f64)> = frames.iter().enumerate().map(at).collect();
    path.windows(2).find_map(|pair| crossing(pair[0], pair[1], FALL))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_that_does_not_fall_does_not_count_and_one_that_stretches_is_found_out() {
        let n = 4_usize;
        let task = Task { scene: "hang".into(), grid: n as u32, frames: 2, seconds: 1.0 };
        let start: Vec<DVec3> =
            (0..n * n).map(|i| DVec3::new((i % n) as f64 / 3.0, 0.0, (i / n) as f64 / 3.0)).collect();
        let film = |last: Vec<DVec3>| Film {
            frames: vec![start.clone(), start.clone(), last],
            triangles: vec![[0, 4, 5], [0, 5, 1]],
            cpu_ms: vec![1.0, 3.0],
            ..Film::default()
        };
        let still = row(&task, &film(start.clone()));
        assert!(still.max_strain < 1e-12 && still.fall_s.is_none() && !still.counts);
        assert_eq!(still.cpu_ms, 2.0);
        let hanging = start.iter().map(|x| DVec3::new(x.x, -1.05 * x.z, 0.0)).collect();
        let fallen = row(&task, &film(hanging));
        assert!((fallen.max_strain - 0.05).abs() < 1e-9 && fallen.cloth_cloth == 0 && fallen.counts);
        let drape = Task { scene: "drape".into(), ..task };
        let above = |y: f64| start.iter().map(|x| DVec3::new(x.x - 0.5, y, x.z - 0.5)).collect::<Vec<_>>();
        let drop = |to: f64| Film { frames: vec![above(0.35), above(0.35), above(to)], ..film(Vec::new()) };
        assert!(!row(&drape, &drop(0.35)).counts && row(&drape, &drop(0.2)).counts);
    }
}
