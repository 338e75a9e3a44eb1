//! Garments: panels cut as drawn, seams that close and hold under every method, the same bits on every number of threads.

use crate::common::{run, simulation};
use taffeta::check::seam_opening;
use taffeta::forces::{self, gather};
use taffeta::math::{DVec3, Vec4};
use taffeta::solve::strips::parts;
use taffeta::step::{Shortfall, momentum};
use taffeta::{Simulation, model};
use taffeta_scene::{
    Air, CapsuleShape, Collider, Contact, Dart, Garment, GarmentPin, Method, Panel, PanelEdge, PanelPlace,
    Scene, Seam, Solver, Wrap,
};

/// A rectangle with its lower left corner at the origin of the drawing.
fn rectangle(name: &str, width: f64, height: f64) -> Panel {
    let edge = |name: &str, to: [f64; 2]| PanelEdge { name: name.into(), to, ..PanelEdge::default() };
    Panel {
        name: name.into(),
        start: [0.0, 0.0],
        edge: vec![
            edge("lower", [width, 0.0]),
            edge("right", [width, height]),
            edge("upper", [0.0, height]),
            edge("left", [0.0, 0.0]),
        ],
        ..Panel::default()
    }
}

fn seam(first: &str, second: &str) -> Seam {
    Seam { join: [first.into(), second.into()], ..Seam::default() }
}

/// A garment in a vacuum without gravity.
fn scene(method: Method, garment: Garment) -> Scene {
    Scene {
        gravity: [0.0; 3],
        air: Air { density: 0.0, ..Air::default() },
        solver: Solver { method, tolerance: 0.01, ..Solver::default() },
        contact: Contact { cloth_cloth: true },
        garment: vec![garment],
        ..Scene::default()
    }
}

/// Two panels one above the other, 6 cm apart, to be sewn in a fifth of a second.
fn two_panels(method: Method) -> Scene {
    let upper = Panel { position: [0.0, 0.06, 0.0], ..rectangle("upper", 0.2, 0.2) };
    let lower = Panel { position: [0.0, -0.2, 0.0], ..rectangle("lower", 0.2, 0.2) };
    scene(
        method,
        Garment {
            // Sub-steps of secants cost a dozen evaluations of all forces.
            edge_length: if method == Method::Bdf2Secant { 0.04 } else { 0.02 },
            sewing: 0.2,
            panel: vec![upper, lower],
            seam: vec![seam("upper.lower", "lower.upper")],
            ..Garment::default()
        },
    )
}

fn opening(simulation: &Simulation) -> f64 {
    seam_opening(simulation.model(), simulation.state()).expect("a seam")
}

#[test]
fn a_rectangle_is_a_grid_and_a_curve_keeps_its_area() {
    let built = simulation(&two_panels(Method::Verlet));
    let model = built.model();
    assert_eq!(model.particle_count(), 2 * 11 * 11);
    assert_eq!(model.links.ends.len(), 11);
    assert!(model.rest_lengths.iter().all(|l| (l - 0.02).abs() < 1e-12), "square cells");
    assert!(model.links.start_length.iter().all(|l| (l - 0.06).abs() < 1e-12));

    // A lens: the quadratic with its control point h above a chord c encloses 2/3 of c h/2 on each side.
    let edge = |name: &str, to: [f64; 2], via: [f64; 2]| PanelEdge {
        name: name.into(),
        to,
        via: vec![via],
        ..PanelEdge::default()
    };
    let lens = Panel {
        edge: vec![edge("lower", [0.4, 0.0], [0.2, -0.2]), edge("upper", [0.0, 0.0], [0.2, 0.2])],
        ..rectangle("lens", 0.4, 0.1)
    };
    let built = simulation(&scene(
        Method::Verlet,
        Garment { edge_length: 0.01, panel: vec![lens], ..Garment::default() },
    ));
    let model = built.model();
    let area: f64 = model.mass.iter().sum::<f64>() / (1e-3 * model.cloths[0].fabric.density);
    let want = 2.0 * 2.0 / 3.0 * 0.4 * 0.1;
    assert!((area / want - 1.0).abs() < 2e-3, "{area} {want}");
    let shortest = model.rest_lengths.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(shortest > 0.004 && model.cloths[0].longest_edge < 0.03, "{shortest}");
}

#[test]
fn the_warp_goes_where_it_is_drawn() {
    let along = |warp: f64| {
        let panel = Panel { warp, ..rectangle("p", 0.2, 0.1) };
        let scene = scene(Method::Verlet, Garment { panel: vec![panel], ..Garment::default() });
        let built = simulation(&scene);
        // How far the material reaches along the warp.
        let u = built.model().material.iter().map(|uv| uv[0]);
        u.clone().fold(f64::NEG_INFINITY, f64::max) - u.fold(f64::INFINITY, f64::min)
    };
    assert!((along(90.0) - 0.1).abs() < 1e-12 && (along(0.0) - 0.2).abs() < 1e-12);
    assert!((along(45.0) - 0.3 / 2f64.sqrt()).abs() < 1e-12);
}

#[test]
fn seams_of_unlike_edges_have_as_many_stitches_on_both_sides() {
    let mut garment = two_panels(Method::Verlet).garment.remove(0);
    garment.panel[1] = Panel { position: [0.0, -0.2, 0.0], ..rectangle("lower", 0.23, 0.2) };
    garment.ease = 0.2;
    assert_eq!(garment.easings().len(), 1);
    let built = simulation(&scene(Method::Verlet, garment.clone()));
    assert_eq!(built.model().links.ends.len(), 13, "those of the longer edge");
    garment.ease = 0.1;
    let faults = taffeta_scene::simulation(&scene(Method::Verlet, garment), &Default::default()).unwrap_err();
    assert!(faults[0].reason.contains("`upper.lower` has 0.2000 m and `lower.upper` 0.2300 m"), "{faults:?}");
}

#[test]
fn a_wrapped_panel_lies_on_its_cylinder_and_a_dart_closes() {
    let wrap = Wrap { radius: 0.05, angle: 90.0 };
    let mut panel = Panel { wrap: Some(wrap), position: [0.0, 1.0, 0.0], ..rectangle("tube", 0.3, 0.2) };
    panel.dart = vec![Dart { edge: "upper".into(), at: 0.5, width: 0.03, depth: 0.1 }];
    let garment = Garment {
        edge_length: 0.01,
        sewing: 0.2,
        panel: vec![panel],
        seam: vec![seam("tube.left", "tube.right")],
        ..Garment::default()
    };
    let mut made = simulation(&scene(Method::ImpulseStrips, garment));
    let off = |x: &DVec3| (DVec3::new(x.x, 0.0, x.z).length() - 0.05).abs();
    assert!(made.state().positions.iter().all(|x| off(x) < 1e-12));
    // The seam has 21 stitches, the dart one for each centimetre of its sides but its tip.
    assert_eq!(made.model().links.ends.len(), 21 + 10);
    run(&mut made, 0.4);
    assert!(opening(&made) < 1e-3, "{}", opening(&made));
    let certificate = made.certificate();
    assert_eq!((certificate.cloth_cloth, certificate.max_strain < 0.0101), (0, true), "{certificate:?}");
}

#[test]
fn a_panel_starts_where_the_garment_places_it_and_its_seam_waits() {
    let mut scene = two_panels(Method::ImpulseStrips);
    scene.garment[0].position = [1.0, 0.0, 0.0];
    scene.garment[0].sewing_start = 0.3;
    let place = |position, rotation| PanelPlace { panel: "upper".into(), position, rotation };
    scene.garment[0].place = vec![place(Some([0.0, 0.08, 0.0]), Some([0.0, 180.0, 0.0]))];
    let built = simulation(&scene);
    let highest =
        |made: &Simulation| made.state().positions.iter().fold(DVec3::NEG_INFINITY, |a, x| a.max(*x));
    assert!(highest(&built).distance(DVec3::new(1.2, 0.28, 0.0)) < 1e-12, "{:?}", highest(&built));
    // What the place leaves out is as the panel has it.
    scene.garment[0].place = vec![place(None, None)];
    let mut made = simulation(&scene);
    assert!(highest(&made).distance(DVec3::new(1.2, 0.26, 0.0)) < 1e-12);
    let start = made.state().positions.clone();
    run(&mut made, 0.3);
    let moved = |made: &Simulation| {
        made.state().positions.iter().zip(&start).map(|(x, y)| x.distance(*y)).fold(0.0, f64::max)
    };
    assert!(moved(&made) < 1e-9, "nothing pulls yet: {}", moved(&made));
    run(&mut made, 0.4);
    assert!(opening(&made) < 1e-3 && highest(&made).y < 0.24, "{}", opening(&made));
}

#[test]
fn every_method_keeps_momentum_while_it_sews() {
    for method in Method::ALL {
        let mut scene = two_panels(*method);
        scene.contact.cloth_cloth = false;
        let mut sewn = simulation(&scene);
        // Until just before they meet: impulses make particles heavier where edges are jerked, and lose momentum there.
        run(&mut sewn, 0.16);
        assert!(opening(&sewn) < 1e-3, "{}: {}", method.name(), opening(&sewn));
        let pushed = momentum(sewn.model(), sewn.state()).length();
        // The two panels fly towards one another at 0.3 m/s, with 7 g each.
        assert!(pushed < 1e-9, "{}: {pushed}", method.name());
    }
}

#[test]
fn every_method_hangs_cloth_on_a_seam() {
    for method in Method::ALL {
        let mut scene = two_panels(*method);
        // Seams with twice as many stitches are for long runs.
        if !testing::long() {
            scene.garment[0].edge_length = 0.04;
        }
        scene.gravity = [0.0, -9.81, 0.0];
        scene.weightless = 0.3;
        scene.air.damping = 10.0;
        scene.garment[0].pin =
            vec![GarmentPin { edges: vec!["upper.upper".into()], ..GarmentPin::default() }];
        let mut hung = simulation(&scene);
        run(&mut hung, if testing::long() { 1.6 } else { 1.2 });
        let model = hung.model();
        let load = 9.81 * model.mass[model.cloths[1].particles.clone()].iter().sum::<f64>();
        let stretch = load / model.links.stiffness.iter().sum::<f64>();
        // The ends of a seam carry more than the rest of it. What answers one edge or particle after the other lets a seam under load tremble by about a
        // millimetre.
        let trembles = if method.goes_one_by_one() { 2e-3 } else { 0.0 };
        assert!(
            opening(&hung) < 4.0 * stretch + 0.1e-3 + trembles,
            "{}: {} {stretch}",
            method.name(),
            opening(&hung)
        );
        let lowest = hung.state().positions.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
        assert!((lowest + 0.14).abs() < 0.01, "{}: {lowest}", method.name());
        assert_eq!(hung.certificate().cloth_cloth, 0, "{}", method.name());
    }
}

#[test]
fn what_hangs_on_a_seam_is_held_and_comes_to_rest() {
    let mut scene = two_panels(Method::ImpulseStrips);
    scene.gravity = [0.0, -9.81, 0.0];
    scene.weightless = 0.3;
    scene.air.damping = 3.0;
    let garment = &mut scene.garment[0];
    (garment.fabric, garment.edge_length) = ("silk".into(), 0.01);
    garment.pin = vec![GarmentPin { edges: vec!["upper.upper".into()], ..GarmentPin::default() }];
    let mut hung = simulation(&scene);
    run(&mut hung, 2.0);
    assert!(opening(&hung) < 0.05e-3, "{}", opening(&hung));
    let fastest = hung.state().velocities.iter().map(|v| v.length()).fold(0.0, f64::max);
    assert!(fastest < 1e-3, "{fastest}");
}

#[test]
fn a_corner_of_four_panels_closes_under_load() {
    for method in [Method::ImpulseStrips, Method::ImpulseIterative, Method::ImpulseDirect] {
        let at = |name: &str, x: f64, y: f64| Panel { position: [x, y, 0.0], ..rectangle(name, 0.12, 0.12) };
        let panel =
            vec![at("a", -0.14, 0.02), at("b", 0.02, 0.02), at("c", -0.14, -0.14), at("d", 0.02, -0.14)];
        let seam = vec![
            seam("a.right", "b.left"),
            seam("c.right", "d.left"),
            seam("a.lower", "c.upper"),
            seam("b.lower", "d.upper"),
        ];
        let pin = vec![GarmentPin { edges: vec!["a.upper".into()], ..GarmentPin::default() }];
        let garment = Garment { edge_length: 0.04, sewing: 0.2, panel, seam, pin, ..Garment::default() };
        let mut scene = scene(method, garment);
        (scene.gravity, scene.weightless, scene.air.damping) = ([0.0, -9.81, 0.0], 0.3, 3.0);
        let mut hung = simulation(&scene);
        run(&mut hung, 0.4);
        for _ in 0..12 {
            let report = hung.step_frame(&mut ()).unwrap();
            assert!(report.converged, "{}: {:?}", method.name(), report.shortfall);
            assert!(opening(&hung) <= 0.5e-3, "{}: {}", method.name(), opening(&hung));
            let certificate = hung.certificate();
            assert!(certificate.max_strain < 0.0101 && certificate.cloth_cloth == 0, "{certificate:?}");
        }
    }
}

#[test]
fn a_seam_that_something_keeps_open_is_told_and_lengths_are_kept() {
    let wrap = Wrap { radius: 0.06, angle: 0.0 };
    let tube = Panel { wrap: Some(wrap), ..rectangle("tube", 0.3, 0.08) };
    let garment = Garment {
        edge_length: 0.02,
        sewing: 0.2,
        panel: vec![tube],
        seam: vec![seam("tube.left", "tube.right")],
        ..Garment::default()
    };
    let mut scene = scene(Method::ImpulseStrips, garment);
    scene.air.damping = 5.0;
    // 2 cm more around than the tube is wide.
    let capsule = CapsuleShape { radius: 0.32 / std::f64::consts::TAU, length: 0.4 };
    scene.collider =
        vec![Collider { capsule: Some(capsule), position: [0.0, 0.04, 0.0], ..Collider::default() }];
    let mut tight = simulation(&scene);
    run(&mut tight, 0.3);
    for _ in 0..3 {
        let report = tight.step_frame(&mut ()).unwrap();
        let Some(Shortfall::Seam { open, .. }) = report.shortfall else { panic!("{:?}", report.shortfall) };
        assert!(!report.converged && (open - opening(&tight)).abs() < 1e-12);
        assert!(open > 0.01 && open < 0.025, "{open}");
        assert!(tight.certificate().max_strain < 0.0101, "{}", tight.certificate().max_strain);
    }
}

#[test]
fn strips_lead_over_seams() {
    let built = simulation(&two_panels(Method::ImpulseStrips));
    let model = built.model();
    let strips: Vec<_> = parts::of_model(model, false).into_iter().flatten().collect();
    let first = model.edges.len() as u32;
    let sewn = strips.iter().filter(|strip| strip.edges.iter().any(|edge| *edge >= first));
    // Ten edges on either side of every stitch.
    assert!(sewn.clone().all(|strip| strip.edges.len() == 21 && strip.edges[10] >= first));
    assert_eq!(sewn.count(), 11);
    assert_eq!(strips.iter().map(|strip| strip.edges.len()).sum::<usize>(), model.edges.len() + 11);
}

#[test]
fn strips_around_a_tube_end_at_its_seams() {
    let half = |name: &str, angle: f64| Panel {
        wrap: Some(Wrap { radius: 0.1, angle }),
        ..rectangle(name, 0.25, 0.1)
    };
    let garment = Garment {
        edge_length: 0.025,
        panel: vec![half("front", 0.0), half("back", 180.0)],
        seam: vec![seam("front.right", "back.left"), seam("back.right", "front.left")],
        ..Garment::default()
    };
    let built = simulation(&scene(Method::ImpulseStrips, garment));
    let model = built.model();
    let strips: Vec<_> = parts::of_model(model, false).into_iter().flatten().collect();
    let is_stitch = |edge: &u32| *edge as usize >= model.edges.len();
    let sewn = strips.iter().filter(|strip| strip.edges.iter().any(is_stitch));
    // Half of the way around, and the stitch at its end.
    assert!(sewn.clone().all(|strip| strip.edges.len() == 11), "{:?}", sewn.collect::<Vec<_>>());
}

#[test]
fn links_pull_as_their_slow_twin_does() {
    let built = simulation(&two_panels(Method::Verlet));
    let (model, mut state) = (built.model(), built.state().clone());
    state.time = 0.1;
    let load = |v: &[DVec3]| v.iter().map(|v| Vec4::from(*v)).collect::<Vec<_>>();
    let (x, v) = (load(&state.positions), load(&state.velocities));
    let slow = forces::all_forces(model, &model.air, &state, 1e-3);
    assert!(slow.iter().any(|f| f.length() > 1.0), "seams pull");
    for mut chunk in gather::chunks(model) {
        chunk.renew_links(model, state.time);
        let particles = chunk.particles.clone();
        for (fast, slow) in chunk.forces(&x, &v, &[]).iter().zip(&slow[particles]) {
            assert!((fast.xyz() - *slow).length() <= 1e-12 * slow.length().max(1.0));
        }
    }
    // The energy falls along the forces.
    let energy = |state: &model::State| forces::link::energy(model, state);
    let (a, step) = (model.links.ends[3][0] as usize, 1e-7);
    let mut moved = state.clone();
    moved.positions[a].y += step;
    let up = energy(&moved);
    moved.positions[a].y -= 2.0 * step;
    let slope = (up - energy(&moved)) / (2.0 * step);
    assert!((slope + slow[a].y).abs() < 1e-5 * slow[a].length(), "{slope} {}", slow[a]);
}

#[test]
fn the_thread_count_changes_no_bit_of_a_garment() {
    for method in [Method::ImpulseStrips, Method::BackwardEuler, Method::Verlet] {
        let hash = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut sewn = simulation(&two_panels(method));
            pool.install(|| run(&mut sewn, 0.2));
            sewn.state().hash()
        };
        let alone = hash(1);
        assert!([2, 3, 8].into_iter().all(|threads| hash(threads) == alone), "{}", method.name());
    }
}
