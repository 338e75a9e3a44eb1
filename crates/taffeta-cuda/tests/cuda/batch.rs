//! Batches on a card: members are as they were alone, within the tolerance of the certificate, and those that are not are told.

use crate::steps::{card, distances, hang, on, on_cpu};
use std::sync::Arc;
use taffeta::math::DVec3;
use taffeta::model::State;
use taffeta_cuda::{Batch, CudaDevice, CudaError};
use taffeta_scene::{Air, Cloth, Disc, Gust, Pin, Scene, Side};

/// Members where the scene begins.
fn batch(card: &Arc<CudaDevice>, scene: &Scene, count: usize, handles: &[u32]) -> Batch {
    Batch::new(card, &on_cpu(scene), count, handles).unwrap()
}

/// Steps, and looks that every frame of every member is within its tolerance.
fn take(batch: &mut Batch, frames: u32, what: &str) {
    for frame in 1..=frames {
        batch.step_frames(1).unwrap();
        let reports = batch.reports().unwrap();
        let bad = reports.iter().position(|report| !report.converged);
        assert!(bad.is_none(), "{what}, frame {frame}, member {bad:?}: {:?}", bad.map(|k| reports[k]));
    }
}

fn gusty() -> Air {
    let gust = Gust { speed: 2.0, frequency: 3.0, length: 0.3 };
    Air { wind: [6.0, 0.5, 1.0], lift: 1.0, gust, ..Air::default() }
}

#[test]
fn members_are_like_the_same_cloth_alone() {
    let Some(card) = card() else { return };
    let disc = Cloth {
        disc: Some(Disc { radius: 0.5, rings: 8 }),
        pin: vec![Pin { vertices: vec![0, 1], ..Pin::default() }],
        ..Cloth::default()
    };
    let mut side = hang(12, 0.01);
    side.cloth[0].pin[0] = Pin { sides: vec![Side::Left], ..Pin::default() };
    for (what, scene) in [
        ("hang 32²", hang(32, 0.01)),
        ("hang 17², 0.01 %", hang(17, 1e-4)),
        ("hang 40²", hang(40, 0.01)),
        ("hang 70², not in shared memory", hang(70, 0.01)),
        ("a flag", Scene { air: gusty(), ..side }),
        ("a disc", Scene { cloth: vec![disc], ..hang(4, 0.01) }),
    ] {
        let (mut alone, mut own) = (on(&card, &scene), batch(&card, &scene, 3, &[]));
        let mut furthest = 0.0_f64;
        for frame in 1..=20 {
            let told = alone.step_frame(&mut ()).unwrap();
            take(&mut own, 1, what);
            let report = own.reports().unwrap()[1];
            let mut here = on_cpu(&scene);
            here.restore(&own.state(1).unwrap().to_bytes()).unwrap();
            let strain = here.certificate().max_strain;
            assert!(
                (strain - report.max_strain).abs() < 1e-12,
                "{what}: {strain} is told as {}",
                report.max_strain
            );
            let [_, typical] = distances(&alone, &here);
            furthest = furthest.max(typical);
            assert!(typical < 1e-3, "{what}: {typical} m apart after frame {frame}");
            if frame <= 3 {
                assert_eq!(report.substeps, told.substeps, "{what}, frame {frame}");
            }
        }
        println!("{what}: root mean square distance {furthest} m to the same cloth alone");
    }
}

#[test]
fn bits_do_not_depend_on_the_batch() {
    let Some(card) = card() else { return };
    let scene = Scene { air: gusty(), ..hang(20, 0.001) };
    let handle = 210;
    // Every member is pulled to another place, and the odd ones let go of a pin.
    let pull = |batch: &mut Batch, member: usize, as_member: usize| {
        let place =
            on_cpu(&scene).positions()[handle as usize] + DVec3::new(0.0, 0.002 * as_member as f64, 0.01);
        batch.hold(member, 2, place).unwrap();
        if as_member % 2 == 1 {
            batch.release(member, 0).unwrap();
        }
    };
    let mut many = batch(&card, &scene, 300, &[handle]);
    (0..300).for_each(|member| pull(&mut many, member, member));
    let hashes = |batch: &Batch, members: &[usize]| -> Vec<u64> {
        members.iter().map(|member| batch.state(*member).unwrap().hash()).collect()
    };
    many.step_frames(5).unwrap();
    let kept: Vec<State> = [7, 151, 299].map(|member| many.state(member).unwrap()).to_vec();
    let grip = |batch: &mut Batch, member: usize, as_member: usize| {
        batch
            .hold(
                member,
                2,
                kept[[7, 151, 299].iter().position(|k| *k == as_member).unwrap()].positions[handle as usize],
            )
            .unwrap();
        if as_member % 2 == 1 {
            batch.release(member, 0).unwrap();
        }
    };
    (0..5).for_each(|_| many.step_frames(1).unwrap());
    let ends = hashes(&many, &[7, 151, 299]);
    for (k, member) in [7, 151, 299].into_iter().enumerate() {
        let mut alone = batch(&card, &scene, 1, &[handle]);
        pull(&mut alone, 0, member);
        alone.step_frames(5).unwrap();
        assert_eq!(alone.state(0).unwrap().hash(), kept[k].hash(), "member {member} alone");
        (0..5).for_each(|_| alone.step_frames(1).unwrap());
        assert_eq!(hashes(&alone, &[0])[0], ends[k], "member {member} alone, later");
        // Resumed as another member of another batch.
        let mut resumed = batch(&card, &scene, 9, &[handle]);
        resumed.set_state(&kept[k], Some(&[4])).unwrap();
        grip(&mut resumed, 4, member);
        (0..5).for_each(|_| resumed.step_frames(1).unwrap());
        assert_eq!(hashes(&resumed, &[4])[0], ends[k], "member {member} resumed");
    }
    assert!(ends[0] != ends[1] && ends[1] != ends[2], "members differ");
}

#[test]
fn handles_lead_and_let_go() {
    let Some(card) = card() else { return };
    let scene = hang(16, 0.01);
    let mut own = batch(&card, &scene, 4, &[120]);
    let start = own.state(0).unwrap().positions[120];
    let place = start + DVec3::new(0.0, 0.03, 0.02);
    own.hold(2, 2, place).unwrap();
    take(&mut own, 1, "held");
    own.step_frames(3).unwrap();
    assert_eq!(own.state(2).unwrap().positions[120], place);
    assert!(own.state(1).unwrap().positions[120].distance(place) > 1e-3);
    own.release(2, 2).unwrap();
    take(&mut own, 4, "let go");
    assert!(own.state(2).unwrap().positions[120].distance(place) > 1e-3);
    // Without any pin it falls freely: a quarter of a second.
    (0..2).for_each(|pin| own.release(3, pin).unwrap());
    let height = |state: &State| state.positions.iter().map(|x| x.y).sum::<f64>() / 256.0;
    let before = own.state(3).unwrap();
    take(&mut own, 6, "free");
    let after = own.state(3).unwrap();
    let fallen = height(&before) - height(&after);
    assert!((0.1..0.7).contains(&fallen), "it has fallen by {fallen} m");
    let told = own.hold(4, 0, place).unwrap_err().to_string();
    assert!(told.contains("no member 4"), "{told}");
    assert!(own.release(0, 3).unwrap_err().to_string().contains("no handle 3"));
    let other = on_cpu(&hang(15, 0.01));
    assert_eq!(own.set_state(other.state(), None), Err(CudaError::OtherState));
    own.reset(Some(&[3])).unwrap();
    assert_eq!(own.state(3).unwrap().hash(), own_start(&scene).hash());
}

fn own_start(scene: &Scene) -> State {
    let mut state = on_cpu(scene).state().clone();
    // Shares are told alike of all members.
    if let taffeta::model::Memory::Impulse(memory) = &mut state.memory {
        memory.share.fill(on_cpu(scene).model().params.impulse.displacement_share);
    }
    state
}

#[test]
fn a_member_that_misses_is_told_and_no_other() {
    let Some(card) = card() else { return };
    let scene = hang(12, 0.01);
    let mut own = batch(&card, &scene, 5, &[]);
    take(&mut own, 2, "before");
    let pin = own.handles()[0] as usize;
    let away = own.state(1).unwrap().positions[pin] + DVec3::new(-0.5, 0.0, 0.0);
    own.hold(1, 0, away).unwrap();
    own.step_frames(1).unwrap();
    let reports = own.reports().unwrap();
    let told: Vec<bool> = reports.iter().map(|report| report.converged).collect();
    assert_eq!(told, [true, false, true, true, true], "{reports:?}");
    assert!(reports[1].max_strain > 0.1 && reports[1].tries > 1);
}
