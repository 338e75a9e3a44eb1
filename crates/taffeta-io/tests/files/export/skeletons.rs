//! Bodies on their skeletons: posed by the reader of glTF they are where the recording has them.

use super::readers::{numbers, run, usd_samples};
use std::path::Path;
use taffeta::math::{DAffine3, DVec3, Pose};
use taffeta::model::Form;
use taffeta::model::skin::Skin;
use taffeta_io::export::{Bodies, Format, Options, UpAxis};
use taffeta_io::mesh::read_gltf_animated;
use taffeta_io::recording::{Frame, Header, Writer};
use taffeta_io::scene_file;
use taffeta_scene::build::clip;

/// From frame to frame, ten moments of the walk and a half [s].
const STEP: f64 = 0.175;

const WALK: &str = r#"
[[cloth]]
name = "kerchief"
position = [0.0, 2.2, 0.0]
sheet = { width = 0.3, height = 0.3, columns = 3, rows = 3 }

[[collider]]
name = "Grüße"
position = [0.3, 0.0, 0.1]
rotation = [0, 30, 0]
mannequin = { arms = 15, detail = 40, walk = { start = 0.0, duration = 3.0, arms = 55 } }
"#;

/// Records where the body is in every frame, the cloth unsolved; tells its points.
fn record(path: &Path) -> Vec<Vec<DVec3>> {
    let scene = scene_file::from_text("walk", WALK, &[]).unwrap();
    let simulation = taffeta_scene::simulation(&scene, &Default::default()).unwrap();
    let (model, mut state) = (simulation.model(), simulation.state().clone());
    let mut writer = Writer::create(path, &Header::of_run(&scene, "walk", model, 1)).unwrap();
    let Form::Mesh(body) = &model.colliders[0].form else { panic!("the mannequin is a mesh") };
    let mut truth = Vec::new();
    for number in 0..8 {
        state.time = STEP * f64::from(number);
        let mut frame = Frame { number, time: state.time, ..Frame::default() };
        frame.set_positions(&state.positions);
        frame.bodies.extend(model.poses(&state));
        writer.frame(&frame).unwrap();
        truth.push(body.points(state.time, &frame.bodies[0]));
    }
    writer.finish().unwrap();
    truth
}

fn options() -> Options {
    Options { bodies: Bodies::Skeleton, ..Options::default() }
}

#[test]
fn a_skin_in_gltf_has_the_points_of_the_recording() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("run.taffeta");
    let truth = record(&recording);
    let to = folder.path().join("walk.glb");
    let options = Options { scale: 100.0, ..options() };
    let done = run(&recording, Format::Gltf, &to, &options).unwrap();
    assert!(
        done.left_out.iter().any(|line| line.starts_with("`Grüße`: its skeleton")),
        "{:?}",
        done.left_out
    );
    let file = read_gltf_animated(&std::fs::read(to).unwrap(), &|_| unreachable!()).unwrap();
    let rig = file.mesh.rig.as_deref().unwrap();
    let names: Vec<&str> = rig.nodes.iter().map(|node| node.name.as_str()).collect();
    assert!(
        ["Grüße", "pelvis", "upper_arm_L", "foot_R"].iter().all(|name| names.contains(name)),
        "{names:?}"
    );
    let hangs_on = |name: &str| {
        let node = rig.nodes.iter().find(|node| node.name == name).unwrap();
        node.parent.map(|parent| rig.nodes[parent as usize].name.as_str())
    };
    assert_eq!((hangs_on("foot_R"), hangs_on("upper_arm_L")), (Some("shin_R"), Some("chest")));
    let moment = |time: f64| clip::pose(rig, &rig.clips[0], time, DAffine3::IDENTITY);
    let skin = Skin {
        rest: rig.points.clone(),
        ends: rig.ends.clone(),
        shares: rig.shares.clone(),
        morphs: rig.shapes.iter().map(|shape| shape.morph.clone()).collect(),
        moments: (0..truth.len()).map(|frame| moment(STEP * frame as f64)).collect(),
        joints: vec![],
    };
    let (mut points, mut moved) = (vec![DVec3::ZERO; skin.rest.len()], 0.0);
    for (frame, truth_then) in truth.iter().enumerate() {
        skin.place(frame, frame, 0.0, &Pose::IDENTITY, &mut points);
        let body = &points[points.len() - truth_then.len()..];
        for ((is, was), start) in body.iter().zip(truth_then).zip(&truth[0]) {
            // In centimetres. Between moments joints turn where points go straight.
            let most = if frame % 2 == 0 { 2e-6 } else { 1e-3 };
            assert!((*is / 100.0).distance(*was) < most, "frame {frame}: {is} instead of {was}");
            moved = f64::max(moved, was.distance(*start));
        }
    }
    assert!(moved > 0.5, "the mannequin walks: {moved} m");
}

#[test]
fn a_skeleton_in_usd_has_joints_that_move_and_shares_of_every_point() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("run.taffeta");
    let truth = record(&recording);
    let to = folder.path().join("walk.usda");
    run(&recording, Format::Usd, &to, &Options { up: Some(UpAxis::Z), ..options() }).unwrap();
    let text = std::fs::read_to_string(to).unwrap();
    let skeleton = text.split("def SkelRoot \"Grüße\"").nth(1).unwrap();
    assert!(
        skeleton.contains("\"pelvis/chest/upper_arm_L/forearm_L\"")
            && skeleton.contains("\"pelvis/thigh_R\"")
    );
    let places = usd_samples(skeleton, "float3[] translations");
    assert_eq!((places.len(), places[0].1.len()), (8, 3 * 16));
    // z up: the pelvis is 0.9 m above the floor, and goes along its own way.
    assert!(places.iter().all(|(_, numbers)| (0.8..1.0).contains(&numbers[2])), "{places:?}");
    let way = (places[7].1[0] - places[0].1[0], places[7].1[1] - places[0].1[1]);
    assert!(way.0 > 0.2 && way.1 < -0.2, "{way:?}");
    let line = |key: &str| {
        let text = skeleton.lines().find_map(|line| line.trim().strip_prefix(key)).unwrap();
        numbers(text.split(']').next().unwrap())
    };
    let shares = line("float[] primvars:skel:jointWeights = ");
    let width = shares.len() / truth[0].len();
    assert_eq!(shares.len(), line("int[] primvars:skel:jointIndices = ").len());
    assert!(skeleton.contains(&format!("elementSize = {width}\n")));
    assert!(shares.chunks(width).all(|held| (held.iter().sum::<f64>() - 1.0).abs() < 1e-6));
}

#[test]
fn formats_without_skeletons_refuse_them() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("run.taffeta");
    record(&recording);
    for format in [Format::Obj, Format::Ply, Format::Pc2, Format::Mdd, Format::Alembic] {
        let error = run(&recording, format, &folder.path().join("none"), &options()).unwrap_err();
        assert!(error.to_string().contains("cannot have skeletons; write points"), "{error}");
    }
}
