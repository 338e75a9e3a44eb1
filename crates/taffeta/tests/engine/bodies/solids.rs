//! Soft solids from closed surfaces: they fall as one, bounce, keep their volume, and meet cloth and bodies.

use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta_scene::{
    Ball, Body, Cloth, Collider, Filling, FillingKind, Method, Pin, PlaneShape, Scene, Sheet, Side,
    SoftSolid, SphereShape,
};

fn simulation(scene: &Scene) -> Simulation {
    taffeta_scene::simulation(scene, &Default::default()).unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// A ball of rubber above a floor.
fn jelly(method: Method, height: f64) -> Scene {
    let gas = Filling { pressure: 0.0, kind: FillingKind::Gas };
    let cloth = Cloth {
        name: "jelly".into(),
        ball: Some(Ball { radius: 0.1, rings: 10 }),
        solid: Some(SoftSolid { cell: 0.04, density: 300.0, modulus: 3e4, damping: 0.5 }),
        filling: method.is_implicit().then_some(gas),
        position: [0.0, height, 0.0],
        ..Cloth::default()
    };
    let floor = Collider { plane: Some(PlaneShape {}), ..Collider::default() };
    let mut scene = Scene { cloth: vec![cloth], collider: vec![floor], ..Scene::default() };
    scene.solver.method = method;
    scene.solver.steps_per_frame = 8;
    scene.air.density = 0.0;
    scene
}

/// What the surface of the first piece encloses [m³].
fn volume(simulation: &Simulation) -> f64 {
    let (model, x) = (simulation.model(), &simulation.state().positions);
    let sixfold = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| x[i as usize] - x[0]);
        a.dot(b.cross(c))
    };
    model.triangles[model.cloths[0].triangles.clone()].iter().map(sixfold).sum::<f64>() / 6.0
}

fn centre(simulation: &Simulation) -> DVec3 {
    let (model, state) = (simulation.model(), simulation.state());
    let mass: f64 = model.mass.iter().sum();
    model.mass.iter().zip(&state.positions).map(|(m, x)| *m * *x).sum::<DVec3>() / mass
}

#[test]
fn jelly_that_rests_stores_no_energy() {
    let elastic = simulation(&jelly(Method::Bdf2, 1.0)).energy().elastic;
    assert!(elastic.abs() < 1e-6, "{elastic} J");
}

#[test]
fn a_ball_of_tetrahedra_bounces_and_keeps_its_volume() {
    // The gas that keeps the volume is for implicit methods alone; springs by themselves give way by more.
    for (method, keeps) in [(Method::Bdf2, 0.03), (Method::BackwardEuler, 0.03), (Method::Verlet, 0.2)] {
        let mut simulation = simulation(&jelly(method, 0.4));
        let (start, model) = (volume(&simulation), simulation.model().clone());
        let energy = simulation.energy().total();
        let fall = 9.81 * 0.3 * model.mass.iter().sum::<f64>();
        let (mut lowest, mut least, mut highest) = (f64::INFINITY, f64::INFINITY, 0.0_f64);
        for _ in 0..160 {
            simulation.step().unwrap();
            let height = centre(&simulation).y;
            // Back up again, after it was pressed flat.
            if lowest < 0.099 {
                highest = highest.max(height);
            }
            lowest = lowest.min(height);
            least = least.min(volume(&simulation) / start);
            let now = simulation.energy().total();
            assert!(now < energy + 0.02 * fall, "{method:?}: {energy} J at the start, now {now}");
        }
        println!(
            "{method:?}: down to {lowest:.4} m, up to {highest:.4} m of 0.4 m, volume at least {least:.4}"
        );
        assert!(least > 1.0 - keeps, "{method:?}: {least} of the volume");
        assert!(lowest < 0.097 && lowest > 0.05, "{method:?}: its centre came down to {lowest} m");
        assert!(highest > 0.15, "{method:?}: it does not bounce: {highest}");
        assert_eq!(simulation.certificate().cloth_body, 0, "{method:?}");
    }
}

#[test]
fn it_lies_in_cloth_under_a_body_with_the_same_bits_for_every_thread_count() {
    let mut scene = jelly(Method::BackwardEuler, 0.35);
    let sheet = Sheet { width: 0.5, height: 0.5, columns: 9, rows: 9, slack: 1.0 };
    scene.cloth.push(Cloth {
        sheet: Some(sheet),
        position: [0.0, 0.24, 0.0],
        pin: vec![Pin { sides: vec![Side::Rim], ..Pin::default() }],
        ..Cloth::default()
    });
    scene.body = vec![Body {
        sphere: Some(SphereShape { radius: 0.05 }),
        mass: Some(0.3),
        position: [0.02, 0.51, 0.0],
        ..Body::default()
    }];
    scene.solver.steps_per_frame = 1;
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut simulation = simulation(&scene);
            for _ in 0..if testing::long() { 8 } else { 5 } {
                simulation.step().unwrap();
            }
            let certificate = simulation.certificate();
            assert_eq!((certificate.cloth_cloth, certificate.cloth_body), (0, 0));
            assert!(centre(&simulation).y > 0.1, "the sheet holds it");
            simulation.state().hash()
        })
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn a_cell_that_is_too_large_is_refused_at_its_key() {
    let mut scene = jelly(Method::Verlet, 0.4);
    scene.cloth[0].solid.as_mut().unwrap().cell = 0.5;
    let faults = taffeta_scene::simulation(&scene, &Default::default()).unwrap_err();
    assert_eq!(faults[0].key, "cloth[0].solid.cell");
    assert!(faults[0].reason.contains("no cell of 0.5 m fits"), "{faults:?}");
}
