//! The fit in exports: strain, ease and pressure as numbers and as colours.

use super::readers::{Abc, Glb, run, target, usd_prim, usd_samples};
use std::path::{Path, PathBuf};
use taffeta_io::export::maps::FitMap;
use taffeta_io::export::{Bodies, Format, Options};
use taffeta_io::recording::{Frame, Header, Reader, Writer, pressure};
use taffeta_io::scene_file;
use taffeta_scene::colour::viridis;
use tempfile::TempDir;

/// A sheet that falls on a box, half of it beside.
const SCENE: &str = r#"
frames = 6
[[cloth]]
name = "sheet"
position = [0.1, 0.006, 0.0]
sheet = { width = 0.2, height = 0.2, columns = 6, rows = 6 }
[[collider]]
position = [0.0, -0.1, 0.0]
box = { size = [0.2, 0.2, 0.4] }
"#;
const FRAMES: u32 = 6;

fn recorded(folder: &Path) -> PathBuf {
    let scene = scene_file::from_text("a scene", SCENE, &[]).unwrap();
    let mut simulation = taffeta_scene::simulation(&scene, &Default::default()).unwrap();
    let path = folder.join("run.taffeta");
    let header = Header { scene: SCENE.into(), ..Header::of_run(&scene, "sheet", simulation.model(), 1) };
    let mut writer = Writer::create(&path, &header).unwrap();
    for number in 0..FRAMES {
        if number > 0 {
            simulation.step_frame(&mut ()).unwrap();
        }
        let state = simulation.state();
        let mut frame = Frame { number, time: state.time, state_hash: state.hash(), ..Frame::default() };
        frame.set_positions(&state.positions);
        frame.bodies.extend(simulation.model().poses(state));
        writer.frame(&frame).unwrap();
    }
    writer.finish().unwrap();
    path
}

/// What the maps have to hold in every frame: pressure computed frame by frame, ease by the shape of the box.
fn truth(path: &Path) -> Vec<[Vec<f32>; 2]> {
    let mut reader = Reader::open(path).unwrap();
    let mut frame = Frame::default();
    let mut all = Vec::new();
    for k in 0..FRAMES as usize {
        reader.seek(k).unwrap();
        reader.next_frame(&mut frame).unwrap();
        let ease = frame.absolute().map(|p| {
            let beyond = (p.abs() - taffeta::math::DVec3::new(0.1, 0.0, 0.2)).max(taffeta::math::DVec3::ZERO);
            let above = p.y.max(0.0);
            (beyond.x * beyond.x + above * above + beyond.z * beyond.z).sqrt().min(0.1) as f32
        });
        let ease = ease.collect();
        let pressed = if k == 0 {
            vec![0.0; frame.absolute().count()]
        } else {
            pressure(&mut reader, k, Path::new(".")).unwrap()
        };
        all.push([ease, pressed.into_iter().map(|x| x as f32).collect()]);
    }
    all
}

fn linear(c: f32) -> f32 {
    if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

fn options(maps: &[FitMap]) -> Options {
    Options { maps: maps.to_vec(), bodies: Bodies::None, replace: true, ..Options::default() }
}

#[test]
fn maps_are_numbers_where_the_format_has_them_and_the_first_is_colours() {
    let folder = TempDir::new().unwrap();
    let recording = recorded(folder.path());
    let truth = truth(&recording);
    let most = truth.iter().flat_map(|[_, pressure]| pressure).copied().fold(0.0, f32::max);
    assert!(most > 0.0, "nothing presses");
    let options = options(&[FitMap::Ease, FitMap::Pressure]);
    let to = target(&folder, Format::Usd);
    let done = run(&recording, Format::Usd, &to, &options).unwrap();
    assert_eq!(done.left_out, ["colours are of ease, from dark at 0 to yellow at 100 mm and more"]);
    let text = std::fs::read_to_string(&to).unwrap();
    let prim = usd_prim(&text, "Mesh", "sheet");
    let colours = usd_samples(prim, "color3f[] primvars:displayColor");
    for (name, k) in [("ease", 0), ("pressure", 1)] {
        let samples = usd_samples(prim, &format!("float[] primvars:{name}"));
        assert_eq!(samples.len(), truth.len());
        for (frame, (_, numbers)) in samples.iter().enumerate() {
            let numbers: Vec<f32> = numbers.iter().map(|x| *x as f32).collect();
            let near = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-6 * (1.0 + b.abs());
            assert!(numbers.len() == 36 && numbers.iter().zip(&truth[frame][k]).all(near), "{name} {frame}");
        }
    }
    let shown = |ease: f32| viridis(ease / 0.1).map(linear);
    let near = |a: [f32; 3], b: [f32; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5);
    for (frame, (_, colours)) in colours.iter().enumerate() {
        for (colour, ease) in colours.as_chunks::<3>().0.iter().zip(&truth[frame][0]) {
            assert!(near(colour.map(|c| c as f32), shown(*ease)), "{colour:?} for {ease}");
        }
    }
    assert!(text.contains("inputs:diffuseColor.connect = </World/Materials/sheet/colours.outputs:result>"));
    let to = target(&folder, Format::Gltf);
    run(&recording, Format::Gltf, &to, &options).unwrap();
    let glb = Glb::read(&std::fs::read(&to).unwrap());
    for (frame, colours) in glb.played(0, "COLOR_0").into_iter().enumerate() {
        assert!(colours.iter().zip(&truth[frame][0]).all(|(c, ease)| near(*c, shown(*ease))), "{frame}");
    }
    assert_eq!(
        glb.root["materials"][0]["pbrMetallicRoughness"]["baseColorFactor"],
        serde_json::json!([1.0, 1.0, 1.0, 1.0])
    );
    let to = target(&folder, Format::Alembic);
    run(&recording, Format::Alembic, &to, &options).unwrap();
    let abc = Abc::read(std::fs::read(to).unwrap());
    let of = |name: &str| abc.samples(&format!("/sheet/sheetShape/.geom/.arbGeomParams/{name}"));
    for (frame, [_, pressures]) in truth.iter().enumerate() {
        let numbers: Vec<u8> = pressures.iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!((&of("pressure")[frame], of("Cd")[frame].len()), (&numbers, 36 * 12));
    }
}

#[test]
fn colours_have_one_scale_in_all_frames() {
    let folder = TempDir::new().unwrap();
    let recording = recorded(folder.path());
    let truth = truth(&recording);
    let most = truth.iter().flat_map(|[_, pressure]| pressure).copied().fold(0.0, f32::max);
    let high = taffeta_scene::colour::round_above(f64::from(most)) as f32;
    let to = folder.path().join("frames");
    let done = run(&recording, Format::Ply, &to, &options(&[FitMap::Pressure])).unwrap();
    assert!(
        done.left_out.iter().any(|line| line.contains(&format!("yellow at {high} kPa"))),
        "{:?}",
        done.left_out
    );
    for (frame, [_, pressures]) in truth.iter().enumerate() {
        let bytes = std::fs::read(to.join(format!("frames.{frame:04}.ply"))).unwrap();
        let end = bytes.windows(11).position(|w| w == b"end_header\n").unwrap() + 11;
        let head = std::str::from_utf8(&bytes[..end]).unwrap();
        assert!(
            head.contains("float pressure\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n")
        );
        // Position, texture and pressure, each in single precision, then the colour.
        let rows = bytes[end..].chunks(6 * 4 + 3).take(pressures.len());
        for (row, pressure) in rows.zip(pressures) {
            assert_eq!(row[20..24], pressure.to_le_bytes());
            let colour = viridis(pressure / high).map(|c| (255.0 * c + 0.5) as u8);
            assert!(row[24..].iter().zip(colour).all(|(a, b)| a.abs_diff(b) <= 1), "{row:?}, not {colour:?}");
        }
    }
    let to = folder.path().join("objects");
    run(&recording, Format::Obj, &to, &options(&[FitMap::Pressure])).unwrap();
    let text = std::fs::read_to_string(to.join("objects.0005.obj")).unwrap();
    let first: Vec<f32> = text
        .lines()
        .find_map(|line| line.strip_prefix("v "))
        .unwrap()
        .split(' ')
        .map(|x| x.parse().unwrap())
        .collect();
    let colour = viridis(truth[5][1][0] / high);
    assert!(first[3..].iter().zip(colour).all(|(a, b)| (a - b).abs() < 1e-5), "{first:?}, not {colour:?}");
}

#[test]
fn maps_that_cannot_be_are_refused_with_words() {
    let folder = TempDir::new().unwrap();
    let recording = recorded(folder.path());
    let refused = |recording: &Path, format: Format, options: &Options| {
        run(recording, format, &target(&folder, format), options).unwrap_err().to_string()
    };
    let asked = options(&[FitMap::Ease]);
    assert_eq!(
        refused(&recording, Format::Pc2, &asked),
        "pc2 cannot have maps of the fit; leave them out, or export to usd, usdz, alembic, gltf, ply or obj"
    );
    let woven = Options { weave: true, ..asked };
    assert_eq!(
        refused(&recording, Format::Usd, &woven),
        "usd cannot have a weave and colours of the fit at once; leave out one of them"
    );
    // The recording of another scene than it says.
    let (_folder, other, _) = super::readers::recorded();
    let words = refused(&other, Format::Usd, &options(&[FitMap::Pressure]));
    assert!(words.ends_with("leave out pressure, or export from the folder of the run"), "{words}");
}
