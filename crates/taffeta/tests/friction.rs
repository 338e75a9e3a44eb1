//! Friction with a closed answer: what holds does not creep, what slides slides by Coulomb's law, and a belt around a drum holds e^(μφ).

mod common;

use common::{centre, simulation};
use taffeta::scene::{
    Air, BoxShape, Cloth, Collider, Contact, FabricChange, Method, PlaneShape, Scene, Sheet, Solver,
};

/// A small sheet lies on a slope of `degrees` with the friction `mu`, on a half-space or on the face of a box.
fn slope(method: Method, degrees: f64, mu: f64, on_box: bool) -> Scene {
    let sheet = Sheet { width: 0.1, height: 0.1, columns: 5, rows: 5, slack: 1.0 };
    let fabric = FabricChange { base: Some("cotton".into()), friction: Some(mu), ..FabricChange::default() };
    let lift = 0.25e-3 + 1e-7;
    let (sine, cosine) = (degrees.to_radians().sin(), degrees.to_radians().cos());
    let cloth = Cloth {
        fabric: "rough".into(),
        position: [-lift * sine, lift * cosine, 0.0],
        rotation: [0.0, 0.0, degrees],
        sheet: Some(sheet),
        ..Cloth::default()
    };
    let mut body = Collider { rotation: [0.0, 0.0, degrees], ..Collider::default() };
    if on_box {
        // Its upper face passes through the origin.
        body.position = [0.1 * sine, -0.1 * cosine, 0.0];
        body.cuboid = Some(BoxShape { size: [10.0, 0.2, 1.0] });
    } else {
        body.plane = Some(PlaneShape {});
    }
    Scene {
        air: Air { density: 0.0, ..Air::default() },
        solver: Solver { method, tolerance: 0.01, ..Solver::default() },
        contact: Contact { cloth_cloth: false },
        fabrics: [("rough".to_string(), fabric)].into(),
        cloth: vec![cloth],
        collider: vec![body],
        ..Scene::default()
    }
}

const METHODS: [Method; 2] = [Method::ImpulseStrips, Method::Verlet];

#[test]
fn below_the_threshold_nothing_creeps() {
    for method in METHODS {
        for on_box in [false, true] {
            // tan 15° = 0.268 < 0.3.
            let mut simulation = simulation(&slope(method, 15.0, 0.3, on_box));
            for _ in 0..30 {
                simulation.step().unwrap();
            }
            let (before, positions) = (centre(&simulation), simulation.state().positions.clone());
            for _ in 0..60 {
                simulation.step().unwrap();
            }
            let crept = centre(&simulation).distance(before);
            let moved = simulation.state().positions.iter().zip(&positions).map(|(a, b)| a.distance(*b));
            let most = moved.fold(0.0, f64::max);
            eprintln!("{} box {on_box}: crept {crept:e} m, one particle {most:e} m", method.name());
            assert!(crept < 1e-6 && most < 1e-6, "{} {on_box}: {crept:e} {most:e}", method.name());
        }
    }
}

#[test]
fn above_the_threshold_it_slides_as_coulomb_says() {
    for method in METHODS {
        for on_box in [false, true] {
            let (degrees, mu): (f64, f64) = (30.0, 0.3);
            let mut simulation = simulation(&slope(method, degrees, mu, on_box));
            let speed = |s: &taffeta::Simulation| {
                let (model, state) = (s.model(), s.state());
                let total: f64 = model.mass.iter().sum();
                model.mass.iter().zip(&state.velocities).map(|(m, v)| *m * *v).sum::<taffeta::math::DVec3>()
                    / total
            };
            for _ in 0..3 {
                simulation.step().unwrap();
            }
            let before = speed(&simulation);
            for _ in 0..12 {
                simulation.step().unwrap();
            }
            let found = (speed(&simulation) - before).length() / (12.0 / 30.0);
            let want = 9.81 * (degrees.to_radians().sin() - mu * degrees.to_radians().cos());
            eprintln!("{} box {on_box}: {found:.4} m/s², Coulomb {want:.4}", method.name());
            assert!((found / want - 1.0).abs() < 0.02, "{} {on_box}: {found} {want}", method.name());
        }
    }
}
