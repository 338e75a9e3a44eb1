//! Bodies of others, held against another reader.

use super::{body, in_folder, pc2};
use std::fs;
use std::path::PathBuf;
use taffeta::math::{DAffine3, DVec3, Pose};
use taffeta::model::skin::Skin;
use taffeta_io::mesh::read_animated;
use taffeta_scene::build::clip;

fn shared(folder: &str) -> Option<PathBuf> {
    testing::reference_data(folder).map(|found| found.canonicalize().unwrap())
}

/// File, clip, moment and points as `interop/gltf_pose.py` has them, which shares no code with this.
type Known = (&'static str, &'static str, u32, [(usize, [f64; 3]); 3]);

#[rustfmt::skip]
const KNOWN: [Known; 10] = [
    ("CesiumMan", "0", 45, [(0, [0.019517740, 0.974102159, 0.107019211]), (1500, [0.118514974, 1.373083818, 0.161127380]), (3000, [0.113618228, 1.421944669, 0.160684389])]),
    ("CesiumMan", "0", 205, [(0, [0.007872902, 0.942823214, 0.130860450]), (1500, [0.004908117, 1.353166089, 0.245448689]), (3000, [-0.014299264, 1.398073356, 0.250766216])]),
    ("Fox", "Survey", 148, [(0, [2.055216071, 32.954076740, -20.403960902]), (800, [-7.069062734, 29.221297739, -13.269761114]), (1700, [7.015659483, 16.575025288, -39.102125404])]),
    ("Fox", "Run", 68, [(0, [2.929318709, 30.532623599, -30.215498559]), (800, [-9.482792399, 24.166460342, -40.618545462]), (1700, [7.263528636, 42.980006600, -52.303568208])]),
    ("RiggedFigure", "0", 93, [(0, [-0.097041288, 1.124861970, -0.091728719]), (100, [-0.043486070, 1.125123614, 0.042060579]), (360, [-0.057637807, 0.041881763, 0.177901230])]),
    ("RiggedSimple", "0", 133, [(0, [-0.000000044, -4.575077057, 0.999999583]), (80, [2.085605348, 4.109521815, -0.172236812]), (159, [2.291760274, 3.979782551, 0.415819799])]),
    ("RobotExpressive", "Dance", 281, [(10, [0.376025638, -0.020304409, -0.076345739]), (3000, [-0.012607523, 3.269969501, -0.738400591]), (7000, [0.996830256, 1.111891420, -0.384914780])]),
    ("RobotExpressive", "Yes", 60, [(10, [0.376025638, -0.020304409, -0.076345739]), (3000, [0.986495309, 2.984570904, -0.700889423]), (7000, [1.118351052, 0.950703901, 0.940731888])]),
    ("RobotExpressive", "Death", 48, [(10, [0.376025804, -0.010366553, 0.477539329]), (3000, [1.003619460, 0.157506906, -5.234099100]), (7000, [2.307810300, 0.596153811, -0.577604320])]),
    ("Michelle", "TPose", 4, [(0, [0.057486898, 1.457731123, 0.077757818]), (8000, [0.069029219, 1.514866591, 0.056598682]), (16000, [0.037062151, 1.441760416, 0.078472043])]),
];

#[test]
fn bodies_of_others_move_as_another_reader_has_them() {
    let Some(folder) = shared("gltf-bodies") else { return };
    let scenes = tempfile::tempdir().unwrap();
    for (name, clip, moment, known) in KNOWN {
        let file = folder.join(name).join(format!("{name}.glb"));
        // The fox is in centimetres.
        let scale = if name == "Fox" { 0.01 } else { 1.0 };
        let mesh = format!("file = {file:?}, scale = {scale}, animation = {{ clip = \"{clip}\" }}");
        let (_, simulation) = in_folder(scenes.path(), &mesh).unwrap_or_else(|faults| panic!("{faults}"));
        let body = body(&simulation);
        let points = body.points(f64::from(moment) * body.pace().interval, &Pose::IDENTITY);
        for (k, want) in known {
            let off = points[k].distance(scale * DVec3::from(want));
            assert!(off < 2e-6, "{name} {clip} {k}: {} and not {want:?}", points[k]);
        }
    }
}

/// All clips of all bodies load. In the middle between two moments they are off by little; `docs/import.md` has what this prints.
#[test]
fn all_clips_load_and_are_near_their_true_way_between_moments() {
    let Some(folder) = shared("gltf-bodies") else { return };
    println!("| body | clip | s | moments | off [mm] |\n|---|---|---:|---:|---:|");
    // The long dance is for optimised builds.
    let long = if cfg!(debug_assertions) { "SambaDance" } else { "" };
    for name in ["CesiumMan", "Fox", "RiggedFigure", "RiggedSimple", "RobotExpressive", "Michelle"] {
        let file = read_animated(&folder.join(name).join(format!("{name}.glb"))).unwrap();
        let rig = file.mesh.rig.as_deref().unwrap();
        // A robot of 4.7 m and a fox in centimetres, as tall as the others.
        let scale = match name {
            "Fox" => 0.01,
            "RobotExpressive" => 0.35,
            "RiggedSimple" => 0.1,
            _ => 1.0,
        };
        let outer = DAffine3::from_scale(DVec3::splat(scale));
        for clip in rig.clips.iter().filter(|clip| clip.name != long) {
            let (moments, interval) = clip::moments(rig, clip, outer).unwrap();
            let mut skin = Skin {
                rest: rig.points.clone(),
                ends: rig.ends.clone(),
                shares: rig.shares.clone(),
                morphs: rig.shapes.iter().map(|shape| shape.morph.clone()).collect(),
                moments,
                joints: vec![],
            };
            let count = skin.moments.len() - 1;
            let mut off: f64 = 0.0;
            let mut places = [vec![DVec3::ZERO; skin.rest.len()], vec![DVec3::ZERO; skin.rest.len()]];
            for k in (0..count).step_by(3) {
                let [straight, exact] = &mut places;
                skin.place(k, k + 1, 0.5, &Pose::IDENTITY, straight);
                skin.moments.push(clip::pose(rig, clip, (k as f64 + 0.5) * interval, outer));
                skin.place(count + 1, count + 1, 0.0, &Pose::IDENTITY, exact);
                skin.moments.pop();
                off = straight.iter().zip(exact).fold(off, |off, (a, b)| off.max(a.distance(*b)));
            }
            let length = count as f64 * interval;
            println!("| {name} | {} | {length:.2} | {count} | {:.2} |", clip.name, 1e3 * off);
            // The robot is a cartoon: its fists change their velocity by metres in a second from one key to the next.
            let most = if name == "RobotExpressive" { 1e-2 } else { 1e-3 };
            assert!(off < most, "{name} {}: {off} m", clip.name);
        }
    }
}

#[test]
fn a_dancer_of_raw_numbers_moves_as_a_cache_and_bodies_of_others_on_keyframes() {
    let (Some(sequence), Some(bodies)) = (shared("body-sequence"), shared("bodies-obj")) else { return };
    let raw = fs::read(sequence.join("Rumba_Dancing.f32")).unwrap();
    let numbers: Vec<f32> = raw.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("rumba.pc2"), pc2(12811, 40, &numbers)).unwrap();
    let file = sequence.join("Rumba_Dancing_frame0.obj");
    let mesh = format!("file = {file:?}, cache = {{ file = \"rumba.pc2\", rate = 12.5 }}");
    let (_, simulation) = in_folder(folder.path(), &mesh).unwrap_or_else(|faults| panic!("{faults}"));
    let dancer = body(&simulation);
    assert_eq!((dancer.point_count(), dancer.triangles().len(), dancer.moment_count()), (12811, 25472, 40));
    for (moment, point) in [(0, 0), (7, 5000), (39, 12810)] {
        let at = 3 * (12811 * moment + point);
        let want = DVec3::new(numbers[at].into(), numbers[at + 1].into(), numbers[at + 2].into());
        let now = dancer.point(point, 0.08 * moment as f64, &Pose::IDENTITY);
        assert!(now.distance(want) < 1e-9, "{moment} {point}: {now} and not {want}");
    }
    for (name, points) in [("f_smpl_average_A40.obj", 6890), ("mean_all.obj", 23752)] {
        let mesh = format!(
            "file = {:?} }}\nkeyframe = [{{ time = 0 }}, {{ time = 1, move = [0, 0, 1]",
            bodies.join(name)
        );
        let (_, simulation) =
            in_folder(folder.path(), &(mesh + " }]\n#")).unwrap_or_else(|faults| panic!("{faults}"));
        assert_eq!(body(&simulation).point_count(), points);
        assert_eq!(simulation.model().colliders[0].pose(0.5).position, DVec3::new(0.0, 0.0, 0.5));
    }
}
