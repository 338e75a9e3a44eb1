//! Surfaces from files: what is joined, left out and stretched.

use taffeta::math::{DVec3, random::Random};
use taffeta_scene::build::import::{NO_PARTICLE, import, joined};
use taffeta_scene::build::shapes;
use taffeta_scene::{Mesh, MeshShape, Sheet, UpAxis};

fn shape(scale: f64, up: UpAxis, weld: f64) -> MeshShape {
    MeshShape { file: String::new(), scale, up, weld }
}

fn sheet() -> Mesh {
    shapes::sheet(&Sheet { width: 0.6, height: 0.4, columns: 4, rows: 3, slack: 1.0 }).rest
}

#[test]
fn a_clean_file_stays_as_it_is() {
    let mesh = sheet();
    for weld in [0.0, 0.05] {
        let imported = import(&mesh, &shape(1.0, UpAxis::Y, weld));
        assert_eq!(imported.mesh, mesh);
        assert_eq!((imported.particle_of, imported.notes), ((0..12).collect(), vec![]));
    }
    let turned = import(&mesh, &shape(2.0, UpAxis::Z, 0.0)).mesh;
    let [p, q] = [mesh.positions[5], turned.positions[5]];
    assert_eq!(q, 2.0 * DVec3::new(p.x, p.z, -p.y));
    assert_eq!(turned.material[5], mesh.material[5].map(|c| 2.0 * c), "metres stay metres");
}

#[test]
fn texture_coordinates_become_metres_whatever_their_scale() {
    let mesh = sheet();
    let mut square = mesh.clone();
    square.material.iter_mut().for_each(|[u, v]| (*u, *v) = (*u / 0.6, 1.0 - *v / 0.4));
    let imported = import(&square, &shape(1.0, UpAxis::Y, 0.0));
    for (uv, want) in imported.mesh.material.iter().zip(&mesh.material) {
        assert!((uv[0] - want[0]).abs() < 1e-12 && (0.4 - uv[1] - want[1]).abs() < 1e-12, "{uv:?} {want:?}");
    }
    assert_eq!(imported.notes, ["texture coordinates in metres: one u is 0.6000 m, one v is 0.4000 m"]);
    square.material.fill([0.5, 0.5]);
    let imported = import(&square, &shape(1.0, UpAxis::Y, 0.0));
    assert!(imported.mesh.material.is_empty() && imported.notes[0].contains("no area"));
}

/// The sheet with every face on points of its own, and one point that no face uses.
fn torn_apart(mesh: &Mesh) -> Mesh {
    let corners = mesh.quads.as_flattened();
    let mut torn = Mesh { positions: vec![DVec3::ONE], material: vec![[9.0; 2]], ..Mesh::default() };
    torn.positions.extend(corners.iter().map(|i| mesh.positions[*i as usize]));
    torn.material.extend(corners.iter().map(|i| mesh.material[*i as usize]));
    torn.quads = (0..mesh.quads.len() as u32).map(|k| [1, 2, 3, 4].map(|c| 4 * k + c)).collect();
    torn
}

#[test]
fn double_points_are_joined_and_loose_ones_left_out() {
    let mesh = sheet();
    let torn = torn_apart(&mesh);
    let loose = import(&torn, &shape(1.0, UpAxis::Y, 0.0));
    assert_eq!((loose.mesh.positions.len(), loose.particle_of[0]), (24, NO_PARTICLE));
    assert_eq!(loose.notes, ["points that no face uses, left out: 1"]);
    assert_eq!(loose.particle_of[1..], (0..24).collect::<Vec<_>>());

    let whole = import(&torn, &shape(1.0, UpAxis::Y, 1e-6));
    assert_eq!((whole.mesh.positions.len(), whole.mesh.quads.len()), (12, 6));
    assert_eq!(whole.notes.len(), 2, "{:?}", whole.notes);
    for (file, particle) in whole.particle_of.iter().enumerate().skip(1) {
        assert_eq!(whole.mesh.positions[*particle as usize], torn.positions[file]);
        assert_eq!(whole.mesh.material[*particle as usize], torn.material[file]);
    }
    for (particle, file) in whole.point_of.iter().enumerate() {
        assert_eq!(whole.particle_of[*file as usize] as usize, particle);
    }
    let mut seam = torn;
    seam.material[2] = [0.5, 0.3];
    assert!(import(&seam, &shape(1.0, UpAxis::Y, 1e-6)).mesh.material.is_empty(), "a seam");
}

#[test]
fn faces_that_collapse_go_and_quads_become_triangles() {
    let x = |x: f64, y: f64| DVec3::new(x, y, 0.0);
    let positions = vec![x(0.0, 0.0), x(1.0, 0.0), x(1.0, 1.0), x(0.0, 1.0), x(1e-3, 0.0), x(1.0, 1.001)];
    let quads = vec![[0, 4, 2, 3], [0, 1, 2, 5], [0, 1, 2, 3], [0, 1, 4, 3], [0, 4, 2, 5], [4, 1, 2, 0]];
    let mesh = Mesh { positions, quads, triangles: vec![[0, 1, 2], [0, 4, 1]], ..Mesh::default() };
    let joined = import(&mesh, &shape(1.0, UpAxis::Y, 0.01));
    assert_eq!(joined.mesh.triangles, [[0, 1, 2], [0, 2, 3], [0, 1, 2], [0, 1, 2]]);
    assert_eq!(joined.mesh.quads, [[0, 1, 2, 3]]);
    assert_eq!(joined.notes[0], "points joined to others within 0.01 m: 2; faces that collapsed: 3");
}

#[test]
fn cubes_join_what_comparing_all_pairs_joins() {
    let mut random = Random::new(5);
    for distance in [1e-3, 0.03, 0.3, 2.0] {
        let mut number = || random.between(-1.0, 1.0);
        let mut points: Vec<DVec3> =
            (0..600).map(|_| DVec3::new(number(), number(), 0.1 * number())).collect();
        points.extend([DVec3::ZERO, DVec3::splat(-0.0), DVec3::splat(1e300), DVec3::splat(f64::MAX)]);
        let mut slow: Vec<u32> = Vec::new();
        for (i, p) in points.iter().enumerate() {
            let stays = |k: &usize| slow[*k] as usize == *k && points[*k].distance(*p) <= distance;
            slow.push((0..i).find(stays).unwrap_or(i) as u32);
        }
        assert_eq!(joined(&points, distance), slow, "{distance}");
    }
}

#[test]
fn what_names_missing_points_is_left_for_the_topology() {
    let mut mesh = sheet();
    mesh.triangles = vec![[0, 1, 99]];
    assert_eq!(import(&mesh, &shape(1.0, UpAxis::Y, 0.1)).mesh, mesh);
    let mut mesh = sheet();
    mesh.positions[3].x = f64::NAN;
    assert_eq!(import(&mesh, &shape(1.0, UpAxis::Y, 0.05)).mesh.positions.len(), 12);
}
