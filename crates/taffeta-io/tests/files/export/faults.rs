//! Exports that something bad happens to: nothing half-written, nothing overwritten, nothing refused without a remedy.

use super::readers::{
    files, frame, header, read_pc2, record, recorded, run, single, target, usd_points, usd_prim,
};
use serde_json::json;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use taffeta_io::export::{ExportError, Format, Options, Precision, UpAxis, export};
use taffeta_io::recording::{Reader, Writer};

fn replacing() -> Options {
    Options { replace: true, ..Options::default() }
}

#[test]
fn a_damaged_recording_is_exported_up_to_the_damage() {
    let (folder, recording, frames) = recorded();
    let bytes = std::fs::read(&recording).unwrap();
    let cut = folder.path().join("cut");
    std::fs::write(&cut, &bytes[..bytes.len() - 100]).unwrap();
    let broken = folder.path().join("broken");
    let hash = frames[2].state_hash.to_le_bytes();
    let middle = bytes.windows(8).position(|w| w == hash).unwrap();
    let mut flipped = bytes.clone();
    flipped[middle] ^= 1;
    std::fs::write(&broken, flipped).unwrap();
    for (recording, whole) in [(cut, 4), (broken, 2)] {
        for format in Format::ALL {
            let to = folder.path().join(format!("{whole}_{format}.{}", format.extension()));
            let done =
                run(&recording, format, &to, &Options { replace: true, ..Options::default() }).unwrap();
            assert_eq!((done.frames, done.last), (whole, whole - 1), "{format}");
            assert!(done.damage.is_some() && (whole == 2 || !done.complete));
        }
        let (_, samples) = read_pc2(&std::fs::read(folder.path().join(format!("{whole}_pc2.pc2"))).unwrap());
        assert_eq!(samples.len(), whole as usize);
    }
}

#[test]
fn an_interrupted_export_leaves_what_was_there() {
    let (folder, recording, _) = recorded();
    let stopped = |format, options: &Options, stop| {
        let mut progress = |done, _| assert!(done < stop, "stopped on purpose");
        let mut reader = Reader::open(&recording).unwrap();
        let to = target(&folder, format);
        catch_unwind(AssertUnwindSafe(|| export(&mut reader, format, &to, options, &mut progress))).is_err()
    };
    let contents = || {
        files(folder.path()).into_iter().map(|file| (std::fs::read(&file).unwrap(), file)).collect::<Vec<_>>()
    };
    for format in Format::ALL {
        for stop in [1, 4] {
            let before = contents();
            assert!(stopped(format, &Options::default(), stop));
            assert!(contents() == before, "{format}");
            assert!(!target(&folder, format).exists() && !hidden(folder.path()));
        }
        // An earlier export stays, even if it was to be replaced, until the new one is whole.
        let part = Options { frames: Some(0..=1), ..Options::default() };
        run(&recording, format, &target(&folder, format), &part).unwrap();
        let before = contents();
        assert!(stopped(format, &replacing(), 5));
        assert!(contents() == before, "{format}");
        run(&recording, format, &target(&folder, format), &replacing()).unwrap();
        assert!(contents() != before, "{format}");
    }
}

#[test]
fn nothing_is_overwritten_unasked() {
    let (folder, recording, _) = recorded();
    let refused = |format, options: &Options| {
        let refused = run(&recording, format, &target(&folder, format), options);
        assert!(matches!(refused, Err(ExportError::Exists { .. })), "{format}: {refused:?}");
    };
    for format in Format::ALL {
        let (to, sequence) = (target(&folder, format), matches!(format, Format::Obj | Format::Ply));
        std::fs::write(&to, "mine").unwrap();
        refused(format, &Options::default());
        assert_eq!(std::fs::read(&to).unwrap(), b"mine");
        if sequence {
            // Neither a file nor a folder with something else in it is an earlier export.
            refused(format, &replacing());
            std::fs::remove_file(&to).unwrap();
            run(&recording, format, &to, &Options::default()).unwrap();
            std::fs::write(to.join("letter.txt"), "mine").unwrap();
            refused(format, &replacing());
            assert_eq!(std::fs::read(to.join("letter.txt")).unwrap(), b"mine");
            std::fs::remove_file(to.join("letter.txt")).unwrap();
        }
        let part = Options { frames: Some(0..=1), ..replacing() };
        for (options, frames) in [(replacing(), 5), (part, 2)] {
            let done = run(&recording, format, &to, &options).unwrap();
            let here: u64 = done.paths.iter().map(|path| size(path)).sum();
            assert_eq!((done.frames, here), (frames, done.bytes), "{format}");
        }
        if !sequence {
            std::fs::remove_file(&to).unwrap();
            std::fs::create_dir(&to).unwrap();
            refused(format, &replacing());
        }
        let missing = run(&recording, format, &folder.path().join("no/such/out"), &Options::default());
        assert!(matches!(missing, Err(ExportError::Io { doing: "creating", .. })), "{format}");
        let nameless = run(&recording, format, Path::new("/"), &Options::default());
        assert!(matches!(nameless, Err(ExportError::NoName { .. })), "{format}");
    }
    // The mesh beside a cache counts too, and no hidden file is left anywhere.
    std::fs::write(folder.path().join("new.obj"), "mine").unwrap();
    let refused = run(&recording, Format::Pc2, &folder.path().join("new.pc2"), &Options::default());
    assert!(matches!(refused, Err(ExportError::Exists { path }) if path.ends_with("new.obj")));
    assert!(!hidden(folder.path()));
}

/// Whether anything with a hidden name lies in a folder.
fn hidden(folder: &Path) -> bool {
    let mut entries = std::fs::read_dir(folder).unwrap();
    entries.any(|entry| entry.unwrap().file_name().to_string_lossy().starts_with('.'))
}

/// Size of a file, or of all files in a folder [bytes].
fn size(path: &Path) -> u64 {
    let each = if path.is_dir() { files(path) } else { vec![path.to_path_buf()] };
    each.iter().map(|file| file.metadata().unwrap().len()).sum()
}

#[test]
fn a_recording_cut_while_it_is_exported_is_an_error_that_leaves_nothing() {
    let (folder, recording, _) = recorded();
    let before = files(folder.path());
    let size = recording.metadata().unwrap().len();
    for format in Format::ALL {
        let copy = folder.path().join("copy");
        std::fs::copy(&recording, &copy).unwrap();
        let file = std::fs::OpenOptions::new().write(true).open(&copy).unwrap();
        let mut progress = |done, _| {
            if done == 1 {
                file.set_len(size / 2).unwrap();
            }
        };
        let mut reader = Reader::open(&copy).unwrap();
        let failed =
            export(&mut reader, format, &target(&folder, format), &Options::default(), &mut progress);
        assert!(
            matches!(failed, Err(ExportError::Recording(_) | ExportError::Changed { .. })),
            "{format}: {failed:?}"
        );
        std::fs::remove_file(&copy).unwrap();
        assert_eq!(files(folder.path()), before, "{format}");
    }
}

#[test]
fn what_a_format_cannot_hold_is_refused_with_a_remedy() {
    let (folder, recording, _) = recorded();
    let refuse = |recording: &Path, format, options: &Options| {
        let to = folder.path().join("refused");
        let error = run(recording, format, &to, options).unwrap_err();
        assert!(!to.exists());
        error.to_string()
    };
    let plain = Options::default();
    let double = Options { precision: Precision::F64, ..plain.clone() };
    assert!(refuse(&recording, Format::Usd, &double).contains("obj or ply"));
    assert!(
        refuse(&recording, Format::Gltf, &Options { up: Some(UpAxis::Z), ..plain.clone() }).contains("y-up")
    );
    let turned = Options { up: Some(UpAxis::Z), ..plain.clone() };
    assert!(refuse(&recording, Format::Alembic, &turned).contains("does not name its axis"));
    for scale in [0.0, -1.0, f64::NAN] {
        assert!(refuse(&recording, Format::Obj, &Options { scale, ..plain.clone() }).contains("above 0"));
    }
    assert!(
        refuse(&recording, Format::Obj, &Options { scale: 1e60, ..plain.clone() })
            .contains("single precision")
    );
    let late = Options { frames: Some(9..=12), ..plain.clone() };
    assert!(refuse(&recording, Format::Csv, &late).contains("frames from 0 to 4"));
    let long = folder.path().join("long");
    record(&long, &header(), 0..301);
    assert!(refuse(&long, Format::Gltf, &plain).contains("301 frames"));
    let crowd = folder.path().join("crowd");
    let mut many = header();
    many.about["colliders"] = vec![json!({ "shape": "Plane" }); 5000].into();
    let mut crowded = frame(1, &many.rest_positions);
    crowded.bodies = vec![taffeta::math::Pose::IDENTITY; 5000];
    Writer::create(&crowd, &many).unwrap().frame(&crowded).unwrap();
    let floors = Options { floor: true, ..plain.clone() };
    assert!(refuse(&crowd, Format::Gltf, &floors).contains("at most 300 frames and 268435456 bytes"));
    let gaps = folder.path().join("gaps");
    record(&gaps, &header(), [1, 2, 4].into_iter());
    for format in [Format::Pc2, Format::Alembic] {
        assert!(refuse(&gaps, format, &plain).contains("frame 2 is followed by frame 4"));
    }
    run(&gaps, Format::Usd, &folder.path().join("gaps.usda"), &plain).unwrap();
    let wild = folder.path().join("wild");
    let mut lost = frame(1, &header().rest_positions);
    lost.positions[5][1] = f32::NAN;
    Writer::create(&wild, &header()).unwrap().frame(&lost).unwrap();
    assert!(refuse(&wild, Format::Alembic, &plain).contains("frame 1: particle 5"));
    // Its report is as good as any other.
    run(&wild, Format::Csv, &folder.path().join("wild.csv"), &plain).unwrap();
    let shapeless = folder.path().join("shapeless");
    let mut unmade = header();
    unmade.rest_positions[3].y = f64::INFINITY;
    unmade.material[0][0] = f64::NAN;
    let mut writer = Writer::create(&shapeless, &unmade).unwrap();
    writer.frame(&frame(1, &header().rest_positions)).unwrap();
    assert!(refuse(&shapeless, Format::Mdd, &plain).contains("particle 3"));
    run(&shapeless, Format::Usd, &folder.path().join("shapeless.usda"), &plain).unwrap();
    assert!(!std::fs::read_to_string(folder.path().join("shapeless.usda")).unwrap().contains("NaN"));
    let bare = folder.path().join("bare");
    record(&bare, &taffeta_io::recording::Header { triangles: vec![], about: json!(null), ..header() }, 0..1);
    assert!(refuse(&bare, Format::Ply, &plain).contains("no triangles"));
    let empty = folder.path().join("empty");
    record(&empty, &header(), 0..0);
    assert!(refuse(&empty, Format::Usd, &plain).contains("simulate first"));
}

#[test]
fn what_the_header_does_not_say_has_defaults() {
    let folder = tempfile::tempdir().unwrap();
    let good = header().about["cloths"].clone();
    let mut overlapping = good.clone();
    overlapping[1]["particles"] = json!([11, 18]);
    let mut foreign = good.clone();
    foreign[0]["triangles"] = json!([0, 14]);
    foreign[1]["triangles"] = json!([14, 16]);
    let mut missing = good.clone();
    missing.as_array_mut().unwrap().pop();
    let abouts = [
        json!(null),
        json!([1, 2]),
        json!({ "cloths": overlapping }),
        json!({ "cloths": foreign }),
        json!({ "cloths": missing, "colliders": 3 }),
        json!({ "cloths": [{ "name": "a", "particles": [0, u64::MAX], "triangles": [5, 2] }], "colliders": [{ "shape": "Torus" }, {}] }),
        json!({ "colliders": [{ "shape": { "Sphere": { "radius": -1.0 } } }] }),
    ];
    for (k, about) in abouts.into_iter().enumerate() {
        let recording = folder.path().join(format!("run{k}"));
        let frames = record(&recording, &taffeta_io::recording::Header { about, ..header() }, 0..2);
        let to = folder.path().join(format!("{k}.usda"));
        run(&recording, Format::Usd, &to, &Options::default()).unwrap();
        let text = std::fs::read_to_string(to).unwrap();
        assert_eq!(
            usd_points(usd_prim(&text, "Mesh", "cloth")),
            frames.iter().map(single).collect::<Vec<_>>()
        );
        // The world, the cloth, the materials, that of the cloth, its shader.
        assert_eq!(text.matches("def ").count(), 5, "{k}");
    }
    // More colliders than the frames have poses for: those without are left out.
    let mut about = header().about;
    about["colliders"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "name": "ghost", "shape": { "Sphere": { "radius": 1.0 } } }));
    let recording = folder.path().join("ghost");
    record(&recording, &taffeta_io::recording::Header { about, material: vec![], ..header() }, 0..2);
    for format in Format::ALL {
        let to = target(&folder, format);
        let done = run(&recording, format, &to, &Options { replace: true, ..Options::default() }).unwrap();
        let told = done.left_out.iter().any(|line| line.starts_with("without `ghost`: "));
        assert_eq!(told, format != Format::Csv);
    }
    let text = std::fs::read_to_string(target(&folder, Format::Usd)).unwrap();
    assert!(!text.contains("ghost") && !text.contains("primvars:st"));
}
