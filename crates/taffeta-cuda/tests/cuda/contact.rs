//! Contact on a card: nothing passes through anything, lengths are kept, friction holds, and bits are the same every time.

use crate::steps::{card, on, on_cpu};
use std::time::Instant;
use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta_scene::{
    BoxShape, CapsuleShape, Cloth, Collider, Contact, Corner, Ease, FabricChange, Keyframe, Pin, PlaneShape,
    Scene, Sheet, SphereShape,
};

fn sheet(n: u32, height: f64) -> Cloth {
    let sheet = Sheet { width: 1.0, height: 1.0, columns: n, rows: n, slack: 1.0 };
    Cloth { sheet: Some(sheet), position: [0.0, height, 0.0], ..Cloth::default() }
}

fn named(name: &str, position: [f64; 3]) -> Collider {
    Collider { name: name.into(), position, friction: Some(0.3), ..Collider::default() }
}

fn ball(radius: f64, height: f64) -> Collider {
    Collider { sphere: Some(SphereShape { radius }), ..named("ball", [0.0, height, 0.0]) }
}

fn floor() -> Collider {
    Collider { plane: Some(PlaneShape {}), ..named("floor", [0.0; 3]) }
}

fn scene(cloth: Cloth, collider: Vec<Collider>, cloth_cloth: bool) -> Scene {
    Scene { contact: Contact { cloth_cloth }, cloth: vec![cloth], collider, ..Scene::default() }
}

/// Takes frames, each within its tolerance and without intersections by the certificate; returns how many steps the host took.
fn take(simulation: &mut Simulation, frames: u32, what: &str) -> u32 {
    let (mut left, mut worst, mut hits, mut learned, mut most) = (0, 0.0_f64, 0, 0, 0);
    let (begun, mut in_steps) = (Instant::now(), 0.0);
    for frame in 1..=frames {
        let before = Instant::now();
        let report = simulation.step_frame(&mut ()).unwrap();
        in_steps += before.elapsed().as_secs_f64();
        let found = simulation.certificate();
        let bodies = simulation.model().colliders.is_empty() || found.min_gap >= 0.0;
        let clean = bodies
            && found.cloth_body == 0
            && (!simulation.model().cloth_meets_cloth || found.cloth_cloth == 0);
        let within = report.converged && found.max_strain <= simulation.model().tolerance;
        assert!(clean && within, "{what}, frame {frame}: {found:?}, {report:?}");
        left += report.left_to_host;
        worst = worst.max(found.max_strain);
        hits += report.ccd.hits;
        learned += report.ccd.learned;
        most = most.max(report.substeps);
    }
    println!(
        "{what}: {frames} frames, {:.2} ms each ({:.1} s in all), strain {worst:.5}, {hits} hits, {learned} rounds learned, {most} sub-steps at most, {left} \
         left to the host",
        1e3 * in_steps / f64::from(frames),
        begun.elapsed().as_secs_f64()
    );
    left
}

fn centre(simulation: &Simulation) -> DVec3 {
    simulation.positions().iter().copied().sum::<DVec3>() / simulation.positions().len() as f64
}

#[test]
fn a_sheet_on_a_ball_and_a_floor_ends_as_on_the_cpu() {
    let Some(card) = card() else { return };
    let scene = scene(sheet(40, 0.75), vec![ball(0.3, 0.4), floor()], false);
    let (mut cpu, mut gpu) = (on_cpu(&scene), on(&card, &scene));
    let left = take(&mut gpu, 45, "ball and floor");
    for _ in 0..45 {
        cpu.step_frame(&mut ()).unwrap();
    }
    let off = (centre(&cpu) - centre(&gpu)).length();
    assert!(off < 0.01, "centres are {off} m apart");
    assert_eq!(left, 0, "closed-form bodies alone leave nothing to the host");
}

#[test]
fn solids_that_move_take_the_cloth_along() {
    let Some(card) = card() else { return };
    let key = |time: f64, shift: [f64; 3], turn: [f64; 3]| Keyframe { time, shift, turn, ease: Ease::Linear };
    let still = key(0.0, [0.0; 3], [0.0; 3]);
    let lifted = Collider {
        keyframe: vec![still.clone(), key(1.0, [0.2, 0.3, 0.0], [0.0, 90.0, 0.0])],
        ..ball(0.3, 0.3)
    };
    let bar = Collider {
        capsule: Some(CapsuleShape { radius: 0.2, length: 0.8 }),
        rotation: [0.0, 0.0, 90.0],
        keyframe: vec![still.clone(), key(1.0, [0.0; 3], [120.0, 0.0, 0.0])],
        ..named("bar", [0.0, 0.4, 0.0])
    };
    for (what, solid) in [("a lifted ball", lifted), ("a turning bar", bar)] {
        let mut gpu = on(&card, &scene(sheet(32, 0.65), vec![solid, floor()], false));
        take(&mut gpu, 30, what);
    }
}

#[test]
fn friction_holds_on_a_slope_and_slides_as_it_must() {
    let Some(card) = card() else { return };
    for (degrees, slides) in [(15.0_f64, 0.0), (30.0, 2.3563)] {
        let slope = Collider { friction: None, rotation: [0.0, 0.0, -degrees], ..floor() };
        let mut cloth = sheet(12, 0.0);
        cloth.rotation = [0.0, 0.0, -degrees];
        let mut scene = scene(cloth, vec![slope], false);
        scene.air.density = 0.0;
        let smooth = FabricChange { friction: Some(0.3), ..FabricChange::default() };
        scene.fabrics.insert("cotton".into(), smooth);
        let mut gpu = on(&card, &scene);
        take(&mut gpu, 10, "slope");
        let speed = |gpu: &Simulation| {
            gpu.velocities().iter().map(|v| v.length()).sum::<f64>() / gpu.velocities().len() as f64
        };
        let (before, at) = (speed(&gpu), centre(&gpu));
        take(&mut gpu, 30, "slope");
        if slides == 0.0 {
            assert!((centre(&gpu) - at).length() < 1e-6, "it creeps by {} m", (centre(&gpu) - at).length());
        } else {
            let gained = speed(&gpu) - before;
            assert!(
                (gained - slides).abs() < 0.01 * slides,
                "it gains {gained} m/s in a second, not {slides}"
            );
        }
    }
}

#[test]
fn boxes_and_capsules_are_met_by_features() {
    let Some(card) = card() else { return };
    let cuboid = Collider {
        cuboid: Some(BoxShape { size: [0.4, 0.6, 0.4] }),
        rotation: [0.0, 20.0, 0.0],
        ..named("box", [0.0, 0.3, 0.0])
    };
    let rod = Collider {
        capsule: Some(CapsuleShape { radius: 0.01, length: 1.4 }),
        rotation: [0.0, 0.0, 90.0],
        ..named("rod", [0.0, 0.5, 0.0])
    };
    for (what, solid, cloth_cloth) in
        [("box", cuboid.clone(), false), ("rod", rod, false), ("box and cloth", cuboid, true)]
    {
        let mut gpu = on(&card, &scene(sheet(40, 0.7), vec![solid, floor()], cloth_cloth));
        take(&mut gpu, 40, what);
    }
}

#[test]
fn a_sheet_drapes_without_passing_through_itself() {
    let Some(card) = card() else { return };
    for n in [30, 60] {
        let mut gpu = on(&card, &scene(sheet(n, 0.85), vec![ball(0.3, 0.5)], true));
        take(&mut gpu, 75, "drape");
    }
}

#[test]
fn cloth_that_falls_on_cloth_stays_above_it() {
    let Some(card) = card() else { return };
    let mut scene = scene(sheet(24, 0.05), vec![floor()], true);
    scene.cloth.push(Cloth { rotation: [0.0, 30.0, 0.0], ..sheet(20, 0.2) });
    let mut gpu = on(&card, &scene);
    take(&mut gpu, 40, "two sheets");
    let mean = |range: std::ops::Range<usize>| {
        gpu.positions()[range.clone()].iter().map(|x| x.y).sum::<f64>() / range.len() as f64
    };
    let cloths = &gpu.model().cloths;
    assert!(mean(cloths[1].particles.clone()) > mean(cloths[0].particles.clone()));
}

#[test]
fn a_sheet_that_swings_folds_over_itself() {
    let Some(card) = card() else { return };
    let mut cloth = sheet(40, 0.5);
    cloth.pin = vec![Pin { corners: vec![Corner::UpperLeft], ..Pin::default() }];
    let mut gpu = on(&card, &scene(cloth, Vec::new(), true));
    take(&mut gpu, 60, "one corner");
}

#[test]
fn bits_are_the_same_with_contact() {
    let Some(card) = card() else { return };
    let scene = scene(sheet(36, 0.7), vec![ball(0.25, 0.4), floor()], true);
    let mut first = on(&card, &scene);
    take(&mut first, 25, "first");
    let kept = first.snapshot();
    let mut clone = first.clone();
    take(&mut first, 15, "first");
    take(&mut clone, 15, "clone");
    let mut again = on(&card, &scene);
    take(&mut again, 40, "again");
    let mut resumed = on(&card, &scene);
    resumed.restore(&kept).unwrap();
    take(&mut resumed, 15, "resumed");
    let hashes = [&first, &clone, &again, &resumed].map(|simulation| simulation.state().hash());
    assert!(hashes.iter().all(|hash| *hash == hashes[0]), "{hashes:x?}");
}

#[test]
fn a_hand_that_is_led_into_the_floor_gives_way() {
    let Some(card) = card() else { return };
    let mut gpu = on(&card, &scene(sheet(20, 0.02), vec![floor()], false));
    take(&mut gpu, 10, "before");
    gpu.hold(210, gpu.positions()[210] - DVec3::new(0.0, 0.1, 0.0), 0.2).unwrap();
    let left = take(&mut gpu, 10, "held");
    assert!(left > 0 && gpu.positions()[210].y >= 0.0, "{}", gpu.positions()[210]);
}
