//! Edges, diagonals and lines of a mesh, and what is no mesh.

use taffeta::math::DVec3;
use taffeta::model::topology::MeshProblem;
use taffeta_scene::build::shapes;
use taffeta_scene::{Disc, Mesh, Sheet};

fn sheet(columns: u32, rows: u32) -> Mesh {
    shapes::sheet(&Sheet { width: 1.0, height: 1.0, columns, rows, slack: 1.0 }).rest
}

#[test]
fn a_grid_has_the_papers_counts() {
    // P2: 180 constraints for 10 x 10; with both diagonals of every quad 162 shear and 160 bend springs.
    let t = sheet(10, 10).topology().unwrap();
    assert_eq!((t.edges.len(), t.diagonals.len(), t.straights.len()), (180, 162, 160));
    assert_eq!((t.triangles.len(), t.boundary.len()), (162, 36));
}

#[test]
fn the_same_grid_as_triangles_is_paired_into_the_same_quads() {
    let quads = sheet(7, 5);
    let from_quads = quads.topology().unwrap();
    let triangles = Mesh { triangles: from_quads.triangles.clone(), quads: vec![], ..quads };
    let from_triangles = triangles.topology().unwrap();
    assert_eq!(from_triangles.edges, from_quads.edges);
    assert_eq!(from_triangles.straights, from_quads.straights);
    assert_eq!(from_triangles.quads.len(), 24);
}

#[test]
fn a_disc_of_triangles_does_not_lock() {
    let mesh = shapes::disc(&Disc { radius: 1.0, rings: 10 }).rest;
    let t = mesh.topology().unwrap();
    assert_eq!(t.boundary.len(), 60);
    let per_particle = t.edges.len() as f64 / mesh.positions.len() as f64;
    assert!(per_particle < 2.35, "{per_particle}");
    assert_eq!(t.quads.len() * 2 + (t.triangles.len() - 2 * t.quads.len()), t.triangles.len());
}

#[test]
fn everything_wrong_is_listed_at_once() {
    let mut mesh = sheet(3, 3);
    mesh.triangles = vec![[0, 1, 99], [2, 2, 1]];
    mesh.positions[4].y = f64::NAN;
    let problems = mesh.topology().unwrap_err();
    assert_eq!(
        problems,
        [
            MeshProblem::Index { face: 0, index: 99, points: 9 },
            MeshProblem::Repeated { face: 1, index: 2 },
            MeshProblem::NotFinite { index: 4 },
        ]
    );
    let mut fan = sheet(2, 2);
    fan.positions.push(DVec3::Y);
    fan.triangles = vec![[0, 1, 4], [1, 0, 4]];
    assert!(matches!(fan.topology().unwrap_err()[0], MeshProblem::TooManyFaces { edge: [0, 1], faces: 3 }));
    let line = Mesh {
        positions: vec![DVec3::ZERO, DVec3::X, 2.0 * DVec3::X],
        triangles: vec![[0, 1, 2]],
        ..Mesh::default()
    };
    assert_eq!(line.topology().unwrap_err(), [MeshProblem::NoArea { triangle: [0, 1, 2] }]);
    assert_eq!(Mesh::default().topology().unwrap_err(), [MeshProblem::Empty]);
}
