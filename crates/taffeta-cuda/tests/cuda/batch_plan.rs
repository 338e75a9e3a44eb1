//! What a batch is made of, found without a card.

use taffeta::Simulation;
use taffeta_cuda::BatchPlan;
use taffeta_scene::{
    Air, Cloth, Collider, Contact, Corner, Ease, Keyframe, Pin, Scene, Sheet, Solver, simulation,
};

fn scene(n: u32) -> Scene {
    let sheet = Sheet { width: 1.0, height: 1.0, columns: n, rows: n, slack: 1.0 };
    let pin = Pin { corners: vec![Corner::UpperLeft, Corner::UpperRight], ..Pin::default() };
    Scene {
        air: Air { density: 0.0, ..Air::default() },
        contact: Contact { cloth_cloth: false },
        cloth: vec![Cloth { sheet: Some(sheet), pin: vec![pin], ..Cloth::default() }],
        ..Scene::default()
    }
}

fn on_cpu(scene: &Scene) -> Simulation {
    simulation(scene, &Default::default()).unwrap()
}

fn plan(scene: &Scene, handles: &[u32]) -> Result<BatchPlan, String> {
    let simulation = on_cpu(scene);
    BatchPlan::new(simulation.model(), simulation.environment(), handles)
        .map_err(|refusal| refusal.to_string())
}

#[test]
fn handles_are_pins_first_and_each_once() {
    let pinned: Vec<u32> =
        on_cpu(&scene(8)).environment().pins().iter().flat_map(|pin| pin.particles.clone()).collect();
    let own = plan(&scene(8), &[20, pinned[0], 20, 21]).unwrap();
    assert_eq!(own.handles, [&pinned[..], &[20, 21]].concat());
    assert_eq!(own.pinned, 2);
    for (number, handle) in own.handles.iter().enumerate() {
        assert_eq!(own.plan.pin[*handle as usize], number as i32);
    }
    assert_eq!(own.plan.pin.iter().filter(|number| **number >= 0).count(), 4);
}

#[test]
fn whoever_may_be_let_go_of_has_mass_and_edges() {
    // Edges between two pins are none in a model alone, but here pins may be let go of.
    let mut top = scene(8);
    top.cloth[0].pin[0] = Pin { sides: vec![taffeta_scene::Side::Upper], ..Pin::default() };
    let own = plan(&top, &[]).unwrap();
    assert_eq!(own.pinned, 8);
    assert!(own.plan.mass.iter().all(|[inverse, mass]| *inverse > 0.0 && *mass > 0.0));
    let lanes = own.plan.hard.iter().chain(&own.plan.soft);
    let edges = lanes.flat_map(|lanes| &lanes.edge).filter(|edge| edge[0] > 0.0).count();
    assert_eq!(edges, own.plan.places.len());
}

#[test]
fn blocks_are_as_large_as_lanes_and_memory_allow() {
    const H200: [usize; 2] = [227 << 10, 228 << 10];
    let of = |n: u32| {
        let own = plan(&scene(n), &[]).unwrap();
        (own.near(), own.blocks(H200[0], H200[1]))
    };
    let (near, blocks) = of(32);
    // A warp takes a row of 32.
    assert_eq!((blocks.threads, blocks.at_once, blocks.shared), (512, 2, true));
    assert!(near < 110 << 10, "{near}");
    // Of 32 particles in a row 31 edges, one for each thread; of 46 two.
    assert_eq!((blocks.span, of(46).1.span), (31, 23));
    assert_eq!(of(8).1.threads, 128);
    assert!(of(46).1.shared && !of(60).1.shared);
    let refused = plan(&scene(300), &[]).unwrap_err();
    assert!(refused.contains("300 particles in a row, lanes on a card have 256"), "{refused}");
}

#[test]
fn what_does_not_run_is_told() {
    let ball = Collider { sphere: Some(taffeta_scene::SphereShape { radius: 0.1 }), ..Collider::default() };
    let moving = Pin {
        corners: vec![Corner::LowerLeft],
        keyframe: [(0.0, 0.0), (1.0, 0.2)]
            .map(|(time, x)| Keyframe { time, shift: [x, 0.0, 0.0], turn: [0.0; 3], ease: Ease::Linear })
            .to_vec(),
        ..Pin::default()
    };
    let mut led = scene(8);
    led.cloth[0].pin.push(moving);
    for (scene, word) in [
        (Scene { collider: vec![ball], ..scene(8) }, "colliders"),
        (Scene { contact: Contact { cloth_cloth: true }, ..scene(8) }, "contact.cloth_cloth"),
        (led, "handles"),
        (Scene { solver: Solver { budget: Some(100), ..Solver::default() }, ..scene(8) }, "solver.budget"),
    ] {
        let told = plan(&scene, &[]).unwrap_err();
        assert!(told.contains(word) && told.contains("on the CPU"), "{told}");
    }
    let told = plan(&scene(8), &[64]).unwrap_err();
    assert!(told.contains("no particle 64") && told.contains("0 to 63"), "{told}");
}
