//! Implicit methods where cloth meets bodies and itself: what presses is in the system, so that it strains cloth no more than a body does.

use crate::common::{free_sheet, mesh_body, simulation};
use std::collections::BTreeMap;
use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta::scene::{BoxShape, Collider, Contact, Mesh, Method, Scene};

const IMPLICIT: [Method; 2] = [Method::BackwardEuler, Method::Bdf2];

/// A sheet of 16 by 16 particles that falls from just above y = 0 onto a collider, which reaches up to there.
fn falling_on(method: Method, collider: Collider) -> Scene {
    let mut scene = free_sheet(method, 16);
    scene.gravity = [0.0, -9.81, 0.0];
    scene.contact = Contact { cloth_cloth: true };
    scene.cloth[0].position = [0.03, 0.02, 0.01];
    scene.collider = vec![collider];
    scene
}

/// Steps for a second; the largest strain after a third of one.
fn strain_of_drape(mut simulation: Simulation) -> f64 {
    let mut largest = 0.0_f64;
    for frame in 0..30 {
        let report = simulation.step().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(report.converged, report.shortfall.is_none(), "{:?}", report.shortfall);
        let found = simulation.certificate();
        assert_eq!((found.cloth_cloth, found.cloth_body), (0, 0), "frame {frame}");
        largest = largest.max(if frame < 10 { 0.0 } else { found.max_strain });
    }
    largest
}

#[test]
fn edges_of_a_box_do_not_tear_at_the_cloth() {
    for method in IMPLICIT {
        let shape = BoxShape { size: [0.4, 0.6, 0.4] };
        let collider = Collider { cuboid: Some(shape), position: [0.0, -0.3, 0.0], ..Collider::default() };
        let strain = strain_of_drape(simulation(&falling_on(method, collider)));
        eprintln!("{}: {strain}", method.name());
        assert!(strain < 0.05, "{}: {strain}", method.name());
    }
}

/// A pyramid whose point looks up.
fn pyramid() -> Mesh {
    let corners = [(-0.4, -0.4), (0.4, -0.4), (0.4, 0.4), (-0.4, 0.4)];
    let mut positions: Vec<DVec3> = corners.map(|(x, z)| DVec3::new(x, -0.4, z)).to_vec();
    positions.push(DVec3::ZERO);
    let triangles = vec![[1, 0, 4], [2, 1, 4], [3, 2, 4], [0, 3, 4], [0, 1, 2], [0, 2, 3]];
    Mesh { positions, triangles, ..Mesh::default() }
}

#[test]
fn the_point_of_a_mesh_does_not_tear_at_the_cloth() {
    for method in IMPLICIT {
        let mesh = Some(mesh_body("pyramid"));
        let scene = falling_on(method, Collider { mesh, ..Collider::default() });
        let meshes = BTreeMap::from([("pyramid".to_string(), pyramid())]);
        let simulation = Simulation::new(&scene, &meshes).unwrap_or_else(|faults| panic!("{faults:#?}"));
        let strain = strain_of_drape(simulation);
        eprintln!("{}: {strain}", method.name());
        assert!(strain < 0.05, "{}: {strain}", method.name());
    }
}
