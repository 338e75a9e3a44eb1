//! Bodies that move and deform: they carry what lies on them, lead what is pinned to them, and pinch without harm.

use crate::common::{centre, mesh_body, simulation};
use std::collections::BTreeMap;
use taffeta::Simulation;
use taffeta::check::certify;
use taffeta::math::{DVec3, Pose, trig};
use taffeta::model::Form;
use taffeta_scene::{
    BoxShape, CapsuleShape, Cloth, Collider, Keyframe, Mannequin, Mesh, MeshBody, Method, Pin, Scene,
    Sequence, Sheet, Side, SphereShape, Walk,
};

fn key(time: f64, shift: [f64; 3], turn: [f64; 3]) -> Keyframe {
    Keyframe { time, shift, turn, ease: Default::default() }
}

fn sheet(side: f64, count: u32, height: f64) -> Cloth {
    let sheet = Sheet { width: side, height: side, columns: count, rows: count, slack: 1.0 };
    Cloth { sheet: Some(sheet), position: [0.0, height, 0.0], ..Cloth::default() }
}

/// A body whose points are those of `grid` at every one of `last` moments, 30 in a second.
fn sequence(last: u32) -> MeshBody {
    let sequence = Some(Sequence { first: 1, last, rate: 30.0 });
    MeshBody { thickness: 1e-3, sequence, ..mesh_body("body-###.obj") }
}

fn moments(last: u32, at: impl Fn(f64) -> Mesh) -> BTreeMap<String, Mesh> {
    (1..=last).map(|k| (format!("body-{k:03}.obj"), at(f64::from(k - 1) / 30.0))).collect()
}

/// A floor of 2 m that waves and moves along x at half a metre in a second, once it has set out.
fn floor(time: f64) -> Mesh {
    let mut mesh = Mesh::default();
    let count = 17;
    let way = if time < 0.4 { 0.625 * time * time } else { 0.1 + 0.5 * (time - 0.4) };
    for i in 0..count {
        for j in 0..count {
            let [x, z] = [i, j].map(|k| f64::from(k) / f64::from(count - 1) * 2.0 - 1.0);
            let y = 0.01 * trig::sin(6.0 * x + 5.0 * time) + 0.01 * trig::sin(5.0 * z - 3.0 * time);
            mesh.positions.push(DVec3::new(x + way, y, z));
            if i + 1 < count && j + 1 < count {
                let at = |i: u32, j: u32| i * count + j;
                mesh.quads.push([at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)]);
            }
        }
    }
    mesh
}

#[test]
fn cloth_that_lies_on_a_floor_that_moves_and_deforms_is_carried_along() {
    let meshes = moments(60, floor);
    for method in [Method::Verlet, Method::BackwardEuler, Method::ImpulseStrips] {
        let mut cloth = sheet(0.5, 11, 0.03);
        cloth.fabric = "denim".into();
        let mut scene = Scene { cloth: vec![cloth], ..Scene::default() };
        scene.collider =
            vec![Collider { mesh: Some(sequence(60)), friction: Some(1.0), ..Collider::default() }];
        scene.solver.method = method;
        let mut simulation = taffeta_scene::simulation(&scene, &meshes).unwrap();
        let mut pinched = 0;
        for _ in 0..45 {
            pinched += simulation.step().unwrap().ccd.pinched;
        }
        // 1.5 s: the floor has come 0.65 m.
        let (at, told) = (centre(&simulation), certify(simulation.model(), simulation.state()));
        assert_eq!((pinched, told.cloth_body, told.cloth_cloth), (0, 0, 0), "{}", method.name());
        assert!(at.x > 0.6 && at.x < 0.68, "{}: {at}", method.name());
        let speed = simulation.state().velocities.iter().map(|v| v.x).sum::<f64>() / 121.0;
        assert!((speed - 0.5).abs() < 0.1, "{}: {speed} m/s", method.name());
        assert!(told.min_gap > 0.0 && at.y > -0.02, "{}: {at}", method.name());
    }
}

#[test]
fn pins_follow_a_body_on_keyframes() {
    for method in Method::ALL {
        let mut cloth = sheet(0.2, 5, 0.3);
        cloth.pin = vec![
            Pin { sides: vec![Side::Left], on: Some("ball".into()), ..Pin::default() },
            Pin { vertices: vec![14], ..Pin::default() },
        ];
        let mut scene = Scene { cloth: vec![cloth], ..Scene::default() };
        scene.solver.method = *method;
        scene.collider = vec![Collider {
            name: "ball".into(),
            sphere: Some(SphereShape { radius: 0.1 }),
            keyframe: vec![key(0.0, [0.0; 3], [0.0; 3]), key(1.0, [0.05, 0.0, 0.02], [0.0, 0.0, 40.0])],
            ..Collider::default()
        }];
        let mut simulation = simulation(&scene);
        let start = simulation.state().positions.clone();
        for _ in 0..15 {
            simulation.step().unwrap();
        }
        let pose = simulation.model().colliders[0].pose(0.5);
        for row in 0..5 {
            let (now, want) = (simulation.state().positions[5 * row], pose.to_world(start[5 * row]));
            assert!(now.distance(want) < 1e-12, "{}: {now} and not {want}", method.name());
        }
        assert_eq!(simulation.state().positions[14], start[14], "the other pin rests");
    }
}

/// A mannequin that walks, and a ring of cloth around its waist.
fn belt(method: Method, pin: Pin) -> Scene {
    let tube = taffeta_scene::Tube { radius: 0.135, length: 0.06, segments: 40, rows: 4 };
    let cloth = Cloth { tube: Some(tube), position: [0.0, 1.10, 0.004], pin: vec![pin], ..Cloth::default() };
    let walk = Some(Walk { start: 0.0, duration: 3.0, ..Walk::default() });
    let body = Mannequin { detail: 40, walk, ..Mannequin::default() };
    let mut scene = Scene { cloth: vec![cloth], ..Scene::default() };
    scene.collider = vec![Collider { name: "body".into(), mannequin: Some(body), ..Collider::default() }];
    scene.solver.method = method;
    scene
}

#[test]
fn pins_keep_their_place_over_the_skin_of_a_body_that_deforms() {
    let pin = Pin { sides: vec![Side::Upper], on: Some("body".into()), ..Pin::default() };
    for method in [Method::Verlet, Method::BackwardEuler, Method::ImpulseIterative] {
        let mut simulation = simulation(&belt(method, pin.clone()));
        let count = simulation.model().particle_count();
        let upper: Vec<usize> = (count - 40..count).collect();
        let skin = |simulation: &Simulation| match &simulation.model().colliders[0].form {
            Form::Mesh(mesh) => {
                (mesh.points(simulation.state().time, &Pose::IDENTITY), mesh.triangles().to_vec())
            }
            Form::Closed(_) => panic!("a mesh"),
        };
        // The slow twin: nearest triangles by all pairs, the point in their axes. Where an edge is nearest, both of its triangles are.
        let (points, triangles) = skin(&simulation);
        let seats: Vec<Vec<([usize; 3], [f64; 3])>> = upper
            .iter()
            .map(|k| {
                let p = simulation.state().positions[*k];
                let corners = |t: &[u32; 3]| t.map(|c| points[c as usize]);
                let far = |t: &[u32; 3]| {
                    let [a, b, c] = corners(t);
                    taffeta::collide::ccd::distance::closest(
                        taffeta::collide::ccd::distance::PairKind::PointTriangle,
                        &[p, a, b, c],
                    )
                    .vector
                    .length()
                };
                let nearest = triangles.iter().map(far).fold(f64::INFINITY, f64::min);
                let seat = |t: &[u32; 3]| {
                    let [a, b, c] = corners(t);
                    let axes =
                        taffeta::math::DMat3::from_cols(b - a, c - a, (b - a).cross(c - a).normalize());
                    (t.map(|c| c as usize), (axes.inverse() * (p - a)).to_array())
                };
                triangles.iter().filter(|t| far(t) <= nearest + 1e-12).map(seat).collect()
            })
            .collect();
        for _ in 0..45 {
            simulation.step().unwrap();
        }
        let (points, _) = skin(&simulation);
        for (k, seats) in upper.iter().zip(seats) {
            let now = simulation.state().positions[*k];
            let off = |(corners, [u, v, h]): &([usize; 3], [f64; 3])| {
                let [a, b, c] = corners.map(|c| points[c]);
                let want = a + u * (b - a) + v * (c - a) + h * (b - a).cross(c - a).normalize();
                now.distance(want)
            };
            let off = seats.iter().map(off).fold(f64::INFINITY, f64::min);
            assert!(off < 1e-9, "{}: off by {off}", method.name());
        }
        let told = certify(simulation.model(), simulation.state());
        assert_eq!(told.cloth_body, 0, "{}", method.name());
        assert!(centre(&simulation).z > 0.3, "{}: it goes along", method.name());
    }
}

#[test]
fn pins_reach_as_far_as_they_are_told() {
    let all = Pin { on: Some("body".into()), within: Some(0.02), ..Pin::default() };
    let model = |pin: Pin| simulation(&belt(Method::Verlet, pin)).model().clone();
    let near = model(all.clone());
    // The waist is 0.126 m wide and 0.094 m deep: the sides are near, front and back are not.
    let held = &near.pins[0].particles;
    assert!(held.len() > 20 && held.len() < 120, "{}", held.len());
    assert!(held.contains(&10) && !held.contains(&0), "{held:?}");
    let named = model(Pin { sides: vec![Side::Upper], ..all.clone() });
    let expected: Vec<u32> = held.iter().copied().filter(|p| *p >= 120).collect();
    assert_eq!(named.pins[0].particles, expected);
    let Err(faults) = taffeta_scene::simulation(
        &belt(Method::Verlet, Pin { within: Some(1e-4), ..all }),
        &Default::default(),
    ) else {
        panic!("taken")
    };
    assert_eq!(faults[0].key, "cloth[0].pin[0].within");
    assert!(faults[0].reason.contains("the nearest is 0.00"), "{}", faults[0]);
}

/// Cloth that is let go of snaps back at a few metres in a second; what explodes is a hundred times faster.
const SNAP: f64 = 10.0;

/// How a run between bodies that close and open again went: pairs pinched in all, largest speed [m/s], and the last certificate.
fn squeeze(
    scene: &Scene,
    meshes: &BTreeMap<String, Mesh>,
    frames: u32,
) -> (u32, f64, taffeta::check::Certificate) {
    let mut simulation = taffeta_scene::simulation(scene, meshes).unwrap();
    let (mut pinched, mut fastest): (u32, f64) = (0, 0.0);
    for _ in 0..frames {
        let report = simulation.step().unwrap();
        assert_eq!(
            report.ccd.pinched > 0,
            matches!(report.shortfall, Some(taffeta::step::Shortfall::Pinched { .. }))
        );
        pinched += report.ccd.pinched;
        fastest = simulation.state().velocities.iter().fold(fastest, |most, v| most.max(v.length()));
    }
    (pinched, fastest, certify(simulation.model(), simulation.state()))
}

#[test]
fn capsules_that_close_on_a_sheet_pinch_it_and_do_no_harm() {
    for method in [Method::Verlet, Method::BackwardEuler, Method::ImpulseStrips] {
        let mut cloth = sheet(0.6, 13, 0.0);
        cloth.pin = vec![Pin { sides: vec![Side::Left, Side::Right], ..Pin::default() }];
        let mut scene = Scene { cloth: vec![cloth], gravity: [0.0; 3], ..Scene::default() };
        scene.solver.method = method;
        let jaw = |sign: f64| Collider {
            capsule: Some(CapsuleShape { radius: 0.05, length: 0.3 }),
            position: [0.0, sign * 0.07, 0.0],
            rotation: [90.0, 0.0, 0.0],
            keyframe: vec![
                key(0.0, [0.0; 3], [0.0; 3]),
                key(0.3, [0.0, -sign * 0.03, 0.0], [0.0; 3]),
                key(0.6, [0.0; 3], [0.0; 3]),
            ],
            ..Collider::default()
        };
        scene.collider = vec![jaw(1.0), jaw(-1.0)];
        let (pinched, fastest, last) = squeeze(&scene, &BTreeMap::new(), 36);
        assert!(pinched > 0, "{}", method.name());
        assert!(fastest < SNAP && last.max_strain < 0.05, "{}: {fastest} m/s, {last:?}", method.name());
        assert_eq!(last.cloth_body, 0, "{}: {last:?}", method.name());
    }
}

/// An arm that closes on a trunk and opens again: two boxes in one mesh, whose gap goes below nothing.
fn arm_and_trunk(time: f64) -> Mesh {
    let gap = if time < 0.4 { 0.03 - 0.1 * time } else { -0.01 + 0.1 * (time - 0.4).min(0.4) };
    let mut mesh = Mesh::default();
    for side in [1.0, -1.0] {
        for k in 0..8_u32 {
            let [x, y, z] = [k & 1, k >> 1 & 1, k >> 2].map(f64::from);
            mesh.positions.push(DVec3::new(0.3 * x - 0.15, side * (0.5 * gap + 0.1 * y), 0.3 * z - 0.15));
        }
        let first = mesh.positions.len() as u32 - 8;
        let faces = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        mesh.quads.extend(faces.map(|quad| quad.map(|k| k + first)));
    }
    mesh
}

#[test]
fn a_body_that_closes_on_itself_pinches_cloth_and_does_no_harm() {
    let meshes = moments(30, arm_and_trunk);
    for method in [Method::Verlet, Method::BackwardEuler, Method::ImpulseStrips] {
        let mut cloth = sheet(0.6, 13, 0.0);
        cloth.pin = vec![Pin { sides: vec![Side::Left, Side::Right], ..Pin::default() }];
        let mut scene = Scene { cloth: vec![cloth], gravity: [0.0; 3], ..Scene::default() };
        scene.solver.method = method;
        scene.collider = vec![Collider { mesh: Some(sequence(30)), ..Collider::default() }];
        let (pinched, fastest, last) = squeeze(&scene, &meshes, 36);
        assert!(pinched > 0, "{}", method.name());
        assert!(fastest < SNAP && last.max_strain < 0.05, "{}: {fastest} m/s, {last:?}", method.name());
    }
}

#[test]
fn a_box_of_closed_form_leads_pins_by_distance_too() {
    let mut cloth = sheet(0.4, 9, 0.06);
    cloth.pin = vec![Pin { on: Some("box".into()), within: Some(0.011), ..Pin::default() }];
    let mut scene = Scene { cloth: vec![cloth], ..Scene::default() };
    let cuboid = Some(BoxShape { size: [0.2, 0.1, 0.2] });
    scene.collider = vec![Collider { name: "box".into(), cuboid, ..Collider::default() }];
    let simulation = simulation(&scene);
    // 0.01 m above the box: what is over it, and no further out than its rim.
    assert_eq!(simulation.model().pins[0].particles.len(), 25);
}
