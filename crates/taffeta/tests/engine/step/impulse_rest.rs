//! What hangs or stands out by impulses comes to rest, and where it should.

use crate::common::{heavy_elastica, simulation};
use std::collections::BTreeMap;
use taffeta_scene::{Air, Cloth, Contact, FabricChange, Method, Pin, Scene, Solver, Strip};

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
