//! What makes a garment of sewn panels: hems, interfacing, elastic, buttons and zips.

use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta_scene::{
    Air, Elastic, Garment, Interfacing, Method, Panel, PanelEdge, Scene, Seam, Solver, Wrap, build,
    simulation,
};

const WIDTH: f64 = 0.4;
const HEIGHT: f64 = 0.2;

fn rectangle(name: &str) -> Panel {
    let edge = |name: &str, to: [f64; 2]| PanelEdge { name: name.into(), to, ..PanelEdge::default() };
    Panel {
        name: name.into(),
        edge: vec![
            edge("lower", [WIDTH, 0.0]),
            edge("right", [WIDTH, HEIGHT]),
            edge("upper", [0.0, HEIGHT]),
            edge("left", [0.0, 0.0]),
        ],
        ..Panel::default()
    }
}

fn scene(method: Method, garment: Garment) -> Scene {
    Scene {
        gravity: [0.0; 3],
        air: Air { damping: 5.0, ..Air::default() },
        solver: Solver { method, tolerance: 0.01, ..Solver::default() },
        garment: vec![garment],
        ..Scene::default()
    }
}

fn garment(panel: Vec<Panel>) -> Garment {
    Garment { edge_length: 0.02, sewing: 0.2, panel, ..Garment::default() }
}

#[test]
fn a_hem_is_twice_as_heavy_and_stiff_over_its_width() {
    let mass = |hem: f64| {
        let mut panel = rectangle("p");
        panel.edge[0].hem = hem;
        build(&scene(Method::Verlet, garment(vec![panel])), &Default::default()).unwrap().0
    };
    let plain = mass(0.0);
    let density = 1e-3 * plain.cloths[0].fabric.density;
    // Narrower than a cell, as wide as some, and all of it.
    for hem in [0.008, 0.05, HEIGHT] {
        let doubled = mass(hem);
        let more = doubled.mass.iter().sum::<f64>() - plain.mass.iter().sum::<f64>();
        let expected = density * WIDTH * hem;
        assert!((more / expected - 1.0).abs() < 0.15, "{hem}: {more} {expected}");
    }
    let doubled = mass(HEIGHT);
    for (all, one) in [
        (&doubled.springs.stiffness, &plain.springs.stiffness),
        (&doubled.bends.stiffness, &plain.bends.stiffness),
        (&doubled.mass, &plain.mass),
    ] {
        assert_eq!(all.len(), one.len());
        assert!(all.iter().zip(one).all(|(all, one)| (all / one - 2.0).abs() < 1e-12));
    }
    let doubled = mass(0.05);
    let far: Vec<usize> = (0..plain.bends.points.len())
        .filter(|b| plain.bends.points[*b].iter().all(|i| plain.rest_positions[*i as usize].x > 0.09))
        .collect();
    assert!(far.len() > 50 && far.iter().all(|b| doubled.bends.stiffness[*b] == plain.bends.stiffness[*b]));
}

#[test]
fn interfacing_makes_a_panel_stiffer_and_heavier() {
    let built = |interfacing: Option<Interfacing>| {
        let panel = Panel { interfacing, ..rectangle("p") };
        build(&scene(Method::Verlet, garment(vec![panel])), &Default::default()).unwrap().0
    };
    let (plain, fused) = (built(None), built(Some(Interfacing { stiffness: 5.0, density: 60.0 })));
    let ratio = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a / b - 5.0).abs() < 1e-9);
    assert!(ratio(&fused.springs.stiffness, &plain.springs.stiffness));
    assert!(ratio(&fused.bends.stiffness, &plain.bends.stiffness));
    let more = fused.mass.iter().sum::<f64>() - plain.mass.iter().sum::<f64>();
    assert!((more / (0.06 * WIDTH * HEIGHT) - 1.0).abs() < 1e-9);
}

/// The length of the upper edge from stitch to stitch of its elastic [m].
fn gathered(simulation: &Simulation) -> f64 {
    let (model, x) = (simulation.model(), &simulation.state().positions);
    let plain = model.springs.ends.iter().zip(&model.springs.rest_length);
    let elastics = plain.skip(model.springs.ends.len() - 10);
    elastics.map(|([a, b], _)| x[*a as usize].distance(x[*b as usize])).sum()
}

#[test]
fn an_elastic_gathers_its_edge_and_cloth_keeps_its_lengths() {
    for method in [Method::ImpulseStrips, Method::BackwardEuler, Method::Verlet] {
        let mut panel = rectangle("p");
        panel.edge[2].elastic = Some(Elastic { length: 0.6, force: 20.0 });
        // What is quite flat does not know which way to fold.
        panel.wrap = Some(Wrap { radius: 0.3, angle: 0.0 });
        let mut simulation = simulation(&scene(method, garment(vec![panel])), &Default::default()).unwrap();
        assert_eq!(simulation.model().links.ends.len(), 0);
        let start = gathered(&simulation);
        assert!((start / WIDTH - 1.0).abs() < 0.01, "{start}");
        while simulation.state().time < 1.0 {
            simulation.step_frame(&mut ()).unwrap();
        }
        let (end, strain) = (gathered(&simulation), simulation.certificate().max_strain);
        assert!(end < 0.8 * WIDTH && end > 0.55 * WIDTH, "{method:?}: {end}");
        assert!(strain < if method == Method::ImpulseStrips { 0.0101 } else { 0.1 }, "{method:?}: {strain}");
    }
}

fn closed_by(seam: Seam) -> Garment {
    let upper = Panel { position: [0.0, 0.03, 0.0], ..rectangle("upper") };
    let lower = Panel { position: [0.0, -HEIGHT, 0.0], ..rectangle("lower") };
    let seam = Seam { join: ["upper.lower".into(), "lower.upper".into()], ..seam };
    Garment { seam: vec![seam], ..garment(vec![upper, lower]) }
}

fn apart(simulation: &Simulation) -> f64 {
    let (links, x) = (&simulation.model().links, &simulation.state().positions);
    links.ends.iter().map(|[a, b]| x[*a as usize].distance(x[*b as usize])).fold(0.0, f64::max)
}

#[test]
fn buttons_hold_at_their_places_and_a_single_one_in_the_middle() {
    for (buttons, places) in [(1, vec![0.5]), (3, vec![0.0, 0.5, 1.0]), (99, vec![])] {
        let garment = closed_by(Seam { buttons: Some(buttons), ..Seam::default() });
        let (model, state) = build(&scene(Method::Verlet, garment), &Default::default()).unwrap();
        let mut found: Vec<f64> =
            model.links.ends.iter().map(|[a, _]| state.positions[*a as usize].x / WIDTH).collect();
        found.sort_by(f64::total_cmp);
        match buttons {
            99 => assert_eq!(found.len(), 21, "no more than there are particles"),
            _ => assert!(
                found.len() == places.len() && found.iter().zip(&places).all(|(a, b)| (a - b).abs() < 0.03)
            ),
        }
    }
}

#[test]
fn a_zip_closes_at_its_time_and_is_undone_at_another() {
    for method in [Method::ImpulseStrips, Method::BackwardEuler, Method::Verlet, Method::Xpbd] {
        let seam = Seam { start: Some(0.2), open: Some(0.8), ..Seam::default() };
        let mut scene = scene(method, closed_by(seam));
        // The lower one is drawn away as soon as nothing holds it.
        scene.gravity = [0.0, -1.0, 0.0];
        scene.garment[0].pin =
            vec![taffeta_scene::GarmentPin { edges: vec!["upper.upper".into()], ..Default::default() }];
        scene.air.damping = 0.0;
        let mut simulation = simulation(&scene, &Default::default()).unwrap();
        let mut until = |time: f64| {
            while simulation.state().time < time {
                simulation.step_frame(&mut ()).unwrap();
            }
            apart(&simulation)
        };
        let (open, closed) = (until(0.19), until(0.79));
        assert!(open > 0.03 && closed < 0.005, "{method:?}: {open} then {closed}");
        let undone = until(1.2);
        // Free fall of 0.4 s is 8 cm.
        assert!(undone > 0.04, "{method:?}: {undone}");
        assert!(simulation.state().positions.iter().all(|x: &DVec3| x.is_finite()));
    }
}
