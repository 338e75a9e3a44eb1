//! Odd PLY files, rule by rule.

use super::*;

#[test]
fn ply_takes_every_type_and_skips_the_unknown() {
    for encoding in [PlyEncoding::Ascii, PlyEncoding::LittleEndian, PlyEncoding::BigEndian] {
        let file = read_ply(&odd_ply(encoding)).unwrap();
        let points = [[0.5, 0.1, -2e9], [1.5, 0.2, 1.0], [2.5, 0.3, 2.0]].map(DVec3::from_array);
        assert_eq!(file.mesh.positions, points, "{encoding:?}");
        assert_eq!(file.mesh.triangles, [[0, 1, 2]]);
        assert_eq!(file.mesh.material, [[4e9, -7.0], [0.0, 1.0], [1.0, 2.0]]);
        let skipped =
            ["`camera`: a, b", "`face`: c", "`vertex`: w"].map(|s| format!("skipped properties of {s}"));
        assert_eq!(file.notes, skipped);
        let mut longer = odd_ply(encoding);
        longer.extend(b"junk");
        assert_eq!(read_ply(&longer).unwrap().notes[3], "skipped 4 bytes after the last element");
    }
    let polygon = "ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\n\
                   element face 2\nproperty list uchar int vertex_indices\nend_header\n\n0 0 0\n2 0 0\n2 2 0\n1 1 0\n0 2 0\n\n\
                   5 0 1 2 3 4\n4 0 1 2 3";
    let file = read_ply(polygon.as_bytes()).unwrap();
    assert_eq!((file.mesh.triangles.len(), file.mesh.quads.len(), file.notes.len()), (3, 1, 1));
}

#[test]
fn ply_faults_have_place_value_reason() {
    let head =
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n";
    let full = format!("{head}element face 1\nproperty list uchar int vertex_indices\nend_header\n");
    let points = "0 0 0\n1 0 0\n1 1 0\n";
    let cases = [
        ("plx\n".to_string(), 1, "plx", "starts with `ply`"),
        ("ply\nformat ascii 2.0\n".into(), 2, "ascii", "format is unknown"),
        ("ply\nend_header\n".into(), 3, "end_header", "format is missing"),
        ("ply\nformat ascii 1.0\n".into(), 3, "end of file", "does not end"),
        ("ply\nproperty float x\n".into(), 2, "x", "belongs to no element"),
        ("ply\nwhat\n".into(), 2, "what", "keyword is unknown"),
        ("ply\nelement vertex -1\n".into(), 2, "-1", "no whole number"),
        (
            "ply\nelement vertex 99999999999999999999999\n".into(),
            2,
            "99999999999999999999999",
            "no whole number",
        ),
        ("ply\nelement a 1\nproperty quad x\n".into(), 3, "quad", "type of the property"),
        ("ply\nelement a 1\nproperty list char quad x\n".into(), 3, "list", "type of the property"),
        (format!("{head}element vertex 3\n"), 7, "vertex", "declared twice"),
        (
            "ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nend_header\n".into(),
            3,
            "vertex",
            "x, y or z",
        ),
        (format!("{head}element face 0\nend_header\n{points}"), 7, "face", "vertex_indices"),
        (full.replace("vertex 3", "vertex 1000000000"), 3, "1000000000", "claims 1000000000 rows"),
        (full.replace("vertex 3", "vertex 18446744073709551615"), 3, "18446744073709551615", "claims"),
        (format!("{full}0 0 0\n1 0\n1 1 0\n3 0 1 2"), 11, "end of line", "missing"),
        (format!("{full}0 0 0\n1 0 nan\n1 1 0\n3 0 1 2"), 11, "nan", "not a finite number"),
        (format!("{full}0 0 0\n1 0 x\n1 1 0\n3 0 1 2"), 11, "x", "not a finite number"),
        (format!("{full}0 0 0\n1 0 0 0\n1 1 0\n3 0 1 2"), 11, "0", "more numbers"),
        (format!("{full}{points}3 0 1 3"), 13, "3", "below 3"),
        (format!("{full}{points}3 0 1 -1"), 13, "-1", "below 3"),
        (format!("{full}{points}3 0 1 1.5"), 13, "1.5", "whole number"),
        (format!("{full}{points}3.5 0 1 1"), 13, "3.5", "length of a list"),
        (format!("{full}{points}4000000000 0 1 1"), 13, "end of line", "missing"),
        (format!("{full}{points}2 0 1"), 13, "2 corners", "three corners"),
        (format!("{full}{points}"), 7, "1", "claims 1 rows of `face`, but 0 bytes"),
    ];
    for (text, line, value, reason) in cases {
        let fault = fault(read_ply, text.as_bytes());
        assert_eq!((fault.line, fault.value.as_str()), (Some(line), value), "{text:?}: {fault}");
        assert!(fault.reason.contains(reason), "{text:?}: {fault}");
    }
    let mut binary = Vec::new();
    let mesh = Mesh { positions: vec![DVec3::ZERO; 3], triangles: vec![[0, 1, 2]], ..Mesh::default() };
    write_ply(&mesh, PlyEncoding::LittleEndian, &mut binary).unwrap();
    let start = binary.len() - 3 * 24 - 13;
    let put = |at: usize, bytes: &[u8]| {
        let mut copy = binary.clone();
        copy[at..at + bytes.len()].copy_from_slice(bytes);
        fault(read_ply, &copy)
    };
    let nan = put(start + 32, &f64::NAN.to_le_bytes());
    assert_eq!((nan.offset, nan.value.as_str()), (Some(start + 32), "NaN"));
    let index = put(start + 77, &7u32.to_le_bytes());
    assert_eq!((index.offset, index.value.as_str()), (Some(start + 77), "7"));
    assert_eq!(put(start + 72, &[200]).value, "end of file");
}
