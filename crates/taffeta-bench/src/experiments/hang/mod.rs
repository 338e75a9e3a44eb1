//! The hanging sheet of the papers: two neighbouring corners pinned, let go level, a few particles kicked.

mod papers;

use super::{Common, parse_method};
use crate::measure::{FrameSteps, Milliseconds, build, crossing, go_back, machine, warm_up};
use crate::table::Table;
use crate::tell::tell;
use crate::{BenchError, figures, percent};
use papers::{CELLS, Cell};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta::step::StepError;
use taffeta_scene::build::bias_stiffness;
use taffeta_scene::{Air, Cloth, Contact, Corner, FabricChange, Kick, Method, Pin, Scene, Sheet, Solver};

/// Time from frame to frame [s].
const FRAME_TIME: f64 = 1.0 / 30.0;
/// Mass per area [g/m²], shear stiffness [N/m] and bending rigidity [µN·m] of the sheet.
const DENSITY: f64 = 200.0;
const SHEAR: f64 = 30.0;
const BENDING: f64 = 10.0;
/// The largest stiffness that a fabric may have [N/m].
const STIFFEST: f64 = 1e8;
/// Acceleration of gravity [m/s²], as in a scene that does not say otherwise.
const GRAVITY: f64 = 9.81;
/// When a sheet of 1 m swings back and forth for the first time, and later [s]; larger ones are slower by the root of their size.
const SWINGS: [[f64; 2]; 2] = [[1.0, 2.5], [2.5, 5.0]];
/// Share of the size that the far edge has to fall for the fall time.
const FALL: f64 = 0.8;

/// A square sheet, level at the start, swings down from two neighbouring pinned corners.
///
/// N x N particles, frames of 1/30 s, 0.2 kg/m², shear 30 N/m, bending 10 µN·m, velocities damped by 0.5 1/s, no other air. 5 % of
/// the particles are kicked up or down by up to a tenth of an edge in a frame.
///
/// The stretch stiffness of warp and weft follows from the tolerance: p x weight / (tolerance x edge), in N/m, where p is the larger of
/// 5 and 0.7 / sqrt(tolerance + 1 - slack). A sheet that swings through below the pins pulls with 3 times its weight and shakes; an
/// upper edge that is taut pulls the harder the less it may sag. Half of that is on each pin, and there on an edge of the
/// border, which has half the stiffness of one inside. Measured, the strain then stays within tolerances down to 1 %, and within
/// 0.1 % but for a taut upper edge, which misses it by a tenth. Methods that hold the tolerance by constraints do not use it.
///
/// A row has the median and least wall time of a frame, stepping alone, after one step to warm up; iterations and sub-steps are
/// means over the frames, strains the largest over the ends of all frames. The last energies are the largest kinetic energies per mass from 1 to 2.5 s and
/// from 2.5 to 5 s. Which folds a sheet falls into goes with its kicks, and the later of these energies with the folds: several starts tell by how much.
#[derive(clap::Args)]
pub struct Args {
    /// Particles along a side.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(2..=2000))]
    grid: Vec<u32>,
    /// Largest strain that is good (0.01 is 1 %).
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0.01")]
    tolerance: Vec<f64>,
    /// Methods by name; all, if left out.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_method)]
    method: Vec<Method>,
    /// The grids, tolerances and methods of P1 and P2, with edges of 1 m and what was published, instead of those above.
    #[arg(long, conflicts_with_all = ["grid", "tolerance", "method", "size", "max_iterations"])]
    papers: bool,
    /// Length of a side [m].
    #[arg(long, value_name = "METRES", default_value_t = 1.0)]
    size: f64,
    /// Distance of the pins over the size: below 1 the sheet sags between them.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0.95")]
    slack: Vec<f64>,
    /// Frames to simulate [default: 150, quick 30].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    frames: Option<u32>,
    /// Sub-steps in a frame; as many as the method takes, if left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    substeps: Option<u32>,
    /// Iterations in a frame at most, for methods that iterate.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_iterations: Option<u32>,
    /// What computes: cpu, cuda or cuda:N.
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// How often every run is repeated; times are then over all of them.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Starts that differ by their kicks: swings are means over them, with the standard errors of these; all else is over all of them.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    starts: u32,
    #[command(flatten)]
    pub(super) common: Common,
}

/// One line of the table.
#[derive(Serialize)]
struct Row {
    method: &'static str,
    /// What computed, if not the CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<String>,
    grid: u32,
    tolerance: f64,
    threads: usize,
    size_m: f64,
    slack: f64,
    frames: u32,
    starts: u32,
    /// Iterations in a frame at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_iterations: Option<u32>,
    /// Stretch stiffness of warp and weft [N/m].
    stiffness: f64,
    ms_per_frame: Milliseconds,
    realtime_factor: f64,
    iterations: f64,
    substeps: f64,
    max_strain: f64,
    mean_strain: f64,
    fall_time_s: Option<f64>,
    /// Largest kinetic energy per mass in the times of [`SWINGS`], the mean over all starts [J/kg].
    swing_j_kg: [f64; 2],
    /// Standard errors of these means [J/kg].
    #[serde(skip_serializing_if = "Option::is_none")]
    swing_error_j_kg: Option<[f64; 2]>,
    /// In all starts together.
    converged_frames: usize,
    /// Real-time factor that a paper gives.
    #[serde(skip_serializing_if = "str::is_empty")]
    published: &'static str,
}

/// One point of the experiment.
#[derive(Clone)]
struct Case {
    method: Method,
    grid: u32,
    tolerance: f64,
    slack: f64,
    size: f64,
    frames: u32,
    repeat: u32,
    starts: u32,
    substeps: Option<u32>,
    max_iterations: Option<u32>,
    /// What computes, if not the CPU.
    device: Option<String>,
    /// What a paper says of it.
    published: &'static str,
}

/// What was seen on the way, over all starts.
#[derive(Default)]
struct Course {
    steps: Vec<FrameSteps>,
    max_strain: f64,
    mean_strain: f64,
    fall_time: Option<f64>,
    /// Per start, as [`Row::swing_j_kg`].
    swings: Vec<[f64; 2]>,
}

/// Measures all combinations of what was asked for.
pub fn measure(args: &Args) -> Result<Table, BenchError> {
    let mut table = Table::default();
    tell(line(&HEADINGS.map(String::from)))?;
    for threads in args.common.threads() {
        let pool = machine::pool(Some(threads))?;
        for case in cases(args) {
            let row = pool.install(|| case.measure(threads))?;
            table.take(&case.to_string(), row, |row| line(&row.words()))?;
        }
    }
    Ok(table)
}

fn cases(args: &Args) -> Vec<Case> {
    let quick = args.common.quick;
    let usual: &[u32] = if quick { &[10, 20] } else { &[10, 20, 30, 40, 50] };
    let grids = if args.grid.is_empty() { usual } else { &args.grid };
    let methods = if args.method.is_empty() { Method::ALL } else { &args.method };
    let frames = args.frames.unwrap_or(if quick { 30 } else { 150 });
    let &Args { size, repeat, starts, substeps, max_iterations, .. } = args;
    let case = |method, grid, tolerance, slack| Case {
        method,
        grid,
        tolerance,
        slack,
        size,
        frames,
        repeat,
        starts,
        substeps,
        max_iterations,
        device: args.device.clone(),
        published: "",
    };
    let mut cases = Vec::new();
    if args.papers {
        for &slack in &args.slack {
            cases.extend(CELLS.iter().map(|&Cell { method, grid, tolerance, max_iterations, published }| {
                let size = f64::from(grid - 1);
                Case { size, max_iterations, published, ..case(method, grid, tolerance, slack) }
            }));
        }
        return cases;
    }
    for &method in methods {
        for &slack in &args.slack {
            for &tolerance in &args.tolerance {
                cases.extend(grids.iter().map(|&grid| case(method, grid, tolerance, slack)));
            }
        }
    }
    cases
}

/// The sheet by strips, of 1 m, as it hangs on a device.
pub(super) fn scene(grid: u32, tolerance: f64, slack: f64, frames: u32, device: &str) -> Scene {
    let case = Case {
        method: Method::ImpulseStrips,
        grid,
        tolerance,
        slack,
        size: 1.0,
        frames,
        repeat: 1,
        starts: 1,
        substeps: None,
        max_iterations: None,
        device: Some(device.into()),
        published: "",
    };
    case.scene()
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { grid, tolerance, slack, .. } = self;
        write!(f, "{} {grid} x {grid}, tolerance {tolerance}, slack {slack}", self.method.name())
    }
}

impl Case {
    /// Length of an edge at rest [m].
    fn edge(&self) -> f64 {
        self.size / f64::from(self.grid - 1)
    }

    /// Stretch stiffness at which the strain at the pins stays within the tolerance [N/m].
    fn stiffness(&self) -> f64 {
        let weight = 1e-3 * DENSITY * self.size * self.size * GRAVITY;
        // A rope that is longer than its span by the share e sags by sqrt(3 e / 8) of it, and pulls by the inverse of that.
        let taut = 0.7 / (self.tolerance + 1.0 - self.slack).sqrt();
        (taut.max(5.0) * weight / (self.tolerance * self.edge())).min(STIFFEST)
    }

    fn scene(&self) -> Scene {
        let stretch = self.stiffness();
        let fabric = FabricChange {
            base: Some("cotton".into()),
            density: Some(DENSITY),
            warp: Some(stretch),
            weft: Some(stretch),
            bias: Some(bias_stiffness(stretch, stretch, SHEAR)),
            bending_warp: Some(BENDING),
            bending_weft: Some(BENDING),
            ..FabricChange::default()
        };
        let sheet = Sheet {
            width: self.size,
            height: self.size,
            columns: self.grid,
            rows: self.grid,
            slack: self.slack,
        };
        let pin = Pin { corners: vec![Corner::UpperLeft, Corner::UpperRight], ..Pin::default() };
        let cloth = Cloth {
            fabric: "bench".into(),
            sheet: Some(sheet),
            kick: Some(Kick { share: 0.05, speed: 0.1 * self.edge() / FRAME_TIME }),
            pin: vec![pin],
            ..Cloth::default()
        };
        Scene {
            frames: self.frames,
            frame_time: FRAME_TIME,
            gravity: [0.0, -GRAVITY, 0.0],
            solver: Solver {
                method: self.method,
                tolerance: self.tolerance,
                substeps: self.substeps,
                max_iterations: self.max_iterations,
                device: self.device.clone(),
                ..Solver::default()
            },
            air: Air { density: 0.0, damping: 0.5, ..Air::default() },
            contact: Contact { cloth_cloth: false },
            fabrics: BTreeMap::from([("bench".into(), fabric)]),
            cloth: vec![cloth],
            ..Scene::default()
        }
    }

    /// Runs the case; numbers that make no scene are the user's, a step that fails is the row's.
    fn measure(&self, threads: usize) -> Result<Result<Row, StepError>, BenchError> {
        let mut course = Course::default();
        for start in 0..self.starts {
            let mut scene = self.scene();
            scene.seed += u64::from(start);
            let mut simulation = build("hang", &scene, &BTreeMap::new())?;
            if let Err(fault) = self.go_through(&mut simulation, &mut course) {
                return Ok(Err(fault));
            }
        }
        Ok(Ok(self.row(&course, threads)))
    }

    fn go_through(&self, simulation: &mut Simulation, course: &mut Course) -> Result<(), StepError> {
        let (start, level) = (simulation.state().to_bytes(), self.depth(&simulation.state().positions));
        let mut swing = [0.0; 2];
        warm_up(simulation)?;
        for _ in 0..self.repeat {
            go_back(simulation, &start);
            let mut before = (0.0, level);
            for _ in 0..self.frames {
                course.steps.push(FrameSteps::take(simulation)?);
                let certificate = simulation.certificate();
                course.max_strain = certificate.max_strain.max(course.max_strain);
                course.mean_strain = certificate.mean_strain.max(course.mean_strain);
                let now = (simulation.state().time, self.depth(&simulation.state().positions));
                course.fall_time = course.fall_time.or(crossing(before, now, FALL * self.size));
                before = now;
                self.take_swing(simulation, &mut swing);
            }
        }
        course.swings.push(swing);
        Ok(())
    }

    fn row(&self, course: &Course, threads: usize) -> Row {
        let steps = &course.steps;
        let count = steps.len() as f64;
        let wall: f64 = steps.iter().map(|frame| frame.wall.as_secs_f64()).sum();
        let swings = [0, 1].map(|k| mean_and_error(course.swings.iter().map(|swing| swing[k])));
        Row {
            method: self.method.name(),
            device: self.device.clone(),
            grid: self.grid,
            tolerance: self.tolerance,
            threads,
            size_m: self.size,
            slack: self.slack,
            frames: self.frames,
            starts: self.starts,
            max_iterations: self.max_iterations,
            stiffness: self.stiffness(),
            ms_per_frame: Milliseconds::of(steps),
            realtime_factor: count * FRAME_TIME / wall,
            iterations: steps.iter().map(|frame| f64::from(frame.report.iterations)).sum::<f64>() / count,
            substeps: steps.iter().map(|frame| f64::from(frame.report.substeps)).sum::<f64>() / count,
            max_strain: course.max_strain,
            mean_strain: course.mean_strain,
            fall_time_s: course.fall_time,
            swing_j_kg: swings.map(|(mean, _)| mean),
            swing_error_j_kg: (self.starts > 1).then(|| swings.map(|(_, error)| error)),
            converged_frames: steps.iter().filter(|frame| frame.report.converged).count()
                / self.repeat as usize,
            published: self.published,
        }
    }

    /// Notes the kinetic energy per mass [J/kg] of a moment of the swings.
    fn take_swing(&self, simulation: &Simulation, swing: &mut [f64; 2]) {
        let (model, state) = (simulation.model(), simulation.state());
        let time = state.time / self.size.sqrt();
        let energy = model.mass.iter().zip(&state.velocities).map(|(m, v)| 0.5 * m * v.length_squared());
        let now = energy.sum::<f64>() / model.mass.iter().sum::<f64>();
        for (most, [from, to]) in swing.iter_mut().zip(SWINGS) {
            if (from..=to).contains(&time) {
                *most = now.max(*most);
            }
        }
    }

    /// How far the middle of the far edge hangs below the pins [m]; the pins are at height 0.
    fn depth(&self, positions: &[DVec3]) -> f64 {
        let n = self.grid as usize;
        // The far edge is the first row; of an even number of particles two are in the middle.
        -0.5 * (positions[(n - 1) / 2].y + positions[n / 2].y)
    }
}

/// The mean of some numbers, and its standard error; 0 of one number.
fn mean_and_error(numbers: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = numbers.clone().count() as f64;
    let mean = numbers.clone().sum::<f64>() / count;
    let squares: f64 = numbers.map(|number| (number - mean).powi(2)).sum();
    (mean, (squares / (count * (count - 1.0).max(1.0))).sqrt())
}

const HEADINGS: [&str; 19] = [
    "method",
    "grid",
    "tolerance",
    "slack",
    "threads",
    "kN/m",
    "ms/frame",
    "least",
    "cpu",
    "x real",
    "iterations",
    "substeps",
    "max strain",
    "mean strain",
    "fall s",
    "swing J/kg",
    "later J/kg",
    "converged",
    "published",
];

impl Row {
    /// What stands in the table, under [`HEADINGS`].
    fn words(&self) -> [String; 19] {
        let ms = |ms: f64| format!("{ms:.3}");
        let swing = |k: usize| match self.swing_error_j_kg {
            Some(error) => format!("{:.3}±{:.3}", self.swing_j_kg[k], error[k]),
            None => format!("{:.3}", self.swing_j_kg[k]),
        };
        [
            self.method.into(),
            self.grid.to_string(),
            percent(self.tolerance),
            self.slack.to_string(),
            self.threads.to_string(),
            figures(1e-3 * self.stiffness),
            ms(self.ms_per_frame.median),
            ms(self.ms_per_frame.min),
            self.ms_per_frame.cpu.map_or("-".into(), ms),
            figures(self.realtime_factor),
            figures(self.iterations),
            figures(self.substeps),
            percent(self.max_strain),
            percent(self.mean_strain),
            self.fall_time_s.map_or("-".into(), |time| format!("{time:.3}")),
            swing(0),
            swing(1),
            format!("{}/{}", self.converged_frames, self.frames * self.starts),
            self.published.into(),
        ]
    }
}

/// A line of the table: the method to the left, numbers to the right.
fn line(words: &[String; 19]) -> String {
    let numbers = words[1..].iter().zip(&HEADINGS[1..]);
    let numbers = numbers.map(|(word, heading)| format!("{word:>width$}", width = heading.len().max(9)));
    format!("{:18}{}", words[0], numbers.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_of_starts_come_with_their_standard_errors() {
        assert_eq!(mean_and_error([0.5].into_iter()), (0.5, 0.0));
        let (mean, error) = mean_and_error([1.0, 2.0, 3.0, 6.0].into_iter());
        assert_eq!(mean, 3.0);
        // A spread of √(14 / 3) over four.
        assert!((error - (14.0_f64 / 12.0).sqrt()).abs() < 1e-15, "{error}");
    }

    #[test]
    fn the_sheet_hangs_by_its_upper_corners_and_is_measured_at_its_lower_edge() {
        let case = Case {
            method: Method::Verlet,
            grid: 7,
            tolerance: 0.1,
            slack: 0.9,
            size: 1.0,
            frames: 1,
            repeat: 1,
            starts: 1,
            substeps: None,
            max_iterations: None,
            device: None,
            published: "",
        };
        let simulation =
            taffeta_scene::simulation(&case.scene(), &BTreeMap::new()).expect("the scene has no faults");
        let mut pinned: Vec<u32> =
            simulation.model().pins.iter().flat_map(|pin| pin.particles.clone()).collect();
        pinned.sort_unstable();
        assert_eq!(pinned, [42, 48]);
        let x = &simulation.state().positions;
        assert!(x[3].distance(x[45]) > 0.99, "the far edge is as far from the pins as the sheet is long");
        assert!((case.depth(x) + x[3].y).abs() < 1e-12);
        assert!((x[42].distance(x[48]) - 0.9).abs() < 1e-6);
    }
}
