//! Heaps: light layers under a heavy thing keep their lengths, come to rest, and friction between them knows what lies on top.

use crate::common::simulation;
use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta::model::Model;
use taffeta_scene::{
    Air, Body, BoxShape, Cloth, Collider, FabricChange, PlaneShape, Scene, Sheet, Solver, build,
};

/// Layers of cotton above a floor, each turned against the one below.
fn layers(count: u32, turn: f64) -> Scene {
    let sheet = |k: u32| Cloth {
        sheet: Some(Sheet { width: 0.2, height: 0.2, columns: 8, rows: 8, slack: 1.0 }),
        position: [0.0, 0.001 + 0.001 * f64::from(k), 0.0],
        rotation: [0.0, turn * f64::from(k), 0.0],
        ..Cloth::default()
    };
    Scene {
        air: Air { density: 0.0, ..Air::default() },
        solver: Solver { tolerance: 0.01, ..Solver::default() },
        cloth: (0..count).map(sheet).collect(),
        collider: vec![Collider { plane: Some(PlaneShape {}), ..Collider::default() }],
        ..Scene::default()
    }
}

/// The kinetic energy of all [J].
fn moving(simulation: &Simulation) -> f64 {
    simulation.energy().kinetic
}

#[test]
fn a_heavy_box_rests_on_a_heap_of_light_layers_and_all_lengths_are_kept() {
    let count = 8;
    let mut scene = layers(count, 7.0);
    let cuboid = Some(BoxShape { size: [0.08, 0.04, 0.08] });
    scene.body = vec![Body { position: [0.0, 0.032, 0.0], mass: Some(1.0), cuboid, ..Body::default() }];
    let mut simulation = simulation(&scene);
    for frame in 0..24 {
        let report = simulation.step_frame(&mut ()).unwrap();
        assert!(report.converged, "frame {frame}: {:?}", report.shortfall);
        assert_eq!(report.ccd.slowed, 0, "frame {frame}: zones hold the heap");
        let certificate = simulation.certificate();
        assert!(certificate.max_strain <= 0.01 * (1.0 + 1e-9), "frame {frame}: {}", certificate.max_strain);
        assert_eq!((certificate.cloth_cloth, certificate.cloth_body), (0, 0), "frame {frame}");
    }
    assert!(moving(&simulation) < 1e-4, "{} J", moving(&simulation));
    // About as high as so many layers of half a millimetre.
    let bottom = simulation.positions().iter().rev().take(4).map(|x| x.y).sum::<f64>() / 4.0 - 0.02;
    let thick = 0.5e-3 * f64::from(count);
    assert!(bottom > 0.5 * thick && bottom < 1.5 * thick, "the box is {bottom} m above the floor");
}

#[test]
fn what_lies_on_top_holds_the_lowest_sheet() {
    // Along the floor gravity pulls at four and at six tenths of what it weighs, friction holds a half. The lowest sheet does not feel the pushes of what lies on it;
    // its friction counts with the load all the same. Only the first sub-step of a step does not know the load yet, and lets it creep.
    let slid = |along: f64| {
        let mut scene = layers(5, 0.0);
        let mu = 0.5_f64;
        scene.collider[0].friction = Some(mu);
        for cloth in &mut scene.cloth {
            cloth.fabric = "rough".into();
        }
        let rough =
            FabricChange { base: Some("cotton".into()), friction: Some(mu), ..FabricChange::default() };
        scene.fabrics.insert("rough".into(), rough);
        let mut simulation = simulation(&scene);
        for _ in 0..20 {
            simulation.step_frame(&mut ()).unwrap();
        }
        let from: Vec<f64> = simulation.positions().iter().map(|x| x.x).collect();
        let air = simulation.environment().air;
        simulation.set_surroundings(DVec3::new(9.81 * along, -9.81, 0.0), air);
        for _ in 0..15 {
            simulation.step_frame(&mut ()).unwrap();
        }
        let lowest = 0..64;
        lowest.map(|i| simulation.positions()[i].x - from[i]).sum::<f64>() / 64.0
    };
    let (below, above) = (slid(0.4), slid(0.6));
    // Held by its own weight alone it would slide by 0.36 m.
    assert!(below.abs() < 5e-3, "below the limit it slid by {below} m");
    assert!(above > 0.05, "above the limit it slid by {above} m, Coulomb says 0.12 m");
}

#[test]
fn few_contacts_that_ccd_finds_are_answered_without_sweeps_over_everything() {
    let mut scene = layers(6, 11.0);
    // They fall and hit one another.
    for (k, cloth) in scene.cloth.iter_mut().enumerate() {
        cloth.position[1] = 0.05 + 0.03 * k as f64;
        cloth.rotation[2] = 10.0 * (k as f64 - 3.0);
    }
    let iterations = |nearby: bool| {
        let (model, state) = build(&scene, &Default::default()).unwrap();
        let mut model = Model::clone(&model);
        if !nearby {
            model.params.impulse.few_learned = 0;
        }
        let mut simulation = Simulation::new(model, state);
        let mut sum = 0;
        for frame in 0..15 {
            let report = simulation.step_frame(&mut ()).unwrap();
            let certificate = simulation.certificate();
            assert!(
                report.converged && certificate.cloth_cloth + certificate.cloth_body == 0,
                "frame {frame}"
            );
            sum += report.iterations - report.substeps;
        }
        sum
    };
    let (nearby, everywhere) = (iterations(true), iterations(false));
    assert!(2 * nearby < everywhere, "{nearby} sweeps, {everywhere} over everything");
}
