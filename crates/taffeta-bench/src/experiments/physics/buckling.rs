//! Lateral buckling: a strip that stands on edge and is clamped at one end falls to its side when it is heavy enough.

use super::{Experiment, Finding, GRAVITY, Miss, Way, run, scene, simulation, thread_like, usual_ways};
use crate::BenchError;
use taffeta_scene::{Cloth, ClothModel, FabricChange, Pin, Strip};

pub(super) const LATERAL: Experiment = Experiment {
    name: "lateral-buckling",
    about: "A strip of 0.2 m by 0.02 m stands on edge, clamped at one end, and gets a push of 10 mm/s to its side: the γ = ρ g L³ / B from which on it lies to its side after ten seconds, when the swing of the push is long over, by bisection. Reference: 12.85 √(EI GJ) / L² = weight (Timoshenko and Gere, Theory of Elastic Stability, 6.3), with GJ = 2 EI of a thin plate without Poisson's effect. Its clamp keeps the end from warping, so that twist begins at √(C₁ / GJ) = b / √24 from it and L is that much shorter (the book's rule for a load at the end, with weight L³). It bends under its weight before it buckles, and is the stiffer for it: γ is larger by 1 / √((1 - EI / EI') (1 - GJ / EI')) with the rigidity EI' = Y b³ / 12 on edge (D. H. Hodges, D. A. Peters, Int. J. Solids Struct. 11, 1975), but for methods that keep lengths. It is the Lateral Buckling test of V. Romero et al. 2021.",
    misses: &[Miss {
        of: &["impulse-iterative"],
        why: "it keeps nine tenths of every tension, and with it what its sweeps have left undone, which stiffens the strip (torsion): γ is 6.9 % off in 200 sub-steps a frame and 5.6 % in 400, where the usual ones leave 15 %.",
    }],
    curve: None,
    ways: usual_ways,
    find: lateral,
};

/// Of the strip [m], and its tensile stiffness [N/m].
const LENGTH: f64 = 0.2;
const WIDTH: f64 = 0.02;
const STIFFNESS: f64 = 2000.0;

/// The γ at which it buckles.
fn critical(way: Way) -> f64 {
    let free = 1.0 - WIDTH / (LENGTH * f64::sqrt(24.0));
    let beam = 12.85 * std::f64::consts::SQRT_2 / free.powi(3);
    if way.keeps_lengths() {
        return beam;
    }
    let share = WIDTH * rigidity(beam) / (STIFFNESS * WIDTH.powi(3) / 12.0);
    beam / f64::sqrt((1.0 - share) * (1.0 - 2.0 * share))
}

/// B for a γ [N·m].
fn rigidity(gamma: f64) -> f64 {
    0.2 * GRAVITY * LENGTH.powi(3) / gamma
}

fn lateral(way: Way, quick: bool) -> Result<Vec<Finding>, BenchError> {
    let (mut stands, mut falls) = (8.0, 40.0);
    for _ in 0..if quick { 4 } else { 7 } {
        let gamma = f64::sqrt(stands * falls);
        *if falls_over(way, gamma, if quick { 10 } else { 30 })? { &mut falls } else { &mut stands } = gamma;
    }
    let want = critical(way);
    let allowed = if quick { 0.2 } else { 0.05 };
    Ok(vec![Finding::near("critical γ".into(), "", want, f64::sqrt(stands * falls), allowed)])
}

fn falls_over(way: Way, gamma: f64, cells: u32) -> Result<bool, BenchError> {
    let (length, width, rigidity) = (LENGTH, WIDTH, 1e6 * rigidity(gamma));
    // Clamped over one cell; the bend of springs there stands for half a cell on either side of the clamp.
    let beyond = if way.model == ClothModel::Triangles { 0.0 } else { 0.5 };
    let segments = cells + 1;
    let whole = length * f64::from(segments) / (f64::from(cells) + beyond);
    let fabric = FabricChange {
        warp: Some(STIFFNESS),
        weft: Some(STIFFNESS),
        bias: Some(STIFFNESS),
        bending_warp: Some(rigidity),
        bending_weft: Some(rigidity),
        bending_twist: Some(0.5 * rigidity),
        ..thread_like()
    };
    let strip = Strip { length: whole, width, segments };
    let (columns, rows) = (segments + 1, strip.cells_across() as u32 + 1);
    let clamped = (0..rows).flat_map(|row| [row * columns, row * columns + 1]).collect();
    let cloth = Cloth {
        strip: Some(strip),
        // The weft up.
        rotation: [90.0, 0.0, 0.0],
        velocity: [0.0, 0.0, 1e-2],
        pin: vec![Pin { vertices: clamped, ..Pin::default() }],
        ..Cloth::default()
    };
    let mut scene = scene(way, cloth, fabric);
    scene.air.damping = 2.0;
    let mut simulation = simulation(&scene, &Default::default())?;
    let aside = |s: &taffeta::Simulation| s.state().positions.iter().map(|x| x.z.abs()).fold(0.0, f64::max);
    while simulation.state().time < 10.0 {
        run(&mut simulation, 0.25)?;
        // No push swings it so far.
        if aside(&simulation) > 0.25 * length {
            return Ok(true);
        }
    }
    Ok(aside(&simulation) > 0.05 * length)
}
