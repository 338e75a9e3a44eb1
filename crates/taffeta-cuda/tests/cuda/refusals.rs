//! What a card cannot do, and a machine without one: told in words, before the first step.

use taffeta::model::Environment;
use taffeta_cuda::{CudaDevice, CudaError};
use taffeta_scene::{Cloth, Contact, FabricChange, Method, Scene, Sheet, Solver, simulation, simulation_on};
use testing::skipped;

fn scene(columns: u32) -> Scene {
    let sheet = Sheet { width: 1.0, height: 1.0, columns, rows: 4, slack: 1.0 };
    Scene {
        solver: Solver { device: Some("cuda:0".into()), ..Solver::default() },
        contact: Contact { cloth_cloth: false },
        cloth: vec![Cloth { sheet: Some(sheet), ..Cloth::default() }],
        ..Scene::default()
    }
}

fn told(scene: &Scene) -> String {
    match simulation_on(scene, &Default::default(), taffeta_cuda::open) {
        Ok(_) => String::new(),
        Err(faults) => faults.to_string(),
    }
}

#[test]
fn a_program_without_devices_says_so() {
    let told = simulation(&scene(4), &Default::default()).unwrap_err().to_string();
    assert!(told.contains("solver.device") && told.contains("leave it out"), "{told}");
}

#[test]
fn a_machine_without_a_card_says_so_in_one_sentence() {
    match CudaDevice::open(0) {
        Ok(_) => skipped::tell("there is a CUDA card on this machine"),
        Err(error) => {
            assert!(matches!(error, CudaError::NoDriver | CudaError::NoCard(_)), "{error:?}");
            let told = told(&scene(4));
            assert!(told.starts_with("solver.device") && told.contains("compute on the CPU"), "{told}");
            assert_eq!(told.lines().count(), 1);
        }
    }
}

#[test]
fn strips_that_are_too_long_are_refused() {
    let long = Scene { solver: Solver::default(), ..scene(5000) };
    let (model, _) = taffeta_scene::build(&long, &Default::default()).unwrap();
    let refused = taffeta_cuda::Plan::new(&model, &Environment::new(&model)).unwrap_err();
    assert_eq!(refused, CudaError::LongStrip { longest: 5000, most: 4096 });
}

#[test]
fn what_a_card_cannot_do_is_named_by_its_key() {
    let Err(CudaError::NoDriver | CudaError::NoCard(_)) = CudaDevice::open(0) else {
        let early = Solver { max_iterations: Some(50), ..scene(4).solver };
        let told_early = told(&Scene { solver: early, ..scene(4) });
        assert!(told_early.contains("solver.max_iterations"), "{told_early}");
        let other = Solver { method: Method::Verlet, ..scene(4).solver };
        assert!(told(&Scene { solver: other, ..scene(4) }).contains("impulse-strips"));
        let twisted = FabricChange { bending_twist: Some(5.0), ..FabricChange::default() };
        let told_twist = told(&Scene { fabrics: [("cotton".to_string(), twisted)].into(), ..scene(4) });
        assert!(told_twist.contains("bending_twist"), "{told_twist}");
        let rubbing = FabricChange { bending_hysteresis: Some(1.0), ..FabricChange::default() };
        let told_friction = told(&Scene { fabrics: [("cotton".to_string(), rubbing)].into(), ..scene(4) });
        assert!(told_friction.contains("bending_hysteresis"), "{told_friction}");
        let ninth = Solver { device: Some("cuda:99".into()), ..Solver::default() };
        assert!(told(&Scene { solver: ninth, ..scene(4) }).contains("there is no card 99"));
        assert_eq!(told(&scene(4)), "");
        return;
    };
    skipped::tell("no CUDA card on this machine");
}
