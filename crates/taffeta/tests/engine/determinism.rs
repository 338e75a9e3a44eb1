//! The same scene gives the same bits: for every thread count, in debug and release, today and tomorrow.

mod scenes;

use crate::common::{free_sheet, run, simulation};
use scenes::{Case, Seen};
use taffeta::Simulation;
use taffeta_scene::{Collider, Method, Pin, Scene, SphereShape};

/// A pool of so many threads.
fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

/// Hashes of the first frames on a pool of `threads`.
fn hashes(scene: &Scene, threads: usize, frames: usize) -> Vec<u64> {
    let mut simulation = simulation(scene);
    pool(threads).install(|| {
        (0..frames)
            .map(|_| {
                simulation.step().unwrap();
                simulation.state().hash()
            })
            .collect()
    })
}

#[test]
fn the_thread_count_changes_no_bit() {
    // Eight threads share what three do already; they are for long runs, as are more frames.
    let (frames, counts) = if testing::long() { (10, &[2, 3, 8][..]) } else { (2, &[3][..]) };
    for method in Method::ALL {
        let scene = scenes::wind(*method, false);
        let alone = hashes(&scene, 1, frames);
        for threads in counts {
            assert_eq!(hashes(&scene, *threads, frames), alone, "{} on {threads} threads", method.name());
        }
    }
}

#[test]
fn a_sheet_that_is_large_enough_for_threads_has_the_same_bits() {
    for (method, side) in [(Method::ImpulseStrips, 150), (Method::Vbd, 60)] {
        let mut scene = free_sheet(method, side);
        scene.gravity = [0.0, -9.81, 0.0];
        scene.cloth[0].pin = vec![Pin { vertices: vec![0, side - 1], ..Pin::default() }];
        let alone = hashes(&scene, 1, 2);
        for threads in [2, 3] {
            assert_eq!(hashes(&scene, threads, 2), alone, "{} on {threads} threads", method.name());
        }
    }
}

#[test]
fn a_state_from_bytes_goes_on_with_the_same_bits() {
    for method in Method::ALL {
        let scene = scenes::wind(*method, true);
        let whole = hashes(&scene, 2, 6);
        let mut first = simulation(&scene);
        run(&mut first, 0.1);
        let bytes = first.state().to_bytes();
        let mut second = simulation(&scene);
        second.restore(&bytes).unwrap();
        let rest: Vec<u64> = (3..6)
            .map(|_| {
                second.step().unwrap();
                second.state().hash()
            })
            .collect();
        assert_eq!(rest, whole[3..], "{}", method.name());
    }
}

#[test]
fn every_step_can_be_the_last_before_an_interruption() {
    for method in Method::ALL {
        let mut scene = free_sheet(*method, 10);
        scene.gravity = [0.0, -9.81, 0.0];
        scene.cloth[0].position = [0.0, 0.33, 0.0];
        scene.collider = vec![Collider { sphere: Some(SphereShape { radius: 0.3 }), ..Collider::default() }];
        let mut whole = simulation(&scene);
        for step in 0..8 {
            let mut resumed = simulation(&scene);
            resumed.restore(&whole.state().to_bytes()).unwrap();
            resumed.step().unwrap();
            whole.step().unwrap();
            assert_eq!(resumed.state().hash(), whole.state().hash(), "{} after {step}", method.name());
        }
    }
}

type Make = fn(Method) -> Case;

/// Takes the frames of a case from the given one on.
fn go_on(simulation: &mut Simulation, frames: std::ops::Range<usize>) -> Seen {
    frames.fold(Seen::default(), |seen, _| {
        let report = simulation.step().unwrap_or_else(|error| panic!("{error}"));
        Seen { contacts: seen.contacts + report.contacts, parted: seen.parted + report.parted }
    })
}

/// The hash of the last frame, on so many threads, interrupted in the middle or not.
fn last_hash(case: &Case, frames: usize, threads: usize, interrupted: bool) -> u64 {
    pool(threads).install(|| {
        let mut simulation = case.build();
        go_on(&mut simulation, 0..frames / 2);
        if interrupted {
            let bytes = simulation.state().to_bytes();
            simulation = case.build();
            simulation.restore(&bytes).unwrap();
        }
        go_on(&mut simulation, frames / 2..frames);
        simulation.state().hash()
    })
}

/// A case does what it is for and ends with the hash that is kept, also on other threads and after an interruption.
fn keeps(make: Make, method: Method, golden: u64) {
    let mut case = make(method);
    // A second run on other threads shows that their number does not matter; what is heavy has only one.
    let found = pool(if case.heavy { 2 } else { 1 }).install(|| {
        let mut simulation = case.build();
        let seen = go_on(&mut simulation, 0..case.frames);
        (case.shows)(&simulation, seen);
        simulation.state().hash()
    });
    assert_eq!(format!("{found:#018x}"), format!("{golden:#018x}"), "{}", method.name());
    if !case.heavy || testing::long() {
        assert_eq!(
            last_hash(&case, case.frames, 3, true),
            golden,
            "{} interrupted on 3 threads",
            method.name()
        );
    }
    // Longer runs see states that the kept hash does not reach.
    if testing::long() {
        let alone = last_hash(&case, 4 * case.frames, 1, false);
        for threads in [2, 8] {
            let hash = last_hash(&case, 4 * case.frames, threads, true);
            assert_eq!(hash, alone, "{} on {threads} threads", method.name());
        }
    }
    if let Some(without) = case.without {
        without(&mut case.scene);
        assert_ne!(last_hash(&case, case.frames, 1, false), golden, "{}: it does nothing", method.name());
    }
}

/// One test for each scene and method: a changed hash is a changed result. Put the new one here only with a reason in the commit.
macro_rules! golden {
    ($($scene:ident { $($method:ident $hash:literal)* })*) => {
        const GOLDEN: &[(&str, Make, &[&str])] =
            &[$((stringify!($scene), scenes::$scene, &[$(stringify!($method)),*])),*];
        $(mod $scene {
            $(#[test]
            fn $method() {
                super::keeps(super::scenes::$scene, super::named(stringify!($method)), $hash)
            })*
        })*
    };
}

fn named(name: &str) -> Method {
    *Method::ALL.iter().find(|method| method.name().replace('-', "_") == name).expect("a method")
}

#[test]
fn every_method_has_a_hash_in_every_scene_that_it_takes() {
    for (scene, make, methods) in GOLDEN {
        for method in Method::ALL {
            let listed = methods.contains(&method.name().replace('-', "_").as_str());
            let case = make(*method);
            let taken = taffeta_scene::simulation(&case.scene, &case.meshes).is_ok();
            assert_eq!(listed, taken, "{scene} by {}", method.name());
        }
    }
}

golden! {
    wind_and_led_things {
        backward_euler 0x1642_3b8c_a4f4_2331
        bdf2 0x606a_180b_7bec_88a8
        bdf2_secant 0x9bb3_97f3_0489_4922
        impulse_iterative 0xed0b_34e5_12d6_ef87
        impulse_strips 0x0b33_fc5b_7f40_f97f
        impulse_direct 0x6449_b980_3b7a_a929
        verlet 0x9161_7712_e21b_ef3b
        xpbd 0xa8df_3a70_12c0_e922
        vbd 0x5f77_3037_38a6_4537
    }
    gusts {
        backward_euler 0xf077_8bd5_2720_e212
        bdf2 0xad9d_ce73_de40_de16
        bdf2_secant 0x1462_95b4_9460_7264
        impulse_iterative 0xc026_ceb6_a687_b1c4
        impulse_strips 0x7aef_903d_45ac_81e1
        impulse_direct 0xa653_36f0_c67e_77a5
        verlet 0x69dc_474d_4745_3c43
        xpbd 0x1ece_7744_719b_d785
        vbd 0x5695_2c03_ff24_9e58
    }
    self_contact {
        backward_euler 0x074b_11a2_1e45_fcc8
        bdf2 0x8a18_3eaa_97a5_ac47
        bdf2_secant 0x7543_b7c2_802e_3fc8
        impulse_iterative 0xec89_6208_dbc2_4577
        impulse_strips 0x19a8_8887_b157_f020
        impulse_direct 0x537e_d18d_4c9e_d62b
        verlet 0x018b_8f99_0418_d130
        xpbd 0x49dd_ccfc_ecdd_9a08
        vbd 0x9ba9_2039_5b7f_2edb
    }
    free_bodies {
        backward_euler 0xd4f9_b9da_e734_1094
        bdf2 0x5f18_17e2_aa94_6e75
        bdf2_secant 0x5061_c1df_5617_6adf
        impulse_iterative 0x19c5_18a1_f0ce_94d8
        impulse_strips 0xf191_9af2_d483_0d73
        impulse_direct 0x9428_7c9f_75a2_b164
        verlet 0x9331_63c4_8b27_546d
        xpbd 0x61f8_a2a2_a8c5_9ca0
        vbd 0x8d10_d20a_c729_dcdc
    }
    soft_solids {
        backward_euler 0xb98e_be7a_f2b4_e32f
        bdf2 0xed4a_7fe0_f642_b225
        bdf2_secant 0xd1ac_94b3_0b1d_543d
        impulse_iterative 0x68b8_ce52_a371_36aa
        impulse_direct 0xc428_a51b_94dc_5e95
        verlet 0xbb61_fa2a_043c_6875
        xpbd 0xd7df_b865_ea79_da01
        vbd 0xd2f4_05d1_9e9d_3fd1
    }
    seams {
        backward_euler 0x8e13_7400_c09d_601f
        bdf2 0xcd04_2bab_ba97_1f71
        bdf2_secant 0x3a39_cb65_561b_c0a7
        impulse_iterative 0xb8d6_da5f_8230_7a1f
        impulse_strips 0x9a1f_3c58_6c48_39ea
        impulse_direct 0x6441_04ac_af73_a8f3
        verlet 0xe45d_2a5e_d8ea_bd4d
        xpbd 0x2580_51b6_10e9_1b69
        vbd 0x6e75_3e6c_73d2_70c1
    }
    tearing {
        backward_euler 0x8d46_da7b_c58a_90b9
        bdf2 0x2157_be93_14b8_93d2
        bdf2_secant 0x22b3_427f_1b30_8712
        impulse_strips 0x8821_36e6_c915_13f7
        impulse_direct 0x8377_be9e_b515_de53
        verlet 0x7b75_eef4_245a_360c
        xpbd 0xcd4b_3d0a_7884_ebad
        vbd 0xaaa4_f769_3f08_3055
    }
    mesh_bodies {
        backward_euler 0xd0c9_9c48_9f40_d8fa
        bdf2 0x9c7e_b295_4126_ddaf
        bdf2_secant 0xd1c8_e83b_395a_d0fa
        impulse_iterative 0x47a5_9f3e_063f_9e80
        impulse_strips 0xd255_5bcc_81f6_f273
        impulse_direct 0x34c7_ef4e_a449_7855
        verlet 0x5cb8_de4f_c081_03e6
        xpbd 0x33c1_30d6_b374_26aa
        vbd 0x17f5_471f_cbd5_8a35
    }
    strain_limit_by_halves {
        backward_euler 0x6e5a_216a_cec9_654a
        bdf2 0x43ec_7052_ae48_7193
        bdf2_secant 0x4208_821e_32c8_5850
        impulse_iterative 0x285f_f49b_450d_9d0b
        impulse_strips 0x4638_1d14_ab9d_03cc
        impulse_direct 0x8395_e113_4700_cfec
        verlet 0x4257_1f18_8ac9_f087
        xpbd 0xbb91_7218_c760_42ea
        vbd 0x503f_83b1_91ce_d00e
    }
    strain_limit_by_priority {
        backward_euler 0x5165_f7ac_6ad2_97a1
        bdf2 0x4463_b8a3_6f12_6ae1
        bdf2_secant 0x0165_aa7b_5dd3_3909
        impulse_iterative 0x517e_20fc_2f06_880f
        impulse_strips 0x00ad_320c_566c_3861
        impulse_direct 0xc577_a572_107c_66cd
        verlet 0x6678_7f1b_511f_ba5e
        xpbd 0x8da0_a007_5205_c586
        vbd 0x03a6_b765_3f25_79a4
    }
    fillings {
        backward_euler 0xc8e0_ddae_c473_f424
        bdf2 0xa1d5_6066_8668_15c7
    }
    triangles {
        backward_euler 0xb0ef_492c_7094_9662
        bdf2 0xba2c_de8a_e241_8117
    }
    choi_ko {
        backward_euler 0x83cc_6171_609c_deb8
        bdf2 0xbfb8_ffa7_0c7b_ada0
    }
    chosen_steps {
        backward_euler 0xbf2f_5128_3b4e_f6ee
        bdf2 0x46ff_6ccc_33ad_947d
        bdf2_secant 0xf437_059b_0848_acbd
        impulse_iterative 0x7b7c_ec63_1b57_d51e
        impulse_strips 0x5bac_607c_626b_1e8f
        impulse_direct 0xe4cb_6fab_2423_cc68
        verlet 0x96c2_62b5_3b9b_7e7d
        xpbd 0xe9e6_4d53_edfd_47c0
        vbd 0xc0b3_7c93_ca97_da21
    }
    printed_impulses {
        backward_euler 0xcd53_337c_9de2_7c14
        bdf2 0xf465_d38a_084f_1c0f
        bdf2_secant 0x3dec_8a60_685e_3c93
        impulse_iterative 0x968b_a7a6_31e1_d8dc
        impulse_strips 0xa3c1_0046_691b_4d52
        impulse_direct 0x0ccf_648c_ef99_017e
        verlet 0x50b4_1f01_bdb3_4a57
        xpbd 0x7636_c625_9f29_6ab8
        vbd 0x4395_376f_a54b_8ce7
    }
}
