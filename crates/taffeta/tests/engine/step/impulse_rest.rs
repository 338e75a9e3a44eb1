//! What hangs, stands out or lies by impulses comes to rest, and where it should.

use crate::common::{heavy_elastica, simulation};
use std::collections::BTreeMap;
use taffeta_scene::{
    Air, BoxShape, Cloth, Collider, Contact, FabricChange, Method, Pin, Scene, Sheet, Solver, Strip,
};

const LENGTH: f64 = 0.2;

/// A strip of 200 g/m² that is clamped level over one cell and bends under its own weight: γ = ρ g L³ / B.
fn cantilever(method: Method, gamma: f64, cells: u32) -> Scene {
    let bending = 1e6 * 0.2 * 9.81 * LENGTH.powi(3) / gamma;
    let fabric = FabricChange {
        base: Some("cotton".into()),
        density: Some(200.0),
        warp: Some(2000.0),
        weft: Some(2000.0),
        bias: Some(500.0),
        bending_warp: Some(bending),
        bending_weft: Some(bending),
        damping: Some(0.0),
        bending_damping: Some(0.0),
        ..FabricChange::default()
    };
    // The bend at the clamp stands for half a cell on either side of it, of which the clamped half cannot curve.
    let edge = LENGTH / (f64::from(cells) + 0.5);
    let columns = cells + 2;
    let cloth = Cloth {
        strip: Some(Strip { length: edge * f64::from(cells + 1), width: edge, segments: cells + 1 }),
        pin: vec![Pin { vertices: vec![0, 1, columns, columns + 1], ..Pin::default() }],
        fabric: "thin plate".into(),
        ..Cloth::default()
    };
    Scene {
        gravity: [0.0, -9.81, 0.0],
        air: Air { density: 0.0, damping: 2.0 * (9.81 / LENGTH).sqrt(), ..Air::default() },
        solver: Solver { method, tolerance: 1e-3, ..Solver::default() },
        contact: Contact { cloth_cloth: false },
        fabrics: BTreeMap::from([("thin plate".into(), fabric)]),
        cloth: vec![cloth],
        ..Scene::default()
    }
}

#[test]
fn a_strip_that_stands_out_rests_where_the_elastica_does() {
    // Drop of the tip over its reach.
    for gamma in [10.0, 50.0] {
        let [drop, reach] = heavy_elastica(gamma);
        let reference = drop / reach;
        for method in [Method::ImpulseStrips, Method::ImpulseDirect] {
            let cells = 24;
            let mut simulation = simulation(&cantilever(method, gamma, cells));
            for _ in 0..90 {
                assert!(simulation.step().unwrap().converged);
            }
            let state = simulation.state();
            let fastest = state.velocities.iter().map(|v| v.length()).fold(0.0, f64::max);
            let (clamp, tip) = (state.positions[1], state.positions[cells as usize + 1]);
            let edge = LENGTH / (f64::from(cells) + 0.5);
            let found = (clamp.y - tip.y) / (tip.x - clamp.x + 0.5 * edge);
            eprintln!("{} γ = {gamma}: {found:.4} at {fastest:.1e} m/s", method.name());
            assert!((found / reference - 1.0).abs() < 0.01, "{found} is not {reference}");
            assert!(fastest < 1e-6, "still moves at {fastest} m/s");
        }
    }
}

#[test]
fn a_sheet_that_hangs_over_a_box_comes_to_rest_and_stays_there() {
    // Its last sweeps go on for ever if the number of sub-steps follows them up and down.
    let sheet = Sheet { width: 0.8, height: 0.8, columns: 33, rows: 33, slack: 1.0 };
    let cuboid = Some(BoxShape { size: [0.4; 3] });
    let mut simulation = simulation(&Scene {
        air: Air { damping: 5.0, ..Air::default() },
        solver: Solver { method: Method::ImpulseStrips, tolerance: 0.01, ..Solver::default() },
        contact: Contact { cloth_cloth: true },
        cloth: vec![Cloth { sheet: Some(sheet), position: [0.0, 0.22, 0.0], ..Cloth::default() }],
        collider: vec![Collider { friction: Some(0.5), cuboid, ..Collider::default() }],
        ..Scene::default()
    });
    let mut fastest = 0.0_f64;
    for frame in 0..100 {
        let report = simulation.step().unwrap();
        if frame >= 80 {
            assert!(report.converged);
            fastest = simulation.velocities().iter().map(|v| v.length()).fold(fastest, f64::max);
        }
    }
    assert!(fastest < 0.01, "still moves at {fastest} m/s");
}
