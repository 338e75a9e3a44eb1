//! Throw-away measurement.
use taffeta::{Simulation, scene::*};
fn main() {
    let env = |k: &str, d: f64| std::env::var(k).ok().and_then(|s| s.parse().ok()).unwrap_or(d);
    let arg = |i: usize, d: f64| std::env::args().nth(i).and_then(|s| s.parse().ok()).unwrap_or(d);
    let (n, slack, tol, frames, ns) =
        (arg(1, 50.) as u32, arg(2, 0.95), arg(3, 0.01), arg(4, 150.) as usize, arg(5, 0.) as u32);
    let verbose = env("V", 0.0) > 0.0;
    let size = env("SIZE", 1.0);
    let d0 = size / (n - 1) as f64;
    let sheet = Sheet { width: size, height: size, columns: n, rows: n, slack };
    let fabric = FabricChange {
        density: Some(200.0),
        warp: Some(1e4),
        weft: Some(1e4),
        bias: Some(taffeta::model::elements::bias_stiffness(1e4, 1e4, env("SHEAR", 30.0))),
        bending_warp: Some(10.0),
        bending_weft: Some(10.0),
        ..Default::default()
    };
    let scene = Scene {
        cloth: vec![Cloth {
            sheet: Some(sheet),
            fabric: "bench".into(),
            kick: Some(Kick { share: 0.05, speed: 0.1 * d0 * 30.0 }),
            pin: vec![Pin { corners: vec![Corner::UpperLeft, Corner::UpperRight], ..Default::default() }],
            ..Cloth::default()
        }],
        fabrics: [("bench".to_string(), fabric)].into(),
        air: Air { density: 0.0, damping: 0.5, ..Default::default() },
        solver: Solver {
            method: Method::ImpulseStrips,
            tolerance: tol,
            substeps: if ns > 0 { Some(ns) } else { None },
            ..Default::default()
        },
        ..Scene::default()
    };
    let mut sim = Simulation::new(&scene, &Default::default()).unwrap();
    let mass: f64 = sim.model().mass.iter().sum();
    let (mut missed, mut subs, mut its, mut worst, mut spent) = (0, 0, 0, 0.0f64, 0.0);
    let (mut ke1, mut ke2, mut shortest) = (0.0f64, 0.0f64, 1.0f64);
    let mut es = vec![];
    let mut lied = 0;
    for f in 0..frames {
        let t0 = cpu();
        let r = match sim.step() {
            Ok(r) => r,
            Err(e) => {
                println!("{f}: {e}");
                break;
            }
        };
        spent += cpu() - t0;
        let c =
            taffeta::check::strain(&sim.state().positions, &sim.model().edges, &sim.model().rest_lengths).max;
        worst = worst.max(c);
        if !r.converged {
            missed += 1;
        }
        if r.converged != (c <= tol) {
            lied += 1;
        }
        subs += r.substeps;
        its += r.iterations;
        shortest = shortest.min(r.shortest_substep);
        let e = taffeta::step::Energy::of(sim.model(), sim.state());
        let ke = e.kinetic / mass;
        if (30..75).contains(&f) {
            ke1 = ke1.max(ke);
        } else if f >= 75 {
            ke2 = ke2.max(ke);
        }
        es.push((e.gravity + e.kinetic) / mass);
        if verbose {
            println!(
                "{f} ss {} it {} strain {c:.6} ke {ke:.3} E {:.3}",
                r.substeps,
                r.iterations - r.substeps,
                es[f]
            );
        }
    }
    let e: Vec<String> = [9, 12, 15, 18, 24, 33, 42, 54, 78, 102]
        .iter()
        .filter(|i| **i < es.len())
        .map(|i| format!("{:.2}", es[*i]))
        .collect();
    let fr = frames as f64;
    println!(
        "N {n} slack {slack} tol {tol} ns {ns}: missed {missed} lied {lied} worst {worst:.2e}, ss {:.1} (shortest 1/{:.0}) polish {:.1}, KE {ke1:.2}/{ke2:.2}, {:.3} ms/frame ({:.1} ns/p/ss) E {}",
        subs as f64 / fr,
        1.0 / shortest / 30.0,
        (its - subs) as f64 / fr,
        spent * 1e3 / fr,
        spent * 1e9 / (n * n) as f64 / subs as f64,
        e.join(" ")
    );
}
fn cpu() -> f64 {
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse::<f64>()
        .unwrap()
        * 1e-9
}
