//! Swings: the pendulum, the hanging rope, and how the error of a swing falls with the sub-step.

use super::{Experiment, Finding, GRAVITY, Miss, Way, run, scene, simulation, thread_like, usual_ways};
use crate::BenchError;
use crate::measure::crossing;
use std::f64::consts::PI;
use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta_scene::{Cloth, ClothModel, FabricChange, Method, Pin, Scene, Sheet, Side, Strip};

pub(super) const PENDULUM: Experiment = Experiment {
    name: "pendulum",
    about: "One cell of 1 m, held by its upper side, swings by 5 degrees: the mean period of the first four seconds. Reference: 2π √(l/g) (1 + θ²/16), the expansion of the complete elliptic integral.",
    misses: &[],
    curve: None,
    ways: usual_ways,
    find: pendulum,
};

pub(super) const ROPE: Experiment = Experiment {
    name: "hanging-rope",
    about: "A strip of 1 m in 20 cells hangs from its upper side and swings by 2 degrees: the period of its first mode, onto which the motion is projected. Reference: 4π √(l/g) / j, j = 2.404826 the first zero of J₀ (D. Bernoulli 1733; Lamb, Dynamics, 1914).",
    misses: &[],
    curve: None,
    ways: usual_ways,
    find: rope,
};

pub(super) const TORSION: Experiment = Experiment {
    name: "torsion",
    about: "A strip of 0.2 m by 0.04 m is held by one end and swings about its axis without gravity: the mean period of its first mode in the first three seconds. Reference: 4 L √(I / GJ) with the torsional rigidity GJ = 4 D66 b of a thin plate (Saint-Venant) and the moment of inertia I per length of its particles.",
    misses: &[
        Miss {
            of: &["impulse-iterative"],
            why: "it keeps nine tenths of every tension, and with it what its sweeps have left undone: tension where there should be none, which makes the strip stiffer. With half of it kept the period is right to 0.2 %, and in 400 sub-steps a frame to 0.7 % (docs/notes/impulses.md).",
        },
        Miss {
            of: &["projective"],
            why: "it has every spring as stiff across as along in its matrix, so that five iterations turn cells only a part of the way: the period is 1.5 times too long with 50 iterations, right to 1.2 % with 200, and to 2 % in 600 sub-steps a frame.",
        },
    ],
    curve: None,
    ways: usual_ways,
    find: torsion,
};

pub(super) const REFINEMENT_IN_TIME: Experiment = Experiment {
    name: "refinement-in-time",
    about: "A soft strip swings for 0.1 s in n, 2 n and 4 n sub-steps; the order at which the error against 32 n falls. Reference: 1 for backward Euler and the impulse methods, 2 for BDF2; Verlet in its velocity form is of first order in positions where dampers act and of second order without, so 1 to 2.",
    misses: &[Miss {
        of: &["xpbd"],
        why: "n = 64 sub-steps are too few for the errors of bends, which it answers once in each, to fall as those of time do: from n = 256 (--substeps) the orders are 0.88 and 1.01.",
    }],
    curve: None,
    ways: usual_ways,
    find: order,
};

fn torsion(way: Way, _: bool) -> Result<Vec<Finding>, BenchError> {
    let (length, width, segments) = (0.2_f64, 0.04, 20);
    let strip = Strip { length, width, segments };
    let columns = segments as usize + 1;
    let rows = strip.cells_across() as usize + 1;
    let held = (0..rows).map(|row| (row * columns) as u32).collect();
    let twist = 3.9;
    let fabric = FabricChange {
        bending_warp: Some(8.0),
        bending_weft: Some(8.0),
        bending_twist: Some(twist),
        ..thread_like()
    };
    let cloth =
        Cloth { strip: Some(strip), pin: vec![Pin { vertices: held, ..Pin::default() }], ..Cloth::default() };
    let mut scene = scene(way, cloth, fabric);
    scene.gravity = [0.0; 3];
    let simulation = simulation(&scene, &Default::default())?;
    let (model, mut state) = (simulation.model().clone(), simulation.state().clone());
    let inertia: f64 = model.mass.iter().zip(&state.positions).map(|(m, x)| m * x.z * x.z).sum::<f64>();
    let want = 4.0 * length * (inertia / length / (4e-6 * twist * width)).sqrt();
    // A push that turns its end by a fiftieth: edges that are turned far are stretched.
    let speed = 0.02 * 2.0 * PI / want;
    for (x, v) in state.positions.iter().zip(&mut state.velocities) {
        let along = libm::sin(0.5 * PI * (x.x / length + 0.5));
        v.y = speed * along * x.z;
    }
    let mut simulation = Simulation::new(model, state);
    let turned = |x: &[DVec3]| x[columns - 1].y - x[rows * columns - 1].y;
    let found = period(&mut simulation, 3.0 * want, turned)?;
    Ok(vec![Finding::near("period".into(), "s", want, found, 0.05)])
}

/// A sheet that hangs from its upper side, turned out of the vertical by `degrees`.
fn tilted(way: Way, sheet: Sheet, degrees: f64) -> Scene {
    let pin = Pin { sides: vec![Side::Upper], ..Pin::default() };
    let cloth = Cloth {
        sheet: Some(sheet),
        rotation: [90.0 + degrees, 0.0, 0.0],
        pin: vec![pin],
        ..Cloth::default()
    };
    scene(way, cloth, thread_like())
}

/// The mean time between passages of a quantity upwards through 0, over so many seconds.
fn period(
    simulation: &mut Simulation,
    seconds: f64,
    of: impl Fn(&[DVec3]) -> f64,
) -> Result<f64, BenchError> {
    let mut before = (0.0, of(&simulation.state().positions));
    let mut passages = Vec::new();
    while simulation.state().time < seconds {
        run(simulation, simulation.model().step_time)?;
        let now = (simulation.state().time, of(&simulation.state().positions));
        passages.extend(crossing(before, now, 0.0));
        before = now;
    }
    let (first, last) = (passages.first().copied(), passages.last().copied());
    let spans = passages.len().saturating_sub(1) as f64;
    Ok(first.zip(last).map_or(f64::NAN, |(first, last)| (last - first) / spans))
}

fn pendulum(way: Way, _: bool) -> Result<Vec<Finding>, BenchError> {
    let sheet = Sheet { width: 0.5, height: 1.0, columns: 2, rows: 2, slack: 1.0 };
    let degrees = 5.0_f64;
    let mut simulation = simulation(&tilted(way, sheet, degrees), &Default::default())?;
    // The lower left particle and the pin above it.
    let found = period(&mut simulation, 5.0, |x| x[0].z - x[2].z)?;
    let want = 2.0 * PI * (1.0 / GRAVITY).sqrt() * (1.0 + degrees.to_radians().powi(2) / 16.0);
    Ok(vec![Finding::near("period".into(), "s", want, found, 0.01)])
}

fn rope(way: Way, _: bool) -> Result<Vec<Finding>, BenchError> {
    const ZERO: f64 = 2.404_825_557_695_773;
    let (columns, rows) = (3, 21);
    let sheet = Sheet { width: 0.1, height: 1.0, columns, rows, slack: 1.0 };
    let mut simulation = simulation(&tilted(way, sheet, 2.0), &Default::default())?;
    let columns = columns as usize;
    let shape: Vec<f64> = (0..simulation.model().particle_count())
        .map(|i| (i / columns) as f64 / f64::from(rows - 1))
        .zip(&simulation.model().mass)
        .map(|(from_below, mass)| mass * libm::j0(ZERO * from_below.sqrt()))
        .collect();
    let axis = simulation.state().positions.last().map_or(0.0, |x| x.z);
    let found =
        period(&mut simulation, 5.5, |x| x.iter().zip(&shape).map(|(x, shape)| shape * (x.z - axis)).sum())?;
    let want = 4.0 * PI / ZERO * (1.0 / GRAVITY).sqrt();
    Ok(vec![Finding::near("period of the first mode".into(), "s", want, found, 0.01)])
}

fn order(way: Way, _: bool) -> Result<Vec<Finding>, BenchError> {
    // A step of Verlet must stay below its limit; that of the others may be anything.
    let fewest = way.substeps.unwrap_or(64);
    let at = |factor: u32| end_of_swing(way, fewest * factor);
    let exact = at(32)?;
    let error = |factor: u32| -> Result<f64, BenchError> {
        let distances = at(factor)?.into_iter().zip(&exact).map(|(a, b)| a.distance(*b)).collect::<Vec<_>>();
        Ok(distances.into_iter().fold(0.0, f64::max))
    };
    let (coarse, middle, fine) = (error(1)?, error(2)?, error(4)?);
    let expected = match way.method {
        Method::Bdf2 | Method::Bdf2Secant => [2.0, 2.0],
        Method::Verlet => [1.0, 2.0],
        _ => [1.0, 1.0],
    };
    let pair =
        |case: &str, a: f64, b: f64| Finding::between(case.into(), "", expected, libm::log2(a / b), 0.25);
    Ok(vec![pair("order from n to 2 n", coarse, middle), pair("order from 2 n to 4 n", middle, fine)])
}

fn end_of_swing(way: Way, substeps: u32) -> Result<Vec<DVec3>, BenchError> {
    let fabric = FabricChange {
        warp: Some(40.0),
        weft: Some(40.0),
        bias: Some(20.0),
        bending_warp: Some(100.0),
        bending_weft: Some(100.0),
        ..thread_like()
    };
    let cloth = Cloth {
        strip: Some(Strip { length: 0.5, width: 0.1, segments: 5 }),
        rotation: [0.0, 0.0, -60.0],
        pin: vec![Pin { sides: vec![Side::Left], ..Pin::default() }],
        ..Cloth::default()
    };
    let mut scene = scene(way, cloth, fabric);
    scene.frame_time = 0.1;
    scene.solver.substeps = Some(substeps);
    scene.solver.newton = if way.keeps_lengths() || way.model == ClothModel::Springs { 30 } else { 40 };
    // What the last sweeps of the impulse methods put right must not hide what the sub-steps do.
    scene.solver.tolerance = if way.keeps_lengths() { 1e-6 } else { 1.0 };
    let mut simulation = simulation(&scene, &Default::default())?;
    run(&mut simulation, 0.1)?;
    Ok(simulation.state().positions.clone())
}
