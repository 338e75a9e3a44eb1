//! The corpus of the fuzz targets, replayed: each file is refused or sound, in bounded time and memory.

use std::fs;
use std::path::{Path, PathBuf};

use taffeta_io::recording::{Frame, Reader as Recording};
use taffeta_io::scene_file::{from_text, read_dxf, read_svg, to_toml};

use super::reseal::reseal;
use super::*;
use crate::recording::sample;

fn corpus(format: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(format)
}

/// Files of a format with their names.
fn files(format: &str) -> Vec<(String, Vec<u8>)> {
    let folder = corpus(format);
    let mut paths: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    paths.into_iter().map(|path| (path.display().to_string(), fs::read(&path).unwrap())).collect()
}

#[test]
fn meshes_of_the_corpus_are_refused_or_sound() {
    let readers: [(&str, Reader); 4] =
        [("obj", read_obj), ("ply", read_ply), ("stl", read_stl), ("gltf", gltf::read_alone)];
    for (format, read) in readers {
        for (name, bytes) in files(format) {
            let result = bounded(bytes.len(), &name, || read(&bytes));
            result.iter().for_each(|file| assert_sound(file, &name));
        }
    }
}

#[test]
fn scenes_of_the_corpus_are_refused_or_read_back() {
    for (name, bytes) in files("scene") {
        let Ok(text) = String::from_utf8(bytes) else { continue };
        if let Ok(scene) = bounded(text.len(), &name, || from_text(&name, &text, &[])) {
            let again = to_toml(&scene);
            assert_eq!(from_text(&name, &again, &[]).unwrap(), scene, "{name}");
        }
    }
}

#[test]
fn patterns_of_the_corpus_are_refused_or_sound() {
    type Read = fn(&[u8]) -> Result<serde_json::Value, String>;
    let readers: [(&str, Read); 2] =
        [("dxf", |bytes| read_dxf(bytes, "")), ("svg", |bytes| read_svg(&String::from_utf8_lossy(bytes)))];
    for (format, read) in readers {
        for (name, bytes) in files(format) {
            match bounded(bytes.len(), &name, || read(&bytes)) {
                Ok(pattern) => assert!(!pattern["panel"].as_array().unwrap().is_empty(), "{name}"),
                Err(reason) => assert!(!reason.is_empty(), "{name}"),
            }
        }
    }
}

/// Reads all of a recording within the bounds; how many frames there were.
fn read_recording(path: &Path, what: &str) -> usize {
    let size = fs::metadata(path).unwrap().len() as usize;
    bounded(size, what, || {
        let Ok(mut reader) = Recording::open(path) else { return 0 };
        let (mut frame, mut frames) = (Frame::default(), 0);
        while let Ok(true) = reader.next_frame(&mut frame) {
            frames += 1;
        }
        assert!(frames <= reader.frame_count(), "{what}");
        let _ = reader.last_state();
        frames
    })
}

#[test]
fn recordings_of_the_corpus_are_refused_or_read() {
    for (name, _) in files("recording") {
        read_recording(Path::new(&name), &name);
    }
}

/// Checksums stop nearly all damage; here they are put right again, so that the readers behind them are tried too.
#[test]
fn damaged_recordings_with_right_checksums_are_refused_or_read() {
    let (folder, whole) = (sample::folder(), sample::recorded());
    let path = folder.path().join("run");
    let mut same = whole.clone();
    reseal(&mut same);
    assert!(same == whole, "an undamaged recording stays as it is");
    let (mut random, mut fewer) = (Random::new(12), 0);
    for round in 0..3_000 {
        let mut bytes = whole.clone();
        for _ in 0..=random.below(4) {
            let at = 16 + random.below(bytes.len() - 16);
            match random.below(4) {
                0 => bytes[at] ^= 1 << random.below(8),
                1 => bytes[at] = random.bits() as u8,
                2 => bytes[at..].iter_mut().take(8).for_each(|byte| *byte = 0xFF),
                _ => drop(bytes.drain(at..(at + random.below(9)).min(bytes.len()))),
            }
        }
        reseal(&mut bytes);
        fs::write(&path, &bytes).unwrap();
        fewer += usize::from(read_recording(&path, &format!("mutation {round}")) < 6);
    }
    assert!((100..2_900).contains(&fewer), "mutations must both pass and fail: {fewer}");
}

/// Writes what the tests make by hand into the corpus; run it after adding a sample.
#[test]
#[ignore = "writes files"]
fn write_samples_into_the_corpus() {
    for (name, _, bytes) in samples() {
        let format = name.split(' ').next().unwrap().replace("glb", "gltf");
        fs::create_dir_all(corpus(&format)).unwrap();
        fs::write(corpus(&format).join(name.replace(' ', "-")), bytes).unwrap();
    }
    fs::create_dir_all(corpus("recording")).unwrap();
    fs::write(corpus("recording").join("six-frames"), sample::recorded()).unwrap();
}
