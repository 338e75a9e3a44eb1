//! Steps on a card: within the tolerance of the certificate, near those of the CPU, and with the same bits every time.

use std::sync::Arc;
use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta::model::AirModel;
use taffeta_cuda::CudaDevice;
use taffeta_scene::{
    Air, Cloth, Contact, Corner, Disc, Ease, Gust, Keyframe, Kick, Pin, Scene, Sheet, Side, Solver, Tube,
    simulation,
};
use testing::skipped;

pub fn card() -> Option<Arc<CudaDevice>> {
    match CudaDevice::open(0) {
        Ok(card) => Some(card),
        Err(error) => {
            skipped::tell(&error.to_string());
            None
        }
    }
}

pub fn hang(n: u32, tolerance: f64) -> Scene {
    let sheet = Sheet { width: 1.0, height: 1.0, columns: n, rows: n, slack: 0.95 };
    let pin = Pin { corners: vec![Corner::UpperLeft, Corner::UpperRight], ..Pin::default() };
    let kick = Some(Kick { share: 0.05, speed: 0.1 });
    Scene {
        solver: Solver { tolerance, ..Solver::default() },
        air: Air { density: 0.0, damping: 0.5, ..Air::default() },
        contact: Contact { cloth_cloth: false },
        cloth: vec![Cloth { sheet: Some(sheet), pin: vec![pin], kick, ..Cloth::default() }],
        ..Scene::default()
    }
}

pub fn on_cpu(scene: &Scene) -> Simulation {
    simulation(scene, &Default::default()).unwrap()
}

pub fn on(card: &Arc<CudaDevice>, scene: &Scene) -> Simulation {
    on_cpu(scene).with_device(card.clone()).unwrap()
}

/// The largest distance of particles between two simulations, and its root mean square [m].
pub fn distances(a: &Simulation, b: &Simulation) -> [f64; 2] {
    let squares = a.positions().iter().zip(b.positions()).map(|(a, b)| a.distance_squared(*b));
    let mean = squares.clone().sum::<f64>() / a.positions().len() as f64;
    [squares.fold(0.0, f64::max), mean].map(f64::sqrt)
}

fn apart(a: &Simulation, b: &Simulation) -> f64 {
    distances(a, b)[0]
}

/// Takes frames, each within the tolerance by the certificate.
fn take(simulation: &mut Simulation, frames: u32, what: &str) {
    for frame in 1..=frames {
        let report = simulation.step_frame(&mut ()).unwrap();
        let strain = simulation.certificate().max_strain;
        let tolerance = simulation.model().tolerance;
        assert!(
            report.converged && strain <= tolerance,
            "{what}, frame {frame}: strain {strain}, {report:?}"
        );
    }
}

#[test]
fn a_hanging_sheet_is_within_tolerance_and_near_the_one_on_the_cpu() {
    let Some(card) = card() else { return };
    for (n, tolerance) in [(30, 0.01), (30, 1e-4), (100, 0.01), (150, 0.01)] {
        let scene = hang(n, tolerance);
        let (mut cpu, mut gpu) = (on_cpu(&scene), on(&card, &scene));
        let (start, mut furthest, mut most_off) = (cpu.energy(), [0.0_f64; 2], 0.0_f64);
        for frame in 1..=30 {
            cpu.step_frame(&mut ()).unwrap();
            take(&mut gpu, 1, "hang");
            let [largest, typical] = distances(&cpu, &gpu);
            furthest = [furthest[0].max(largest), furthest[1].max(typical)];
            // Of a sheet of 1 m.
            assert!(typical < 0.01, "{n}², {tolerance}: {typical} m apart after frame {frame}");
            // Of what has fallen since the start.
            let fallen = (start.gravity - cpu.energy().gravity).abs().max(1e-3 * start.gravity.abs() + 1e-6);
            let off = (cpu.energy().kinetic - gpu.energy().kinetic).abs() / fallen;
            assert!(off < 0.05, "{n}², {tolerance}: kinetic energy off by {off} after frame {frame}");
            most_off = most_off.max(off);
        }
        let [largest, typical] = furthest;
        println!(
            "{n}², {tolerance}: largest distance {largest} m, root mean square {typical} m, kinetic energy off by {most_off}"
        );
    }
}

#[test]
fn short_steps_are_those_of_the_cpu() {
    let Some(card) = card() else { return };
    let air = Air {
        wind: [3.0, 0.5, 1.0],
        lift: 1.0,
        gust: Gust { speed: 2.0, frequency: 3.0, length: 0.3 },
        ..Air::default()
    };
    let sheet = hang(12, 0.01);
    let disc = Cloth {
        disc: Some(Disc { radius: 0.5, rings: 7 }),
        pin: vec![Pin { vertices: vec![0], ..Pin::default() }],
        ..Cloth::default()
    };
    let tube = Tube { radius: 0.1, length: 0.5, segments: 12, rows: 10 };
    let tube = Cloth {
        tube: Some(tube),
        pin: vec![Pin { vertices: vec![0, 3], ..Pin::default() }],
        ..Cloth::default()
    };
    for (what, scene) in [
        ("in a vacuum", sheet.clone()),
        ("in gusts", Scene { air: air.clone(), ..sheet.clone() }),
        ("disc", Scene { cloth: vec![disc], air: air.clone(), ..sheet.clone() }),
        ("tube", Scene { cloth: vec![tube], air, ..sheet }),
    ] {
        let scene = Scene { frame_time: 1e-4, ..scene };
        let (mut cpu, mut gpu) = (on_cpu(&scene), on(&card, &scene));
        for _ in 0..5 {
            cpu.step().unwrap();
            gpu.step().unwrap();
        }
        let gone = cpu.velocities().iter().map(|v| v.length()).fold(0.0, f64::max) * 5e-4;
        assert!(
            apart(&cpu, &gpu) < 0.01 * gone,
            "{what}: {} m apart on a way of {gone} m",
            apart(&cpu, &gpu)
        );
    }
}

#[test]
fn pins_and_hands_lead() {
    let Some(card) = card() else { return };
    let mut scene = hang(20, 0.01);
    let way = |time: f64, shift: [f64; 3]| Keyframe { time, shift, turn: [0.0; 3], ease: Ease::Linear };
    scene.cloth[0].pin[0].keyframe = vec![way(0.0, [0.0; 3]), way(0.5, [0.3, 0.1, 0.0])];
    let mut gpu = on(&card, &scene);
    let pinned: Vec<usize> = gpu.environment().pins()[0].particles.iter().map(|i| *i as usize).collect();
    let before = gpu.positions()[pinned[0]];
    take(&mut gpu, 20, "led pins");
    let moved = gpu.positions()[pinned[0]] - before;
    assert!((moved - DVec3::new(0.3, 0.1, 0.0)).length() < 1e-12, "{moved}");
    let to = gpu.positions()[210] + DVec3::new(0.0, 0.05, 0.02);
    gpu.hold(210, to, 0.1).unwrap();
    take(&mut gpu, 6, "held");
    assert!(gpu.positions()[210].distance(to) < 1e-12);
    gpu.release(210).unwrap();
    take(&mut gpu, 6, "released");
    assert!(gpu.positions()[210].distance(to) > 1e-3);
}

#[test]
fn any_mesh_hangs() {
    let Some(card) = card() else { return };
    let pin = |vertices: &[u32]| vec![Pin { vertices: vertices.to_vec(), ..Pin::default() }];
    let disc = Cloth { disc: Some(Disc { radius: 0.5, rings: 12 }), pin: pin(&[0, 1]), ..Cloth::default() };
    let tube = Tube { radius: 0.15, length: 0.6, segments: 24, rows: 20 };
    let tube = Cloth { tube: Some(tube), pin: pin(&[0, 6, 12]), ..Cloth::default() };
    let flag = Sheet { width: 1.5, height: 1.0, columns: 40, rows: 27, slack: 1.0 };
    let flag = Cloth {
        sheet: Some(flag),
        pin: vec![Pin { sides: vec![Side::Left], ..Pin::default() }],
        ..Cloth::default()
    };
    let wind = Air { wind: [8.0, 0.0, 1.0], ..Air::default() };
    for (what, cloth) in [("disc", disc), ("tube", tube), ("flag", flag)] {
        let scene = Scene { air: wind.clone(), cloth: vec![cloth], ..hang(4, 0.01) };
        take(&mut on(&card, &scene), 45, what);
    }
}

#[test]
fn bits_are_the_same_when_repeated_resumed_and_cloned() {
    let Some(card) = card() else { return };
    for n in [24, 140] {
        let scene = hang(n, 0.001);
        let mut first = on(&card, &scene);
        take(&mut first, 10, "first");
        let kept = first.snapshot();
        let mut clone = first.clone();
        take(&mut first, 10, "first");
        take(&mut clone, 10, "clone");
        let mut again = on(&card, &scene);
        take(&mut again, 20, "again");
        let mut resumed = on(&card, &scene);
        resumed.restore(&kept).unwrap();
        take(&mut resumed, 10, "resumed");
        let hashes = [&first, &clone, &again, &resumed].map(|simulation| simulation.state().hash());
        assert!(hashes.iter().all(|hash| *hash == hashes[0]), "{n}²: {hashes:x?}");
    }
}

#[test]
fn gravity_and_air_may_change() {
    let Some(card) = card() else { return };
    let mut gpu = on(&card, &hang(16, 0.01));
    take(&mut gpu, 3, "before");
    let windy = AirModel { density: 1.2, wind: DVec3::new(0.0, 20.0, 0.0), ..gpu.environment().air };
    gpu.set_surroundings(DVec3::ZERO, windy);
    let height = |gpu: &Simulation| gpu.positions().iter().map(|x| x.y).sum::<f64>();
    let before = height(&gpu);
    take(&mut gpu, 15, "after");
    assert!(height(&gpu) > before, "the wind blows upwards and nothing weighs");
}

#[test]
fn pins_that_are_too_far_apart_are_told() {
    let Some(card) = card() else { return };
    let mut scene = hang(8, 0.01);
    let way = |time: f64, shift: [f64; 3]| Keyframe { time, shift, turn: [0.0; 3], ease: Ease::Linear };
    let apart = Pin {
        corners: vec![Corner::UpperRight],
        keyframe: vec![way(0.0, [0.0; 3]), way(0.2, [0.4, 0.0, 0.0])],
        ..Pin::default()
    };
    scene.cloth[0].pin = vec![Pin { corners: vec![Corner::UpperLeft], ..Pin::default() }, apart];
    let mut gpu = on(&card, &scene);
    let report = (0..10).map(|_| gpu.step_frame(&mut ()).unwrap()).last().unwrap();
    let why = report.shortfall.expect("a reason").to_string();
    assert!(!report.converged && why.contains("apart"), "{why}");
}
