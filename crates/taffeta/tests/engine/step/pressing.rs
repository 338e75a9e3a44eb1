//! What bodies press on cloth, with a known answer: what rests is held up by its weight.

use crate::common::simulation;
use taffeta_scene::{
    Air, Body, BoxShape, Cloth, Collider, Contact, FabricChange, Method, PlaneShape, Scene, Sheet, Solver,
};

const GRAVITY: f64 = 9.81;

/// So many sheets of 0.1 m lie on one another and on a half-space, or on the face of a box.
fn lying(method: Method, layers: u32, on_box: bool) -> Scene {
    let sheet = Sheet { width: 0.1, height: 0.1, columns: 6, rows: 6, slack: 1.0 };
    let cloth = |layer: u32| Cloth {
        name: format!("layer {layer}"),
        position: [0.0, 0.26e-3 + 0.51e-3 * f64::from(layer), 0.0],
        sheet: Some(sheet.clone()),
        ..Cloth::default()
    };
    let body = match on_box {
        true => Collider {
            cuboid: Some(BoxShape { size: [1.0, 0.2, 1.0] }),
            position: [0.0, -0.1, 0.0],
            ..Collider::default()
        },
        false => Collider { plane: Some(PlaneShape {}), ..Collider::default() },
    };
    Scene {
        gravity: [0.0, -GRAVITY, 0.0],
        air: Air { density: 0.0, ..Air::default() },
        solver: Solver { method, ..Solver::default() },
        contact: Contact { cloth_cloth: layers > 1 },
        cloth: (0..layers).map(cloth).collect(),
        collider: vec![body],
        ..Scene::default()
    }
}

/// The mean force by which bodies press on cloth [N], over so many steps after as many in which it comes to rest.
fn force(scene: &Scene, steps: u32) -> f64 {
    let mut simulation = simulation(scene);
    let mut sum = 0.0;
    for step in 0..2 * steps {
        simulation.step().unwrap();
        let impulses = simulation.body_impulses().expect("methods of the engine tell");
        assert!(impulses.iter().all(|impulse| *impulse >= 0.0));
        sum += if step < steps { 0.0 } else { impulses.iter().sum() };
    }
    sum / (f64::from(steps) * simulation.model().step_time)
}

fn weight_of_cloth(scene: &Scene) -> f64 {
    let simulation = simulation(scene);
    let model = simulation.model();
    GRAVITY * model.mass[..model.cloth_particle_count()].iter().sum::<f64>()
}

#[test]
fn the_pressure_below_a_sheet_is_its_weight_by_area() {
    for method in Method::ALL {
        for on_box in [false, true] {
            let scene = lying(*method, 1, on_box);
            let (found, weight) = (force(&scene, 10), weight_of_cloth(&scene));
            // Both over the same area.
            let off = found / weight - 1.0;
            eprintln!("{}, box {on_box}: {:+.2} %", method.name(), 100.0 * off);
            assert!(off.abs() < 0.03, "{}, box {on_box}: {found} N, it weighs {weight} N", method.name());
        }
    }
}

#[test]
fn what_lies_on_a_sheet_presses_through_it() {
    for method in Method::ALL {
        let scene = lying(*method, 2, false);
        let (found, weight) = (force(&scene, 10), weight_of_cloth(&scene));
        let off = found / weight - 1.0;
        eprintln!("{}: {:+.2} %", method.name(), 100.0 * off);
        assert!(off.abs() < 0.05, "{}: {found} N, they weigh {weight} N", method.name());
    }
}

/// A box lies on a sheet that is so thick that the box does not rest on the floor beside it.
fn loaded(method: Method, mass: f64) -> Scene {
    let mut scene = lying(method, 1, false);
    let thick = FabricChange { base: Some("cotton".into()), thickness: Some(3.0), ..FabricChange::default() };
    scene.fabrics = [("thick".to_string(), thick)].into();
    (scene.cloth[0].fabric, scene.cloth[0].position[1]) = ("thick".into(), 1.51e-3);
    let cuboid = Some(BoxShape { size: [0.04; 3] });
    scene.body = vec![Body { position: [0.0, 23.1e-3, 0.0], mass: Some(mass), cuboid, ..Body::default() }];
    scene
}

#[test]
fn a_box_presses_on_the_sheet_from_above_and_the_floor_from_below() {
    let mass = 0.2;
    for method in [Method::ImpulseStrips, Method::Xpbd, Method::Vbd] {
        let scene = loaded(method, mass);
        let (found, weight) = (force(&scene, 10), 2.0 * mass * GRAVITY + weight_of_cloth(&scene));
        let off = found / weight - 1.0;
        eprintln!("{}: {:+.2} %", method.name(), 100.0 * off);
        assert!(off.abs() < 0.02, "{}: {found} N of {weight} N", method.name());
    }
}

#[test]
fn what_is_not_known_is_not_told() {
    for method in [Method::BackwardEuler, Method::Bdf2] {
        assert_eq!(simulation(&loaded(method, 0.2)).body_impulses(), None);
    }
}

#[test]
fn what_falls_is_not_pressed() {
    for method in Method::ALL {
        let mut scene = lying(*method, 1, false);
        scene.cloth[0].position[1] = 10.0;
        assert_eq!(force(&scene, 1), 0.0, "{}", method.name());
    }
}
