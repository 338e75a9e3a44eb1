//! What the tuned numbers do: every parameter of a method at half and at twice its value.

use super::{Common, parse_method};
use crate::measure::FrameSteps;
use crate::table::Table;
use crate::{BenchError, figures, percent};
use serde::Serialize;
use taffeta::Simulation;
use taffeta::model::{Model, Params};
use taffeta_io::scene_file::{self, SceneSource};
use taffeta_scene::Method;

/// Every tuned number of a method, and those of contact, at half and at twice its value: what a scene then costs and how well it keeps its promises.
///
/// Costs are counts, which no other work on the machine changes. Energies tell whether the cloth comes down alike.
#[derive(clap::Args)]
pub struct Args {
    /// The method.
    #[arg(long, value_name = "METHOD", value_parser = parse_method, default_value = "impulse-strips")]
    method: Method,
    /// Built-in scenes or files.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "hang,drape")]
    scene: Vec<String>,
    /// Particles along a side of the first cloth [default: 30, quick 8].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000))]
    grid: Option<u32>,
    /// Frames [default: 45, quick 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    frames: Option<u32>,
    /// Only parameters whose name contains this.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    #[command(flatten)]
    pub(super) common: Common,
}

/// One line of the table.
#[derive(Serialize)]
struct Row {
    scene: String,
    parameter: String,
    factor: f64,
    /// A frame, on average.
    substeps: f64,
    iterations: f64,
    max_strain: f64,
    missed_frames: u32,
    intersections: usize,
    /// Of motion and height at the end, less that of the start [J].
    energy: f64,
    /// Why it could not go on, if so.
    failed: Option<String>,
}

/// Measures all of them.
pub fn measure(args: &Args) -> Result<Table, BenchError> {
    let quick = args.common.quick;
    let grid = args.grid.unwrap_or(if quick { 8 } else { 30 });
    let frames = args.frames.unwrap_or(if quick { 3 } else { 45 });
    let mut table = Table::default();
    for scene in &args.scene {
        let sides = ["columns", "rows"].map(|side| format!("cloth[0].sheet.{side}={grid}"));
        let sets = [vec![format!("solver.method={}", args.method.name())], sides.to_vec()].concat();
        let loaded = scene_file::load(&SceneSource::find(scene)?, &sets)?;
        let built = taffeta_scene::build(&loaded.scene, &loaded.meshes);
        let (model, state) = built.map_err(|faults| loaded.refuse(faults))?;
        let mut tried = |group: &str, name: &str, factor: f64| {
            let mut model = Model::clone(&model);
            model.params.scale(group, name, factor);
            let row = go_through(Simulation::new(model, state.clone()), frames);
            let parameter = if name.is_empty() { "none".into() } else { format!("{group}.{name}") };
            table.take(&parameter.clone(), Ok(Row { scene: scene.clone(), parameter, factor, ..row }), words)
        };
        tried("", "", 1.0)?;
        let own = |group: &str| group == "collision" || group == family(args.method);
        for (group, names) in Params::GROUPS.iter().filter(|(group, _)| own(group)) {
            for name in names.iter().filter(|name| name.contains(&args.only)) {
                for factor in [0.5, 2.0] {
                    tried(group, name, factor)?;
                }
            }
        }
    }
    Ok(table)
}

/// The group of parameters of a method.
fn family(method: Method) -> &'static str {
    match method {
        Method::BackwardEuler | Method::Bdf2 => "implicit",
        Method::ImpulseIterative | Method::ImpulseStrips | Method::ImpulseDirect => "impulse",
        Method::Verlet | Method::Bdf2Secant => "verlet",
        Method::Xpbd => "xpbd",
        Method::Vbd => "vbd",
        Method::Barrier => "barrier",
        Method::Projective => "projective",
    }
}

fn go_through(mut simulation: Simulation, frames: u32) -> Row {
    let start = simulation.energy();
    let (mut substeps, mut iterations, mut taken) = (0.0, 0.0, 0.0_f64);
    let (mut max_strain, mut missed_frames, mut intersections, mut failed) = (0.0_f64, 0, 0, None);
    for _ in 0..frames {
        let report = match FrameSteps::take(&mut simulation) {
            Ok(steps) => steps.report,
            Err(error) => {
                failed = Some(error.to_string());
                break;
            }
        };
        taken += 1.0;
        substeps += f64::from(report.substeps);
        iterations += f64::from(report.iterations);
        let certificate = simulation.certificate();
        max_strain = max_strain.max(certificate.max_strain);
        missed_frames += u32::from(!report.converged);
        intersections = intersections.max(certificate.cloth_cloth + certificate.cloth_body);
    }
    let end = simulation.energy();
    Row {
        scene: String::new(),
        parameter: String::new(),
        factor: 1.0,
        substeps: substeps / taken.max(1.0),
        iterations: iterations / taken.max(1.0),
        max_strain,
        missed_frames,
        intersections,
        energy: end.kinetic + end.gravity - start.kinetic - start.gravity,
        failed,
    }
}

fn words(row: &Row) -> String {
    let Row { scene, parameter, factor, missed_frames, intersections, .. } = row;
    let failed = row.failed.as_ref().map_or(String::new(), |why| format!("; {why}"));
    format!(
        "{scene} {parameter:38} x {factor:3}: {:>6} sub-steps, {:>6} iterations, strain {:>7}, {missed_frames} missed, {intersections} intersections, {:>9} J{failed}",
        figures(row.substeps),
        figures(row.iterations),
        percent(row.max_strain),
        figures(row.energy),
    )
}

#[cfg(test)]
mod tests {
    use taffeta::model::Params;

    #[test]
    fn every_parameter_can_be_scaled_and_no_two_share_a_name_in_their_group() {
        for (group, names) in Params::GROUPS {
            for (k, name) in names.iter().enumerate() {
                let mut params = Params::default();
                assert!(params.scale(group, name, 3.0) && params != Params::default(), "{group}.{name}");
                assert!(!names[..k].contains(name), "{group}.{name}");
            }
            assert!(!Params::default().scale(group, "nothing", 2.0));
        }
    }
}
