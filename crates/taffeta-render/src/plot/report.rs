//! The reports of runs as plots: strain, energies, work and time over simulated time.

use super::draw;
use super::{Level, Line, Plot, Stroke};
use serde_json::Value;

/// An axis is logarithmic where its numbers differ by more than this factor.
const MANY: f64 = 40.0;
/// More stages than this are too many to tell apart.
const MOST_STAGES: usize = 7;

/// Plots of one or more runs, each a name and the JSON object that `taffeta run --report` writes. What a report lacks
/// is left out.
pub fn report_svg(reports: &[(String, Value)]) -> String {
    let runs: Vec<Run> = reports.iter().map(|(name, report)| Run::new(name, report)).collect();
    // Energies swing through 0, which has no logarithm.
    let plots = [
        spread(strain(&runs)),
        energy(&runs),
        spread(work(&runs)),
        spread(time(&runs)),
        spread(contact(&runs)),
    ];
    let over_time = |plot: Plot| Plot { x_label: "time [s]".into(), ..plot };
    let drawn = |plot: &Plot| plot.lines.iter().any(|line| !line.points.is_empty());
    let mut plots: Vec<Plot> = plots.into_iter().filter(drawn).map(over_time).collect();
    if plots.is_empty() {
        plots.push(Plot { title: "No frames to plot".into(), ..Plot::default() });
    }
    draw::page(&plots)
}

/// A run: its name and its frames.
struct Run<'a> {
    name: &'a str,
    tolerance: Option<f64>,
    frames: &'a [Value],
}

impl<'a> Run<'a> {
    fn new(name: &'a str, report: &'a Value) -> Self {
        let frames = report["frames"].as_array().map_or(&[][..], Vec::as_slice);
        Self { name, tolerance: report["tolerance"].as_f64(), frames }
    }

    /// Time [s] and a number of every frame that has both; a frame that lacks the number breaks the line.
    fn line(&self, number: impl Fn(&Value) -> Option<f64>) -> Vec<[f64; 2]> {
        let point = |frame: &Value| Some([frame["time_s"].as_f64()?, number(frame).unwrap_or(f64::NAN)]);
        let points: Vec<[f64; 2]> = self.frames.iter().filter_map(point).collect();
        if points.iter().any(|p| p[1].is_finite()) { points } else { Vec::new() }
    }

    /// Names of stages in the order of the first frame that has any.
    fn stages(&self) -> Vec<&'a str> {
        let named = self.frames.iter().find_map(|frame| frame["stage_ms"].as_object());
        named.map_or(Vec::new(), |stages| stages.keys().map(String::as_str).take(MOST_STAGES).collect())
    }

    /// Time from frame to frame [s].
    fn frame_time(&self) -> Option<f64> {
        let time = |i: usize| self.frames.get(i)?["time_s"].as_f64();
        Some(time(1)? - time(0)?).filter(|time| *time > 0.0)
    }
}

/// A kind of number: its name, its stroke where there are several runs, and where a frame has it.
type Kind<'a> = (&'a str, Stroke, &'a dyn Fn(&Value) -> Option<f64>);

/// One line for every run; the kind of number is told by the stroke, and by the name where there is only one run.
fn lines(runs: &[Run], kinds: &[Kind]) -> Vec<Line> {
    let mut lines = Vec::new();
    for (i, run) in runs.iter().enumerate() {
        for (k, (kind, stroke, number)) in kinds.iter().enumerate() {
            let points = run.line(number);
            if points.is_empty() {
                continue;
            }
            let name = match (runs.len(), kinds.len()) {
                (1, _) => (*kind).into(),
                (_, 1) => run.name.into(),
                _ => format!("{}: {kind}", run.name),
            };
            let (colour, stroke) = if runs.len() == 1 { (k, Stroke::Solid) } else { (i, *stroke) };
            lines.push(Line { name, points, colour, stroke });
        }
    }
    lines
}

fn strain(runs: &[Run]) -> Plot {
    let percent = |key: &'static str| move |frame: &Value| frame[key].as_f64().map(|strain| 100.0 * strain);
    let (largest, mean) = (percent("max_strain"), percent("mean_strain"));
    let mut lines = lines(runs, &[("largest", Stroke::Solid, &largest), ("mean", Stroke::Dotted, &mean)]);
    let missed = |frame: &Value| (frame["converged"] == false).then(|| largest(frame)).flatten();
    let points: Vec<[f64; 2]> = runs.iter().flat_map(|run| run.line(missed)).collect();
    if points.iter().any(|p| p[1].is_finite()) {
        lines.push(Line { name: "not converged".into(), points, colour: 7, stroke: Stroke::Marks });
    }
    let mut tolerances: Vec<f64> = runs.iter().filter_map(|run| run.tolerance).collect();
    tolerances.sort_by(f64::total_cmp);
    tolerances.dedup();
    let level =
        |tolerance: f64| Level { name: format!("tolerance {} %", 100.0 * tolerance), y: 100.0 * tolerance };
    Plot {
        title: "Strain of structural edges".into(),
        y_label: "strain [%]".into(),
        lines,
        levels: tolerances.into_iter().map(level).collect(),
        ..Plot::default()
    }
}

fn energy(runs: &[Run]) -> Plot {
    let part = |key: &'static str| move |frame: &Value| frame["energy_j"][key].as_f64();
    let (kinetic, elastic, gravity) = (part("kinetic"), part("elastic"), part("gravity"));
    let total = |frame: &Value| Some(kinetic(frame)? + elastic(frame)? + gravity(frame)?);
    let kinds: [Kind; 4] = [
        ("kinetic", Stroke::Dashed, &kinetic),
        ("elastic", Stroke::Dotted, &elastic),
        ("gravity", Stroke::Dashed, &gravity),
        ("total", Stroke::Solid, &total),
    ];
    // Height is counted from an arbitrary origin: between runs, motion and stretch tell more.
    let kinds = if runs.len() == 1 { &kinds[..] } else { &kinds[..2] };
    let mut plot = Plot {
        title: "Energy".into(),
        y_label: "energy [J]".into(),
        lines: lines(runs, kinds),
        ..Plot::default()
    };
    if runs.len() > 1 {
        plot.title = "Kinetic and elastic energy".into();
    }
    plot
}

fn work(runs: &[Run]) -> Plot {
    let count = |key: &'static str| move |frame: &Value| frame[key].as_f64();
    let (iterations, substeps) = (count("iterations"), count("substeps"));
    let kinds: [Kind; 2] =
        [("iterations", Stroke::Solid, &iterations), ("sub-steps", Stroke::Dotted, &substeps)];
    Plot {
        title: "Work in each frame".into(),
        y_label: "count [1]".into(),
        lines: lines(runs, &kinds),
        ..Plot::default()
    }
}

fn time(runs: &[Run]) -> Plot {
    let wall = |frame: &Value| frame["wall_ms"].as_f64();
    let mut lines = lines(runs, &[("all steps", Stroke::Solid, &wall)]);
    if let [run] = runs {
        for (i, stage) in run.stages().into_iter().enumerate() {
            let points = run.line(|frame| frame["stage_ms"][stage].as_f64());
            lines.push(Line { name: stage.into(), points, colour: i + 1, stroke: Stroke::Solid });
        }
    }
    let mut frame_times: Vec<f64> = runs.iter().filter_map(Run::frame_time).map(|time| 1e3 * time).collect();
    frame_times.sort_by(f64::total_cmp);
    frame_times.dedup_by(|a, b| (*a - *b).abs() < 1e-6 * *b);
    let level = |time: f64| Level { name: format!("real time {time:.1} ms"), y: time };
    Plot {
        title: "Time spent on each frame".into(),
        y_label: "wall time [ms]".into(),
        lines,
        levels: frame_times.into_iter().map(level).collect(),
        ..Plot::default()
    }
}

fn contact(runs: &[Run]) -> Plot {
    let count = |key: &'static str| move |frame: &Value| frame[key].as_f64();
    let (contacts, intersections) = (count("contacts"), count("intersections"));
    let kinds: [Kind; 2] =
        [("contacts", Stroke::Solid, &contacts), ("intersections", Stroke::Dotted, &intersections)];
    let mut lines = lines(runs, &kinds);
    // A scene in which nothing touches needs no plot of it.
    if lines.iter().flat_map(|line| &line.points).all(|p| p[1] == 0.0) {
        lines.clear();
    }
    Plot { title: "Contact".into(), y_label: "count [1]".into(), lines, ..Plot::default() }
}

/// With a logarithmic axis where numbers differ much and none is negative.
fn spread(mut plot: Plot) -> Plot {
    let numbers = plot.lines.iter().flat_map(|line| &line.points).map(|p| p[1]);
    let numbers = numbers.chain(plot.levels.iter().map(|level| level.y)).filter(|y| y.is_finite());
    let above = numbers.clone().filter(|y| *y > 0.0);
    let [low, high] = above.fold([f64::INFINITY, 0.0], |[low, high], y| [low.min(y), y.max(high)]);
    plot.log_y = high > MANY * low && numbers.clone().all(|y| y >= 0.0);
    plot
}
