//! The same cloth turned, renumbered, or measured with another yardstick moves in the same way.

use super::{Experiment, Finding, Miss, Way, run, scene, simulation, thread_like, usual_ways};
use crate::BenchError;
use std::collections::BTreeMap;
use taffeta::math::{DQuat, DVec3, random::Random};
use taffeta_scene::{Cloth, FabricChange, Mesh, MeshShape, Pin, Scene};

pub(super) const INVARIANCE: Experiment = Experiment {
    name: "invariance",
    about: "A sheet of 9 × 9 particles swings down from two corners for 0.5 s; again turned about the vertical by 37 degrees, with its particles numbered at random, and with a yardstick of a third of a metre: the largest difference of a particle over the size of the sheet. Reference: none. A turn and a yardstick may change rounding alone; numbers may change the order in which methods go through edges, and so the result as far as a method stops short of convergence.",
    misses: &[Miss { of: &[], why: "the method decides by what a rounding may turn." }],
    curve: None,
    ways: usual_ways,
    find: invariance,
};

/// Particles along a side of the sheet, and its size [m].
const SIDE: u32 = 9;
const SIZE: f64 = 1.0;

fn invariance(way: Way, _: bool) -> Result<Vec<Finding>, BenchError> {
    let usual: Vec<u32> = (0..SIDE * SIDE).collect();
    let start = end(way, &usual, 0.0, 1.0)?;
    let differs =
        |other: &[DVec3]| start.iter().zip(other).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max) / SIZE;
    let degrees = 37.0_f64;
    let back = DQuat::from_rotation_y(-degrees.to_radians());
    let turned: Vec<DVec3> = end(way, &usual, degrees, 1.0)?.into_iter().map(|x| back * x).collect();
    let mut random = Random::new(7);
    let mut numbers = usual.clone();
    (1..numbers.len()).rev().for_each(|i| numbers.swap(i, random.below(i + 1)));
    let renumbered = end(way, &numbers, 0.0, 1.0)?;
    let yardstick: Vec<DVec3> = end(way, &usual, 0.0, 3.0)?.into_iter().map(|x| x / 3.0).collect();
    Ok(vec![
        Finding::nothing("turned".into(), "", differs(&turned), 1e-6),
        Finding::nothing("yardstick".into(), "", differs(&yardstick), 1e-6),
        Finding::nothing("renumbered".into(), "", differs(&renumbered), 1e-2),
    ])
}

/// Where the particles are at the end, in the usual order: with their `numbers`, the sheet turned, `scale` units in a metre.
fn end(way: Way, numbers: &[u32], degrees: f64, scale: f64) -> Result<Vec<DVec3>, BenchError> {
    let scene = sheet(way, numbers, degrees, scale);
    let mut simulation = simulation(&scene, &BTreeMap::from([("sheet".into(), grid(numbers, scale))]))?;
    run(&mut simulation, 0.5)?;
    let x = &simulation.state().positions;
    Ok(numbers.iter().map(|n| x[*n as usize]).collect())
}

fn sheet(way: Way, numbers: &[u32], degrees: f64, scale: f64) -> Scene {
    // Lengths have another unit; masses and times keep theirs. N/m are kg/s², N·m are kg·m²/s², kg/m² are per area.
    let area = scale * scale;
    let fabric = FabricChange {
        density: Some(200.0 / area),
        warp: Some(500.0),
        weft: Some(500.0),
        bias: Some(50.0),
        bending_warp: Some(10.0 * area),
        bending_weft: Some(10.0 * area),
        thickness: Some(scale),
        damping: Some(0.1),
        ..thread_like()
    };
    let corners = [(SIDE - 1) * SIDE, SIDE * SIDE - 1].map(|corner| numbers[corner as usize]);
    let cloth = Cloth {
        mesh: Some(MeshShape { file: "sheet".into(), scale: 1.0, up: Default::default(), weld: 0.0 }),
        rotation: [0.0, degrees, 0.0],
        pin: vec![Pin { vertices: corners.to_vec(), ..Pin::default() }],
        ..Cloth::default()
    };
    let mut scene = scene(way, cloth, fabric);
    scene.gravity = scene.gravity.map(|g| scale * g);
    scene.solver.tolerance = 0.01;
    scene
}

/// A square of quads cut in two, whose particles have these numbers.
fn grid(numbers: &[u32], scale: f64) -> Mesh {
    let edge = SIZE * scale / f64::from(SIDE - 1);
    let mut mesh = Mesh { positions: vec![DVec3::ZERO; numbers.len()], ..Mesh::default() };
    for (k, number) in numbers.iter().enumerate() {
        let (i, j) = (k as u32 % SIDE, k as u32 / SIDE);
        mesh.positions[*number as usize] = DVec3::new(edge * f64::from(i), 0.0, -edge * f64::from(j));
    }
    let corner = |i: u32, j: u32| numbers[(i + SIDE * j) as usize];
    for (i, j) in (0..SIDE - 1).flat_map(|j| (0..SIDE - 1).map(move |i| (i, j))) {
        let [a, b, c, d] = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)];
        mesh.triangles.extend([[a, b, c], [a, c, d]]);
    }
    mesh
}
