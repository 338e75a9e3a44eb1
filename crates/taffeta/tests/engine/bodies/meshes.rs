//! Colliders from meshes: placed, moved, deformed, measured, and refused where they cannot be bodies.

use crate::common::mesh_body;
use std::collections::BTreeMap;
use taffeta::check::{Surface, against_mesh, certify, intersections_between_brute_force};
use taffeta::collide::ccd::distance::{PairKind, closest};
use taffeta::collide::contact::through;
use taffeta::collide::surface;
use taffeta::math::random::Random;
use taffeta::math::{DVec3, Pose, trig};
use taffeta::model::Form;
use taffeta_scene::{Cloth, Collider, Fault, Keyframe, Mesh, MeshBody, Method, Scene, Sequence, Sheet};

/// A ring that lies flat: its radius, that of its tube [m], corners around both.
fn torus(radius: f64, tube: f64, corners: [u32; 2]) -> Mesh {
    let [around, across] = corners;
    let angle = |k: u32, of: u32| std::f64::consts::TAU * f64::from(k) / f64::from(of);
    let mut mesh = Mesh::default();
    for i in 0..around {
        for j in 0..across {
            let (a, b) = (angle(i, around), angle(j, across));
            let out = radius + tube * trig::cos(b);
            mesh.positions.push(DVec3::new(out * trig::cos(a), tube * trig::sin(b), -out * trig::sin(a)));
            let at = |i: u32, j: u32| (i % around) * across + j % across;
            mesh.quads.push([at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
    }
    mesh
}

fn sequence(last: u32, rate: f64) -> MeshBody {
    MeshBody { sequence: Some(Sequence { first: 1, last, rate }), ..mesh_body("ring-##.obj") }
}

/// A sheet at a height [m] over a body, which moves by keyframes.
fn scene(mesh: MeshBody, height: f64, keyframe: Vec<Keyframe>) -> Scene {
    let sheet = Sheet { width: 1.0, height: 1.0, columns: 21, rows: 21, slack: 1.0 };
    Scene {
        cloth: vec![Cloth { sheet: Some(sheet), position: [0.0, height, 0.0], ..Cloth::default() }],
        collider: vec![Collider { mesh: Some(mesh), keyframe, ..Collider::default() }],
        ..Scene::default()
    }
}

fn refused(mesh: MeshBody, meshes: &BTreeMap<String, Mesh>) -> Fault {
    let Err(faults) = taffeta_scene::simulation(&scene(mesh, 1.0, vec![]), meshes) else { panic!("taken") };
    assert_eq!(faults.len(), 1, "{faults:#?}");
    assert_eq!(faults[0].key, "collider[0].mesh.file");
    assert!(!faults[0].remedy.is_empty());
    faults[0].clone()
}

#[test]
fn a_ring_is_placed_moved_and_measured() {
    let meshes = BTreeMap::from([("ring.obj".to_string(), torus(0.3, 0.05, [24, 12]))]);
    let up = Keyframe { time: 1.0, shift: [0.0, 0.2, 0.0], turn: [0.0, 90.0, 0.0], ease: Default::default() };
    let asked = scene(mesh_body("ring.obj"), 0.15, vec![Keyframe { time: 0.0, ..up.clone() }, up]);
    let mut still = asked.clone();
    still.collider[0].keyframe.clear();
    for (asked, gap, cut) in [(&still, 0.1, false), (&asked, 0.0, true)] {
        let simulation = taffeta_scene::simulation(asked, &meshes).unwrap();
        let told = certify(simulation.model(), simulation.state());
        assert!((told.min_gap - gap).abs() < 1e-12, "{told:?}");
        assert_eq!(told.cloth_body > 0, cut, "{told:?}");

        let all = surface::CollisionSurface::new(simulation.model());
        let ring = &all.objects[1];
        assert_eq!((ring.points.len(), ring.triangles.len(), ring.radius), (288, 576, 0.005));
        let mut points = vec![DVec3::ZERO; all.points - all.particles];
        all.place_bodies(simulation.model(), 0.5, &mut points);
        let pose = simulation.model().colliders[0].pose(0.5);
        let expected = meshes["ring.obj"].positions.iter().map(|p| pose.to_world(*p));
        assert!(points.iter().copied().eq(expected));
    }
}

#[test]
fn every_method_lays_a_sheet_on_a_ring() {
    let meshes = BTreeMap::from([("ring.obj".to_string(), torus(0.3, 0.05, [12, 6]))]);
    for method in Method::ALL {
        let mut asked = scene(mesh_body("ring.obj"), 0.065, vec![]);
        asked.solver.method = *method;
        asked.cloth[0].sheet.iter_mut().for_each(|sheet| (sheet.columns, sheet.rows) = (9, 9));
        let mut simulation = taffeta_scene::simulation(&asked, &meshes).unwrap();
        let touched: u32 = (0..5).map(|_| simulation.step().unwrap().contacts).sum();
        let told = certify(simulation.model(), simulation.state());
        // It would have fallen by 0.14 m.
        let height = simulation.state().positions[4 * 9 + 2].y;
        assert!(touched > 0 && height > 0.04, "{method:?}: {touched} touched, {height} m");
        assert_eq!((told.cloth_body, told.cloth_cloth), (0, 0), "{method:?}");
    }
}

#[test]
fn what_starts_cut_by_a_mesh_comes_out_of_it() {
    // Cells of 5 cm across a tube of 20 cm, which cuts through the sheet by 1 cm.
    let meshes = BTreeMap::from([("ring.obj".to_string(), torus(0.3, 0.1, [24, 16]))]);
    for method in [Method::ImpulseStrips, Method::BackwardEuler, Method::Verlet] {
        let mut asked = scene(mesh_body("ring.obj"), 0.09, vec![]);
        (asked.solver.method, asked.solver.tolerance) = (method, 0.02);
        let mut simulation = taffeta_scene::simulation(&asked, &meshes).unwrap();
        assert!(simulation.certificate().cloth_body > 0, "{method:?}");
        for _ in 0..30 {
            simulation.step().unwrap();
            let strain = simulation.certificate().max_strain;
            assert!(strain < if method.keeps_lengths() { 0.02 } else { 0.2 }, "{method:?}: {strain}");
        }
        let left = simulation.certificate().cloth_body;
        assert_eq!(left, 0, "{method:?}");
    }
}

#[test]
fn what_is_through_a_surface_is_the_smaller_part() {
    // A strip of five squares along x, the wall across it between its second and third particles.
    let points: Vec<DVec3> =
        (0..12).map(|k| DVec3::new(f64::from(k / 2), f64::from(k % 2), 0.1 * f64::from(k % 2))).collect();
    let square = |k: u32| [[2 * k, 2 * k + 2, 2 * k + 1], [2 * k + 1, 2 * k + 2, 2 * k + 3]];
    let triangles: Vec<[u32; 3]> = (0..5).flat_map(square).collect();
    let wall = |x: f64| [[-9.0, -9.0], [9.0, -9.0], [0.0, 9.0]].map(|[y, z]| DVec3::new(x, y, z)).to_vec();
    // A roof whose ridge along y stands between two particles of one edge.
    let ridge = |y: f64, x: f64, z: f64| DVec3::new(x, y, z);
    let roof =
        vec![ridge(-9.0, 1.4, 1.0), ridge(9.0, 1.4, 1.0), ridge(0.5, 0.9, -5.0), ridge(0.5, 1.9, -5.0)];
    let pairs = |surface: &[DVec3], faces: &[[u32; 3]]| {
        let all = [
            Surface { positions: &points, triangles: &triangles },
            Surface { positions: surface, triangles: faces },
        ];
        let pairs = intersections_between_brute_force(all[0], all[1]);
        let [cloth, body] = all.map(|of| through::Mesh { points: of.positions, triangles: of.triangles });
        through::through(cloth, body, &pairs)
    };
    let found = pairs(&wall(1.5), &[[0, 1, 2]]);
    let face = |p: u32| ([p, 0, 1, 2], PairKind::PointTriangle);
    assert_eq!(found, [face(0), face(1), face(2), face(3)]);
    let found = pairs(&wall(3.5), &[[0, 1, 2]]);
    assert_eq!(found, [face(8), face(9), face(10), face(11)]);
    // Through both sides of the roof: both ends of the edges are outside, and they go back over the ridge.
    let found = pairs(&roof, &[[0, 1, 2], [1, 0, 3]]);
    assert!(!found.is_empty());
    for (points, kind) in found {
        assert_eq!((kind, &points[2..]), (PairKind::EdgeEdge, &[0, 1][..]));
        assert!(points[0] < 4 && points[1] >= 2, "{points:?}");
    }
}

#[test]
fn a_sequence_moves_straight_from_file_to_file_and_then_rests() {
    let meshes: BTreeMap<String, Mesh> =
        (1..=3).map(|k| (format!("ring-0{k}.obj"), torus(0.1 * f64::from(k), 0.05, [8, 6]))).collect();
    let mesh = taffeta_scene::build::surface(&sequence(3, 10.0), &meshes, "collider[0]").unwrap();
    assert!(mesh.deforms());
    let pose = Pose { position: DVec3::X, ..Pose::IDENTITY };
    for (time, radius) in
        [(-1.0, 0.1), (0.0, 0.1), (0.05, 0.15), (0.1, 0.2), (0.19, 0.29), (0.2, 0.3), (9.0, 0.3)]
    {
        let expected = torus(radius, 0.05, [8, 6]).positions;
        for (found, expected) in mesh.points(time, &pose).iter().zip(expected) {
            assert!(found.distance(expected + DVec3::X) < 1e-12, "{time}: {found}");
        }
    }
    // As it stands in a recording.
    let mut recorded = serde_json::to_value(Form::Mesh(mesh.clone())).unwrap();
    assert!(serde_json::from_value::<Form>(recorded.clone()).unwrap() == Form::Mesh(mesh));
    recorded["triangles"][0][2] = 48.into();
    assert!(serde_json::from_value::<Form>(recorded).is_err());
}

#[test]
fn what_cannot_be_a_body_is_refused_by_name() {
    let ring = torus(0.3, 0.05, [8, 6]);
    let one = |mesh: Mesh| BTreeMap::from([("ring.obj".to_string(), mesh)]);
    assert!(refused(mesh_body("other.obj"), &one(ring.clone())).reason.contains("not handed in"));

    let mut lost = ring.clone();
    lost.positions[7].y = f64::NAN;
    let fault = refused(mesh_body("ring.obj"), &one(lost));
    assert!(fault.reason.contains("point 7 is at [") && fault.value.contains("ring.obj"), "{fault:?}");
    let mut beyond = ring.clone();
    beyond.quads[0][2] = 48;
    assert!(refused(mesh_body("ring.obj"), &one(beyond)).reason.contains("names point 48 of 48"));
    let mut flat = ring.clone();
    flat.quads.clear();
    flat.triangles = vec![[0, 1, 0], [2, 2, 2]];
    assert!(refused(mesh_body("ring.obj"), &one(flat)).reason.contains("three different corners"));

    let two = |other: Mesh| {
        BTreeMap::from([("ring-01.obj".to_string(), ring.clone()), ("ring-02.obj".to_string(), other)])
    };
    let fault = refused(sequence(2, 25.0), &two(torus(0.3, 0.05, [6, 8])));
    assert!(fault.reason.contains("other points or faces than ring-01.obj"), "{fault:?}");
    assert!(fault.value.contains("ring-02.obj"));
    let mut far = ring.clone();
    far.positions.iter_mut().for_each(|p| p.x += 10.0);
    let fault = refused(sequence(2, 25.0), &two(far.clone()));
    assert!(fault.reason.contains("point 0 moves 10.000 m in 0.04 s"), "{fault:?}");
    assert!(taffeta_scene::build::surface(&sequence(2, 5.0), &two(far), "").is_ok());
}

#[test]
fn triangles_without_area_are_the_lines_that_they_are() {
    let mut mesh = torus(0.3, 0.05, [8, 6]);
    let (a, b) = (mesh.positions[0], mesh.positions[1]);
    mesh.positions.push(0.5 * (a + b));
    mesh.triangles = vec![[0, 1, 48], [0, 0, 1]];
    let meshes = BTreeMap::from([("ring.obj".to_string(), mesh)]);
    let mesh = taffeta_scene::build::surface(&mesh_body("ring.obj"), &meshes, "").unwrap();
    assert_eq!(mesh.triangles().len(), 2 * 48 + 1);
    let simulation = taffeta_scene::simulation(&scene(mesh_body("ring.obj"), 0.15, vec![]), &meshes).unwrap();
    let told = certify(simulation.model(), simulation.state());
    assert!((told.min_gap - 0.1).abs() < 2e-2 && told.cloth_body == 0, "{told:?}");
}

/// The least distance of two surfaces by all pairs of points and triangles, and of edges.
fn least_distance(a: Surface, b: Surface) -> f64 {
    let corners = |s: Surface, t: &[u32; 3]| t.map(|k| s.positions[k as usize]);
    let mut least = f64::INFINITY;
    for p in a.triangles.iter().map(|t| corners(a, t)) {
        for q in b.triangles.iter().map(|t| corners(b, t)) {
            let mut consider = |kind, points| least = least.min(closest(kind, &points).vector.length());
            for k in 0..3 {
                consider(PairKind::PointTriangle, [p[k], q[0], q[1], q[2]]);
                consider(PairKind::PointTriangle, [q[k], p[0], p[1], p[2]]);
                (0..3)
                    .for_each(|l| consider(PairKind::EdgeEdge, [p[k], p[(k + 1) % 3], q[l], q[(l + 1) % 3]]));
            }
        }
    }
    least
}

#[test]
fn gaps_and_intersections_agree_with_all_pairs() {
    let mut random = Random::new(17);
    let meshes = BTreeMap::from([("ring.obj".to_string(), torus(0.3, 0.1, [12, 8]))]);
    let mesh = taffeta_scene::build::surface(&mesh_body("ring.obj"), &meshes, "").unwrap();
    let (mut apart, mut crossing) = (0, 0);
    for _ in 0..40 {
        let mut number = |size: f64| random.between(-size, size);
        let position = DVec3::new(number(0.4), number(0.3), number(0.4));
        let ring = mesh.points(0.0, &Pose::from_degrees(position, DVec3::splat(number(90.0))));
        let sheet: Vec<DVec3> = (0..60).map(|_| DVec3::new(number(0.5), number(0.1), number(0.5))).collect();
        let triangles: Vec<[u32; 3]> = (0..20).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
        let cloth: Vec<DVec3> =
            sheet.iter().enumerate().map(|(k, p)| sheet[k / 3 * 3].lerp(*p, 0.2)).collect();
        let cloth = Surface { positions: &cloth, triangles: &triangles };
        let body = Surface { positions: &ring, triangles: mesh.triangles() };
        let told = against_mesh(cloth, body);
        let mut pairs: Vec<u32> =
            intersections_between_brute_force(cloth, body).iter().map(|p| p[0]).collect();
        pairs.dedup();
        assert_eq!(told.intersecting, pairs);
        let expected = if pairs.is_empty() { least_distance(cloth, body) } else { 0.0 };
        assert!((told.min_gap - expected).abs() < 1e-12, "{} {expected}", told.min_gap);
        if pairs.is_empty() { apart += 1 } else { crossing += 1 }
    }
    assert!(apart > 3 && crossing > 3, "{apart} {crossing}");
    let lost = [DVec3::ZERO, DVec3::X, DVec3::NAN];
    let body = Surface { positions: &lost, triangles: &[[0, 1, 2]] };
    let far = Surface { positions: &[DVec3::Y, DVec3::Z, DVec3::ONE], triangles: &[[0, 1, 2]] };
    assert_eq!(against_mesh(far, body).min_gap, f64::NEG_INFINITY);
}
