//! Small scenes that several tests share.
#![allow(dead_code)] // every test file uses its own part

use taffeta::math::DVec3;
use taffeta::{Simulation, step::StepReport};
use taffeta_scene::{
    Air, Cloth, Contact, FabricChange, MeshBody, Method, Pin, Scene, Sheet, Side, Solver, Strip, UpAxis,
};

/// A scene with a square sheet of `n` by `n` particles and 1 m, in a vacuum without gravity.
pub fn free_sheet(method: Method, n: u32) -> Scene {
    let sheet = Sheet { width: 1.0, height: 1.0, columns: n, rows: n, slack: 1.0 };
    Scene {
        gravity: [0.0; 3],
        air: Air { density: 0.0, ..Air::default() },
        solver: Solver { method, ..Solver::default() },
        contact: Contact { cloth_cloth: false },
        cloth: vec![Cloth { sheet: Some(sheet), ..Cloth::default() }],
        ..Scene::default()
    }
}

/// A strip of 0.5 m by 0.1 m that hangs from its upper end, in air that brings it to rest.
pub fn hanging_strip(method: Method, segments: u32, fabric: FabricChange) -> Scene {
    let strip = Strip { length: 0.5, width: 0.1, segments };
    let pin = Pin { sides: vec![Side::Left], ..Pin::default() };
    let cloth = Cloth {
        strip: Some(strip),
        fabric: "test".into(),
        // The left side up.
        rotation: [0.0, 0.0, -90.0],
        pin: vec![pin],
        ..Cloth::default()
    };
    Scene {
        air: Air { density: 0.0, damping: 20.0, ..Air::default() },
        solver: Solver { method, ..Solver::default() },
        contact: Contact { cloth_cloth: false },
        fabrics: [("test".to_string(), fabric)].into(),
        cloth: vec![cloth],
        ..Scene::default()
    }
}

/// A body from a mesh that is taken as it is, 1 cm thick.
pub fn mesh_body(file: &str) -> MeshBody {
    MeshBody {
        file: file.into(),
        scale: 1.0,
        up: UpAxis::Y,
        weld: 0.0,
        thickness: 0.01,
        sequence: None,
        animation: None,
        cache: None,
    }
}

/// The simulation of a scene that has no faults.
pub fn simulation(scene: &Scene) -> Simulation {
    taffeta_scene::simulation(scene, &Default::default()).unwrap_or_else(|faults| panic!("{faults:#?}"))
}

/// Steps for `seconds`.
pub fn run(simulation: &mut Simulation, seconds: f64) -> StepReport {
    let steps = (seconds / simulation.model().step_time).round() as usize;
    let mut last = StepReport::default();
    for _ in 0..steps {
        last = simulation.step().unwrap_or_else(|error| panic!("{error}"));
    }
    last
}

/// The centre of mass [m].
pub fn centre(simulation: &Simulation) -> DVec3 {
    let (model, state) = (simulation.model(), simulation.state());
    let total: f64 = model.mass.iter().sum();
    model.mass.iter().zip(&state.positions).map(|(m, x)| *m * *x).sum::<DVec3>() / total
}

/// How deep the tip of a strip that is clamped level hangs under its own weight, and how far it reaches, as shares of its length: the heavy elastica
/// θ'' = -γ (1 - s) cos θ with θ(0) = 0 and θ'(1) = 0, γ = ρ g L³ / B (W. G. Bickley, The heavy elastica, Phil. Mag. 17, 1934; C. Y. Wang, A critical
/// review of the heavy elastica, Int. J. Mech. Sci. 28, 1986). Shot from the tip, whose angle is bisected; fourth-order Runge-Kutta.
pub fn heavy_elastica(gamma: f64) -> [f64; 2] {
    let (mut low, mut high) = (0.0, std::f64::consts::FRAC_PI_2);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if shot(gamma, middle)[0] < 0.0 { low = middle } else { high = middle }
    }
    let [_, _, drop, reach] = shot(gamma, 0.5 * (low + high));
    [drop, reach]
}

/// Angle, curvature, height and way at the clamp of a strip whose tip looks down by `tip` [rad].
fn shot(gamma: f64, tip: f64) -> [f64; 4] {
    // Along t = 1 - s, from the tip to the clamp.
    let slope =
        |t: f64, [angle, bend, _, _]: [f64; 4]| [bend, -gamma * t * angle.cos(), angle.sin(), angle.cos()];
    let steps = 1000;
    let h = 1.0 / f64::from(steps);
    let mut y = [tip, 0.0, 0.0, 0.0];
    for k in 0..steps {
        let t = h * f64::from(k);
        let ahead = |by: f64, slope: [f64; 4]| std::array::from_fn(|c| y[c] + by * slope[c]);
        let a = slope(t, y);
        let b = slope(t + 0.5 * h, ahead(0.5 * h, a));
        let c = slope(t + 0.5 * h, ahead(0.5 * h, b));
        let d = slope(t + h, ahead(h, c));
        y = std::array::from_fn(|k| y[k] + h / 6.0 * (a[k] + 2.0 * b[k] + 2.0 * c[k] + d[k]));
    }
    y
}
