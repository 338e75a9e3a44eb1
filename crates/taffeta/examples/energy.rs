//! Throw-away.
use taffeta::{Simulation, scene::*, step::Energy};
fn main() {
    let ns: u32 = std::env::args().nth(1).unwrap().parse().unwrap();
    let sheet = Sheet { width: 1.0, height: 1.0, columns: 12, rows: 12, slack: 1.0 };
    let mut scene = Scene {
        gravity: [0.0; 3],
        air: Air { density: 0.0, ..Air::default() },
        solver: Solver {
            method: Method::ImpulseStrips,
            tolerance: std::env::var("TOL").map_or(1e-4, |s| s.parse().unwrap()),
            substeps: (ns > 0).then_some(ns),
            ..Solver::default()
        },
        cloth: vec![Cloth {
            sheet: Some(sheet),
            kick: Some(Kick { share: 0.3, speed: 1.0 }),
            ..Cloth::default()
        }],
        ..Scene::default()
    };
    if ns == 1000 {
        scene.solver.method = Method::Verlet;
        scene.solver.substeps = None;
    }
    let mut s = Simulation::new(&scene, &Default::default()).unwrap();
    println!("{:?}", Energy::of(s.model(), s.state()));
    for _ in 0..30 {
        let r = s.step().unwrap();
        let e = Energy::of(s.model(), s.state());
        let m = s.model().edges.len();
        let sp = &s.model().springs;
        let hard: f64 = (0..m)
            .map(|i| {
                let [a, b] = sp.ends[i];
                let l = s.state().positions[a as usize].distance(s.state().positions[b as usize]);
                0.5 * sp.stiffness[i] * (l - sp.rest_length[i]).powi(2)
            })
            .sum();
        println!(
            "ss {} it {} conv {} ke {:.6} el {:.6} hard {:.6} strain {:.2e}",
            r.substeps,
            r.iterations,
            r.converged,
            e.kinetic,
            e.elastic,
            hard,
            s.certificate().max_strain
        );
    }
}
