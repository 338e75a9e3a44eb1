//! Damaged, misnamed and impossible files are refused or sound, in bounded time and memory.

use std::fs;

use super::*;

#[test]
fn files_cut_anywhere_are_refused_or_sound() {
    for (name, read, bytes) in samples() {
        for length in 0..bytes.len() {
            let what = format!("{name} cut at {length}");
            let result = bounded(length, &what, || read(&bytes[..length]));
            // Binary files tell their length, so nothing may be missing; texts may lose their last blanks or digits.
            assert!(
                result.is_err()
                    || !what.contains("little") && !what.contains("big") && !what.contains("binary"),
                "{what}"
            );
            result.iter().for_each(|file| assert_sound(file, &what));
        }
    }
}

#[test]
fn damaged_files_are_refused_or_sound() {
    for (name, read, bytes) in samples() {
        let (mut random, mut taken) = (Random::new(11), 0);
        for round in 0..10_000 {
            let mut bytes = bytes.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len());
                match random.below(5) {
                    0 => bytes[at] ^= 1 << random.below(8),
                    1 => bytes[at] = random.bits() as u8,
                    2 => bytes[at] = b"0123456789+-./e \n\\#"[random.below(19)],
                    3 => bytes.insert(at, b"0123456789+-./e \n\\#"[random.below(19)]),
                    _ => drop(bytes.drain(at..(at + random.below(9)).min(bytes.len()))),
                }
            }
            let what = format!("{name}, mutation {round}");
            let result = bounded(bytes.len(), &what, || read(&bytes));
            result.iter().for_each(|file| assert_sound(file, &what));
            taken += usize::from(result.is_ok());
        }
        println!("{name}: {taken} of 10000 damaged files still read");
        assert!((1..10_000).contains(&taken), "{name}: mutations must both pass and fail");
    }
}

#[test]
fn content_decides_where_the_name_lies() {
    let folder = tempfile::tempdir().unwrap();
    for (name, reader, bytes) in samples() {
        let right = name.split(' ').next().unwrap();
        for extension in ["obj", "PLY", "stl", "txt", ""] {
            let path = folder.path().join("mesh").with_extension(extension);
            fs::write(&path, &bytes).unwrap();
            let file = read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(file.mesh, reader(&bytes).unwrap().mesh);
            let lies = extension.to_lowercase() != right && !extension.is_empty();
            assert_eq!(
                file.notes.iter().any(|n| n.contains("the name ends in")),
                lies,
                "{name} as {extension}"
            );
        }
    }
    let path = folder.path().join("mesh.txt");
    fs::write(&path, "hello").unwrap();
    let error = read(&path).unwrap_err();
    assert!(error.to_string().contains("mesh.txt: neither the name nor the content"), "{error}");
}

#[cfg(unix)]
#[test]
fn only_regular_files_of_sensible_size_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.obj");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo is needed for this test");
    let huge = folder.path().join("huge.obj");
    fs::File::create(&huge).unwrap().set_len(LARGEST_FILE + 1).unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("zero.obj")).unwrap();
    let cases = [
        (folder.path().to_path_buf(), "only regular files"),
        (pipe, "only regular files"),
        (folder.path().join("zero.obj"), "only regular files"),
        (huge, "larger than 4294967296 bytes"),
        (folder.path().join("missing.obj"), "No such file"),
    ];
    for (path, reason) in cases {
        let error = bounded(0, reason, || read(&path)).unwrap_err();
        assert_eq!(error.path, path);
        assert!(error.to_string().contains(reason), "{error}");
    }
}

/// Files that pack as much as possible into each byte, true or not, stay within the bounds.
#[test]
fn dense_files_stay_within_the_bounds() {
    let small = "v 0 0 0\n".repeat(100_000);
    let ahead = format!("f{}\nv 0 0 0\n", " 9".repeat(500_000));
    let lines = format!("v 0 0 0\nl{}", " 1".repeat(500_000));
    let pairs = format!("v 0 0 0\nvt 0\n{}", "f 1/1 1/1 1/1\n".repeat(50_000));
    let faults = "v\n".repeat(300_000);
    let keywords: String = (0..100_000).map(|k| format!("k{k}\n")).collect();
    let polygons = format!("v 0 0 0\nv 1 0 0\nv 0 1 0\n{}", "f 1 2 3 1 2 3 1 2 3\n".repeat(40_000));
    for (what, text, sound) in [
        ("points", small, true),
        ("indices ahead", ahead, false),
        ("lines", lines, true),
        ("pairs", pairs, true),
        ("faults", faults, false),
        ("keywords", keywords, false),
        ("polygons", polygons, true),
    ] {
        let result = bounded(text.len(), what, || read_obj(text.as_bytes()));
        assert_eq!(result.is_ok(), sound, "{what}");
    }
    let head = "ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty char x\nproperty char y\nproperty char z\n";
    let mut ply = format!("{head}element face 9000\nproperty list uchar uchar vertex_indices\nend_header\n")
        .into_bytes();
    ply.extend([0, 0, 0, 1, 0, 0, 0, 1, 0]);
    (0..9000).for_each(|_| ply.extend([&[60_u8][..], &[0, 1, 2].repeat(20)].concat()));
    let file = bounded(ply.len(), "ply polygons", || read_ply(&ply)).unwrap();
    assert_eq!(file.mesh.triangles.len(), 9000 * 58);
    let many: String = (0..50_000).map(|k| format!("element e{k} 0\nproperty char x\n")).collect();
    let many = head.replace("binary_little_endian", "ascii") + &many + "end_header\n0 0 0\n0 0 0\n0 0 0\n";
    assert!(bounded(many.len(), "ply elements", || read_ply(many.as_bytes())).is_ok());
}
