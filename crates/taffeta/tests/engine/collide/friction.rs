//! Friction with a closed answer: what holds does not creep, what slides slides by Coulomb's law, and a belt around a drum holds e^(μφ).
//!
//! `TAFFETA_SECONDS=600 cargo test --release -p taffeta --test engine friction::below` waits ten minutes for the sheet to creep.

use crate::common::{centre, simulation};
use taffeta::math::DVec3;
use taffeta_scene::{
    Air, BoxShape, CapsuleShape, Cloth, Collider, Contact, FabricChange, Mesh, MeshShape, Method, PlaneShape,
    Scene, Sheet, Solver, UpAxis,
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

const METHODS: [Method; 4] = [Method::Verlet, Method::BackwardEuler, Method::Bdf2, Method::ImpulseStrips];

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
            let seconds: f64 =
                std::env::var("TAFFETA_SECONDS").map_or(2.0, |seconds| seconds.parse().unwrap());
            for _ in 0..(30.0 * seconds) as u32 {
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

/// Radius of the drum [m], length of one edge of the belt [m], edges that hang down on the light and on the heavy side.
const DRUM: f64 = 0.1;
const EDGE: f64 = 0.01;
const HANGING: [usize; 2] = [15, 58];

/// How long the heavy side may be before a belt of its own weight slips over a drum, if the other hangs down by `light` [m]: Euler and Eytelwein's law with the
/// weight on the drum, T' = μ (T + w R sin φ) + w R cos φ from one side (φ = 0) to the other (φ = π), in lengths T / w.
fn longest_held(light: f64, mu: f64) -> f64 {
    let a = -2.0 * mu * DRUM / (1.0 + mu * mu);
    (light - a) * (mu * std::f64::consts::PI).exp() - a
}

/// The friction at which the heavy side of the belt is `share` of the longest that holds.
fn friction_for(share: f64) -> f64 {
    let [light, heavy] = HANGING.map(|edges| edges as f64 * EDGE);
    let (mut low, mut high) = (0.0, 2.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if longest_held(light, middle) * share < heavy { low = middle } else { high = middle }
    }
    low
}

/// A belt three particles wide that lies over half of a drum, and the scene of it.
fn belt(method: Method, mu: f64) -> (Scene, Mesh) {
    let radius = DRUM + 0.62e-3;
    let around = (std::f64::consts::PI * radius / EDGE).round() as usize;
    let mut mesh = Mesh::default();
    for k in 0..=HANGING[0] + around + HANGING[1] {
        let on_drum = k.clamp(HANGING[0], HANGING[0] + around);
        let angle = std::f64::consts::PI * (on_drum - HANGING[0]) as f64 / around as f64;
        let below = EDGE * k.abs_diff(on_drum) as f64;
        for z in [-EDGE, 0.0, EDGE] {
            let place = DVec3::new(-radius * angle.cos(), radius * angle.sin() - below, z);
            mesh.positions.push(place);
        }
        if k > 0 {
            let at = 3 * k as u32;
            mesh.quads.extend([at, at + 1].map(|p| [p - 3, p, p + 1, p - 2]));
        }
    }
    let fabric = FabricChange { base: Some("cotton".into()), friction: Some(mu), ..FabricChange::default() };
    let drum = Collider {
        rotation: [90.0, 0.0, 0.0],
        capsule: Some(CapsuleShape { radius: DRUM, length: 0.4 }),
        ..Collider::default()
    };
    let cloth = Cloth {
        fabric: "belt".into(),
        mesh: Some(MeshShape { file: "belt".into(), scale: 1.0, up: UpAxis::Y, weld: 0.0 }),
        ..Cloth::default()
    };
    let scene = Scene {
        air: Air { density: 0.0, ..Air::default() },
        solver: Solver { method, tolerance: 0.01, ..Solver::default() },
        contact: Contact { cloth_cloth: false },
        fabrics: [("belt".to_string(), fabric)].into(),
        cloth: vec![cloth],
        collider: vec![drum],
        ..Scene::default()
    };
    (scene, mesh)
}

#[test]
fn a_belt_over_a_drum_holds_what_the_law_of_capstans_says() {
    let mut methods = vec![Method::ImpulseStrips, Method::ImpulseDirect, Method::BackwardEuler, Method::Bdf2];
    // Short edges need many sub-steps.
    methods.extend(testing::long().then_some(Method::Verlet));
    for method in methods {
        for (share, holds) in [(0.95, true), (1.05, false)] {
            let mu = friction_for(share);
            let (scene, mesh) = belt(method, mu);
            let mut simulation =
                taffeta_scene::simulation(&scene, &[("belt".to_string(), mesh)].into()).unwrap();
            let mut fallen = Vec::new();
            for _ in 0..45 {
                simulation.step().unwrap();
                let positions = &simulation.state().positions;
                fallen.push(-positions[positions.len() - 2].y);
            }
            let (early, late) = (fallen[14] - fallen[0], fallen[44] - fallen[14]);
            eprintln!("{} μ {mu:.4}: moved {early:.2e} m in half a second, then {late:.2e} m", method.name());
            assert!(if holds { late < 1e-3 } else { late > 0.05 }, "{} {mu}: {early} {late}", method.name());
        }
    }
}
