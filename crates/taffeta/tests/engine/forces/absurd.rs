//! Numbers that no cloth has: refused with a reason, or a step that says what it missed; nothing is lost.

use crate::common::{free_sheet, simulation};
use taffeta_scene::{Corner, FabricChange, Method, Pin, Scene};

fn refused(scene: &Scene, key: &str) {
    let Err(faults) = taffeta_scene::simulation(scene, &Default::default()) else {
        panic!("{key} was taken")
    };
    let told = faults.iter().find(|fault| fault.key.contains(key));
    let told = told.unwrap_or_else(|| panic!("nothing said of {key}: {faults:#?}"));
    assert!(!told.remedy.is_empty(), "{told:?}");
}

fn of_fabric(method: Method, change: FabricChange) -> Scene {
    let mut scene = free_sheet(method, 4);
    scene.fabrics = [("bad".to_string(), change)].into();
    scene.cloth[0].fabric = "bad".into();
    scene
}

#[test]
fn stiffness_mass_and_steps_that_mean_nothing_are_refused() {
    for &method in Method::ALL {
        for number in [-1.0, f64::NAN, f64::INFINITY] {
            refused(&of_fabric(method, FabricChange { warp: Some(number), ..Default::default() }), "warp");
            refused(
                &of_fabric(method, FabricChange { density: Some(number), ..Default::default() }),
                "density",
            );
        }
        refused(&of_fabric(method, FabricChange { density: Some(0.0), ..Default::default() }), "density");
        for step in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            refused(&Scene { frame_time: step, ..free_sheet(method, 4) }, "frame_time");
        }
    }
}

/// Far beyond what double precision can solve: the stiffest fabric there may be, in steps of a hundred seconds.
#[test]
fn a_step_that_cannot_be_solved_says_so_and_loses_nothing() {
    let mut told = 0;
    for method in [Method::BackwardEuler, Method::Bdf2] {
        let stiff = FabricChange { warp: Some(1e8), weft: Some(1e8), bias: Some(1e8), ..Default::default() };
        let mut scene = of_fabric(method, stiff);
        scene.cloth[0].sheet.as_mut().unwrap().columns = 40;
        scene.cloth[0].pin = vec![Pin { corners: vec![Corner::UpperLeft], ..Pin::default() }];
        scene.gravity = [0.0, -9.81, 0.0];
        scene.frame_time = 100.0;
        (scene.solver.substeps, scene.solver.newton) = (Some(1), 2);
        let mut simulation = simulation(&scene);
        for _ in 0..5 {
            let before = simulation.state().hash();
            match simulation.step() {
                Ok(report) => {
                    assert_eq!(report.converged, report.shortfall.is_none());
                    told += u32::from(!report.converged);
                }
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    assert_eq!(simulation.state().hash(), before, "a step that failed has changed the state");
                    told += 1;
                }
            }
            assert!(simulation.state().positions.iter().all(|x| x.is_finite()));
        }
    }
    assert!(told > 0, "nothing went wrong: ask for more");
}
