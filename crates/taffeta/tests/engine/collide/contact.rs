//! Nothing passes through anything: every frame of every scene is judged by the certificate, and every motion by brute force.

use crate::common::{run, simulation};
use taffeta::collide::broad_phase::candidates::{Pair, PairKind};
use taffeta::collide::ccd::time_of_impact::{TimeOfImpact, time_of_impact};
use taffeta::collide::contact::projection::{self, FeatureContact};
use taffeta::collide::surface::CollisionSurface;
use taffeta::math::DVec3;
use taffeta::step::StepReport;
use taffeta::{Simulation, model::Model};
use taffeta_scene::{
    BoxShape, CapsuleShape, Cloth, Collider, Keyframe, Method, Pin, PlaneShape, Scene, Sheet, Side, Solver,
    SphereShape,
};

fn sheet(count: u32, height: f64, turned: f64) -> Cloth {
    let sheet = Sheet { width: 0.6, height: 0.6, columns: count, rows: count, slack: 1.0 };
    Cloth {
        fabric: "cotton".into(),
        position: [0.0, height, 0.0],
        rotation: [0.0, turned, 0.0],
        sheet: Some(sheet),
        ..Cloth::default()
    }
}

/// So many particles along a side in long runs, for finer folds; two thirds of them else, or half for secants, whose sub-steps cost a dozen evaluations
/// of all forces.
fn along(method: Method, count: u32) -> u32 {
    match method {
        Method::Bdf2Secant => count.div_ceil(2),
        _ if testing::long() => count,
        _ => (2 * count).div_ceil(3),
    }
}

fn scene(method: Method, cloth: Vec<Cloth>, collider: Vec<Collider>) -> Scene {
    let solver = Solver { method, tolerance: 0.02, ..Solver::default() };
    Scene { solver, cloth, collider, ..Scene::default() }
}

fn key(time: f64, shift: [f64; 3], turn: [f64; 3]) -> Keyframe {
    Keyframe { time, shift, turn, ease: Default::default() }
}

fn ball(position: [f64; 3], radius: f64) -> Collider {
    Collider { position, sphere: Some(SphereShape { radius }), friction: Some(0.3), ..Collider::default() }
}

fn cuboid(position: [f64; 3], size: [f64; 3]) -> Collider {
    Collider { position, cuboid: Some(BoxShape { size }), friction: Some(0.3), ..Collider::default() }
}

/// A sheet over a box: edges and corners of the box against faces and edges of the cloth.
fn over_a_box(method: Method) -> Scene {
    let mut body = cuboid([0.0, 0.0, 0.0], [0.25, 0.3, 0.25]);
    body.rotation = [0.0, 20.0, 0.0];
    scene(method, vec![sheet(along(method, 14), 0.17, 0.0)], vec![body])
}

/// Sheets one above the other fall on a ball and on the ground.
fn stack(method: Method) -> Scene {
    let count = along(method, 9);
    let sheets = (0..4).map(|k| sheet(count, 0.22 + 0.01 * f64::from(k), 17.0 * f64::from(k))).collect();
    let ground = Collider { position: [0.0, -0.1, 0.0], plane: Some(PlaneShape {}), ..Collider::default() };
    scene(method, sheets, vec![ball([0.0; 3], 0.2), ground])
}

/// A sheet whose ends are turned against each other.
fn twist(method: Method) -> Scene {
    let (columns, rows) = (along(method, 19), along(method, 7));
    let strip = Sheet { width: 0.6, height: 0.2, columns, rows, slack: 0.9 };
    let mut cloth = Cloth { sheet: Some(strip), ..sheet(columns, 0.0, 0.0) };
    let end = |side, turn: f64| Pin {
        sides: vec![side],
        keyframe: vec![key(0.0, [0.0; 3], [0.0; 3]), key(1.0, [0.0; 3], [turn, 0.0, 0.0])],
        ..Pin::default()
    };
    cloth.pin = vec![end(Side::Left, 270.0), end(Side::Right, -270.0)];
    scene(method, vec![cloth], vec![])
}

/// A thin capsule is driven into a sheet that is held at two sides.
fn needle(method: Method) -> Scene {
    let mut cloth = sheet(along(method, 13), 0.0, 0.0);
    cloth.sheet.iter_mut().for_each(|sheet| sheet.slack = 0.9);
    cloth.pin = vec![Pin { sides: vec![Side::Left, Side::Right], ..Pin::default() }];
    let needle = Collider {
        position: [0.03, 0.25, 0.02],
        capsule: Some(CapsuleShape { radius: 0.004, length: 0.3 }),
        keyframe: vec![key(0.0, [0.0; 3], [0.0; 3]), key(1.0, [0.0, -0.23, 0.0], [0.0; 3])],
        ..Collider::default()
    };
    scene(method, vec![cloth], vec![needle])
}

/// A sheet is pulled over the edge of a box.
fn dragged(method: Method) -> Scene {
    let mut cloth = sheet(along(method, 13), 0.16, 0.0);
    cloth.pin = vec![Pin {
        sides: vec![Side::Right],
        keyframe: vec![key(0.2, [0.0; 3], [0.0; 3]), key(1.0, [0.3, -0.25, 0.0], [0.0; 3])],
        ..Pin::default()
    }];
    scene(method, vec![cloth], vec![cuboid([0.0, 0.0, 0.0], [0.3, 0.3, 0.7])])
}

/// A ball as fast as a thrown one hits a hanging sheet.
fn fast_ball(method: Method) -> Scene {
    let count = along(method, 13);
    let mut cloth = sheet(count, 0.0, 0.0);
    cloth.rotation = [90.0, 0.0, 0.0];
    cloth.pin = vec![Pin { vertices: vec![0, count - 1], ..Pin::default() }];
    let mut thrown = ball([0.0, 0.0, 0.5], 0.05);
    thrown.keyframe = vec![key(0.0, [0.0; 3], [0.0; 3]), key(0.2, [0.0, 0.0, -1.6], [0.0; 3])];
    scene(method, vec![cloth], vec![thrown])
}

/// How many pairs of features of cloth are not shown apart all along the straight motion between two states.
fn crossings(model: &Model, from: &[DVec3], to: &[DVec3]) -> usize {
    let mut edges: Vec<[u32; 2]> = Vec::new();
    for t in &model.triangles {
        edges.extend((0..3).map(|k| [t[k].min(t[(k + 1) % 3]), t[k].max(t[(k + 1) % 3])]));
    }
    edges.sort_unstable();
    edges.dedup();
    // What a plane across an axis parts all the time does not meet.
    let parted = |first: &[u32], second: &[u32]| {
        let range = |points: &[u32]| {
            let places = points.iter().flat_map(|p| [from[*p as usize], to[*p as usize]]);
            places.fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[l, h], x| [l.min(x), h.max(x)])
        };
        let ([l, h], [m, i]) = (range(first), range(second));
        h.cmplt(m).any() || i.cmplt(l).any()
    };
    let meets = |kind, points: [u32; 4]| {
        let of = |x: &[DVec3]| points.map(|p| x[p as usize]);
        let (first, second) = points.split_at(if kind == PairKind::EdgeEdge { 2 } else { 1 });
        !parted(first, second) && time_of_impact(kind, &of(from), &of(to), 0.0) != TimeOfImpact::Free
    };
    let mut count = 0;
    for p in 0..from.len() as u32 {
        let others = model.triangles.iter().filter(|t| !t.contains(&p));
        count += others.filter(|t| meets(PairKind::PointTriangle, [p, t[0], t[1], t[2]])).count();
    }
    for (k, [a, b]) in edges.iter().enumerate() {
        let others = edges[k + 1..].iter().filter(|e| !e.contains(a) && !e.contains(b));
        count += others.filter(|[c, d]| meets(PairKind::EdgeEdge, [*a, *b, *c, *d])).count();
    }
    count
}

type Make = fn(Method) -> Scene;

const SCENES: &[(&str, Make, u32)] = &[
    ("over a box", over_a_box, 24),
    ("stack", stack, 14),
    ("twist", twist, 36),
    ("needle", needle, 34),
    ("dragged", dragged, 32),
    ("fast ball", fast_ball, 12),
];

fn step(simulation: &mut Simulation) -> StepReport {
    simulation.step().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn no_frame_of_any_scene_has_an_intersection() {
    for method in Method::ALL {
        for (name, make, frames) in SCENES {
            let mut simulation = simulation(&make(*method));
            let (mut worst, mut met, mut kept): (f64, u32, u32) = (0.0, 0, 0);
            for frame in 1..=*frames {
                let report = step(&mut simulation);
                let told = simulation.certificate();
                worst = worst.max(told.max_strain);
                let at = format!("{name}, {}, frame {frame}: {:?}", method.name(), report.ccd);
                assert_eq!((told.cloth_cloth, told.cloth_body), (0, 0), "{at}");
                assert_eq!(report.ccd.pinched, 0, "{at}");
                let held = told.max_strain <= simulation.model().tolerance;
                // Only impulses promise lengths.
                let promised = method.keeps_lengths() && report.converged;
                assert!(held || !promised, "{at}: {}", told.max_strain);
                met += report.contacts + report.ccd.hits;
                kept += u32::from(report.converged);
            }
            let told = format!("{name}, {}: {met} met, {kept} of {frames} converged", method.name());
            eprintln!("{told}, largest strain {worst:.4}");
            assert!(met > 0, "{told}");
            assert!(!method.keeps_lengths() || 2 * kept > *frames, "{told}");
        }
    }
}

#[test]
fn nothing_crosses_between_frames() {
    // Long runs go on until much lies on one another.
    let (steps, every) = if testing::long() { (600, 60) } else { (150, 30) };
    for method in Method::ALL {
        for make in [twist as Make, stack] {
            let mut scene = make(*method);
            // Steps so short that each is one window; ends that are turned four times as fast meet within fewer.
            scene.frame_time = 1.0 / 960.0;
            if !testing::long() {
                let moments = scene.cloth[0].pin.iter_mut().flat_map(|pin| &mut pin.keyframe);
                moments.for_each(|moment| moment.time /= 4.0);
            }
            let mut simulation = simulation(&scene);
            let mut met = 0;
            for number in 0..steps {
                let from = simulation.state().positions.clone();
                let report = step(&mut simulation);
                met += report.contacts + report.ccd.hits;
                if number % every == every - 1 {
                    let crossing = crossings(simulation.model(), &from, &simulation.state().positions);
                    assert_eq!(crossing, 0, "{} step {number}", method.name());
                }
            }
            assert!(met > 0, "{}: nothing met", method.name());
        }
    }
}

#[test]
fn the_thread_count_changes_no_bit_of_what_touches() {
    // More frames and thread counts are for long runs.
    let (frames, counts) = if testing::long() { (10, &[2, 3][..]) } else { (4, &[3][..]) };
    for method in Method::ALL {
        let hash = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut simulation = simulation(&stack(*method));
            let met: u32 = pool.install(|| {
                let reports = (0..frames).map(|_| step(&mut simulation));
                reports.map(|report| report.contacts + report.ccd.hits).sum()
            });
            assert!(met > 0, "{}: nothing touches", method.name());
            simulation.state().hash()
        };
        let alone = hash(1);
        assert!(counts.iter().all(|threads| hash(*threads) == alone), "{}", method.name());
    }
}

#[test]
fn what_starts_tangled_comes_apart() {
    for method in [Method::ImpulseStrips, Method::BackwardEuler, Method::Verlet] {
        // A corner of the upper sheet pokes through the lower one.
        let (mut lower, mut upper) = (sheet(13, 0.0, 0.0), sheet(13, 0.03, 0.0));
        lower.pin = vec![Pin { sides: vec![Side::Left, Side::Right], ..Pin::default() }];
        (upper.position[0], upper.rotation) = (0.05, [14.0, 0.0, 17.0]);
        let mut simulation = simulation(&scene(method, vec![lower, upper], vec![]));
        let mut counts = vec![simulation.certificate().cloth_cloth];
        for _ in 0..30 {
            let report = simulation.step().unwrap();
            let told = simulation.certificate();
            counts.push(told.cloth_cloth);
            // It comes apart by bending alone.
            let promised = method.keeps_lengths() && report.converged;
            let held = told.max_strain <= simulation.model().tolerance;
            assert!(held || !promised, "{}: {}", method.name(), told.max_strain);
        }
        eprintln!("{}: {counts:?}", method.name());
        assert!(counts[0] > 0 && counts[30] == 0, "{}: {counts:?}", method.name());
    }
}

#[test]
fn what_starts_tangled_is_told_and_does_not_lock() {
    for method in [Method::ImpulseStrips, Method::Verlet] {
        // Two sheets cross, one standing and one lying.
        let (mut lying, mut standing) = (sheet(9, 0.0, 0.0), sheet(9, 0.05, 0.0));
        lying.pin = vec![Pin { sides: vec![Side::Left, Side::Right], ..Pin::default() }];
        standing.rotation = [90.0, 0.0, 7.0];
        let mut simulation = simulation(&scene(method, vec![lying, standing], vec![]));
        let before = simulation.certificate().cloth_cloth;
        let height = crate::common::centre(&simulation).y;
        run(&mut simulation, 20.0 / 30.0);
        assert!(before > 0 && crate::common::centre(&simulation).y < height - 0.05, "{}", method.name());
    }
}

#[test]
fn what_starts_below_the_ground_rises_slowly() {
    for method in Method::ALL {
        let ground = Collider { plane: Some(PlaneShape {}), ..Collider::default() };
        let mut simulation = simulation(&scene(*method, vec![sheet(6, -0.06, 0.0)], vec![ground]));
        let (mut before, most) = (simulation.state().positions.clone(), 1.5 * 0.2 / 30.0);
        for _ in 0..20 {
            simulation.step().unwrap();
            let now = &simulation.state().positions;
            let leap = now.iter().zip(&before).map(|(x, y)| x.y - y.y).fold(f64::NEG_INFINITY, f64::max);
            assert!(leap < most, "{}: {leap} m in a step", method.name());
            before.clone_from(now);
        }
        let lowest = before.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
        assert!((0.0..5e-3).contains(&lowest), "{}: {lowest} m", method.name());
        assert_eq!(simulation.certificate().cloth_body, 0, "{}", method.name());
    }
}

#[test]
fn what_starts_cut_by_a_solid_comes_out_of_it() {
    // Cells are too large to be met by their corners alone.
    for (solid, count, height) in [(ball([0.0; 3], 0.1), 12, 0.06), (cuboid([0.0; 3], [0.2; 3]), 24, 0.095)] {
        for method in [Method::ImpulseStrips, Method::Verlet] {
            let solid = vec![solid.clone()];
            let mut simulation = simulation(&scene(method, vec![sheet(count, height, 0.0)], solid));
            assert!(simulation.certificate().cloth_body > 0);
            for _ in 0..30 {
                simulation.step().unwrap();
                let strain = simulation.certificate().max_strain;
                assert!(strain < 0.05, "{}: {strain}", method.name());
            }
            assert_eq!(simulation.certificate().cloth_body, 0, "{}", method.name());
        }
    }
}

#[test]
fn what_is_beside_a_led_point_is_not_thrown() {
    let sheets = vec![sheet(2, 0.0, 0.0), sheet(2, 0.1, 0.0)];
    let model = simulation(&scene(Method::ImpulseStrips, sheets, vec![])).model().clone();
    let surface = CollisionSurface::new(&model);
    // An edge whose first end is held crosses a held one right beside that end.
    let pair = Pair { kind: PairKind::EdgeEdge, points: [0, 1, 4, 5] };
    let over = |z: f64| DVec3::new(0.01, 1e-4, z);
    let at = [DVec3::ZERO, DVec3::X, over(-0.5), over(0.5)];
    let mut inverse_mass = vec![0.0; model.particle_count()];
    inverse_mass[1] = 1000.0;
    let mut contact = FeatureContact::learn(&surface, &pair, &at, &inverse_mass).unwrap();
    let furthest = |contact: &FeatureContact| {
        contact.moves.iter().chain(&contact.drags).fold(0.0, |most: f64, way| most.max(way.abs()))
    };
    assert!((1.0..=4.001).contains(&furthest(&contact)), "{} times", furthest(&contact));
    contact.stand(projection::Side::First, &inverse_mass);
    assert!(
        (1.0..=4.001).contains(&furthest(&contact)),
        "{} times where the other stands",
        furthest(&contact)
    );
}
