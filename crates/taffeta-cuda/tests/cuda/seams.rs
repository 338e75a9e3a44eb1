//! Seams on a card: where stitches stand in lanes, and that they close and hold.

use crate::steps::{card, distances, on, on_cpu};
use taffeta::check::seam_opening;
use taffeta::model::Environment;
use taffeta_cuda::Plan;
use taffeta_scene::{Air, Contact, Garment, Panel, PanelEdge, Scene, Seam, Solver, build};

/// Two panels one above the other that are sewn together in a tenth of a second.
fn garment(cells: u32, cloth_cloth: bool) -> Scene {
    let edge = |name: &str, to: [f64; 2]| PanelEdge { name: name.into(), to, ..PanelEdge::default() };
    let panel = |name: &str, height: f64| Panel {
        name: name.into(),
        start: [0.0, 0.0],
        edge: vec![
            edge("lower", [0.16, 0.0]),
            edge("right", [0.16, 0.16]),
            edge("upper", [0.0, 0.16]),
            edge("left", [0.0, 0.0]),
        ],
        position: [0.0, height, 0.0],
        ..Panel::default()
    };
    let garment = Garment {
        edge_length: 0.16 / f64::from(cells),
        sewing: 0.1,
        panel: vec![panel("above", 0.03), panel("below", -0.16)],
        seam: vec![Seam { join: ["above.lower".into(), "below.upper".into()], ..Seam::default() }],
        ..Garment::default()
    };
    Scene {
        solver: Solver::default(),
        air: Air { density: 0.0, damping: 0.5, ..Air::default() },
        contact: Contact { cloth_cloth },
        garment: vec![garment],
        ..Scene::default()
    }
}

#[test]
fn every_stitch_stands_between_its_ends() {
    let (model, _) = build(&garment(8, true), &Default::default()).unwrap();
    let plan = Plan::new(&model, &Environment::new(&model)).unwrap();
    assert_eq!(plan.stitches.len(), model.links.ends.len());
    assert!(plan.stitches.len() > 6);
    for (stitch, ends) in plan.stitches.iter().zip(&model.links.ends) {
        let lanes = &plan.hard[stitch.group];
        let found = [lanes.particle[stitch.position], lanes.particle[stitch.position + 1]];
        let mut ends = ends.map(|i| i as i32);
        if found != ends {
            ends.reverse();
        }
        assert_eq!(found, ends);
        assert!(stitch.give > 0.0 && stitch.give.is_finite());
    }
    // What is remembered has no stitches.
    let soft: usize = plan.soft.iter().flat_map(|lanes| &lanes.edge).filter(|edge| edge[0] > 0.0).count();
    assert_eq!(plan.places.len(), model.edges.len() + soft);
    let sewn = plan.contact.expect("panels touch");
    assert_eq!(sewn.sewn_from.len(), model.particle_count() + sewn.body_points() + 1);
    for &[a, b] in &model.links.ends {
        for (from, to) in [(a, b), (b, a)] {
            let of = sewn.sewn_from[from as usize] as usize..sewn.sewn_from[from as usize + 1] as usize;
            assert!(sewn.sewn[of].contains(&(to as i32)));
        }
    }
}

#[test]
fn seams_close_and_hold() {
    let Some(card) = card() else { return };
    for (what, scene) in [
        ("a small one", garment(4, false)),
        ("a small one that touches", garment(4, true)),
        ("a larger one that touches", garment(16, true)),
    ] {
        let (mut cpu, mut gpu) = (on_cpu(&scene), on(&card, &scene));
        let (mut left, mut together) = (0, 0.0_f64);
        for frame in 1..=12 {
            cpu.step_frame(&mut ()).unwrap();
            let report = gpu.step_frame(&mut ()).unwrap();
            left += report.left_to_host;
            let certificate = gpu.certificate();
            assert!(
                report.converged && certificate.max_strain <= gpu.model().tolerance,
                "{what}, frame {frame}: {report:?}, strain {}",
                certificate.max_strain
            );
            together = together.max(distances(&cpu, &gpu)[1]);
        }
        let opening = |simulation: &taffeta::Simulation| {
            seam_opening(simulation.model(), simulation.state()).expect("a seam")
        };
        println!(
            "{what}: open by {} m, on the CPU {} m; {left} steps left to the host; root mean square distance {together} m",
            opening(&gpu),
            opening(&cpu)
        );
        assert!(opening(&gpu) < 2e-3, "{what}: 3 cm at the start, now {} m", opening(&gpu));
        assert!(together < 5e-3, "{what}: {together} m apart");
        assert_eq!(left, 0, "{what}");
        let mut again = on(&card, &scene);
        (0..12).for_each(|_| {
            again.step_frame(&mut ()).unwrap();
        });
        assert_eq!(again.state().hash(), gpu.state().hash(), "{what}");
    }
}
