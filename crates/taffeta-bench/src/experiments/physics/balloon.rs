//! A balloon grows until its skin holds the pressure.

use super::{Experiment, Finding, Way, scene, settle, simulation, thread_like};
use crate::BenchError;
use taffeta_scene::{Ball, Cloth, ClothModel, FabricChange, Filling, FillingKind, Method};

pub(super) const BALLOON: Experiment = Experiment {
    name: "balloon",
    about: "A ball of 0.2 m whose skin has 500 N/m is pumped up by 100 Pa: its radius. Reference: Laplace's tension p r / 2 against the skin's stiffness, r = r₀ / (1 - p r₀ / (2 k)). Only implicit methods know a filling.",
    misses: &[],
    curve: None,
    ways: || {
        [Method::BackwardEuler, Method::Bdf2].map(|method| Way::new(method, ClothModel::Triangles)).to_vec()
    },
    find: balloon,
};

fn balloon(way: Way, quick: bool) -> Result<Vec<Finding>, BenchError> {
    let (pressure, stiffness, radius) = (100.0, 500.0, 0.2);
    let fabric = FabricChange {
        density: Some(100.0),
        warp: Some(stiffness),
        weft: Some(stiffness),
        bias: Some(0.99 * stiffness),
        ..thread_like()
    };
    let cloth = Cloth {
        ball: Some(Ball { radius, rings: if quick { 5 } else { 10 } }),
        filling: Some(Filling { pressure, kind: FillingKind::Pump }),
        ..Cloth::default()
    };
    let mut scene = scene(way, cloth, fabric);
    scene.gravity = [0.0; 3];
    scene.air.damping = 20.0;
    let mut simulation = simulation(&scene, &Default::default())?;
    settle(&mut simulation, 2.0)?;
    let x = &simulation.state().positions;
    let found = x.iter().map(|p| p.length()).sum::<f64>() / x.len() as f64;
    let want = radius / (1.0 - pressure * radius / (2.0 * stiffness));
    Ok(vec![Finding::near("radius".into(), "m", want, found, 0.01)])
}
