//! Odd OBJ files, rule by rule.

use super::*;

#[test]
fn obj_takes_all_forms_of_faces_and_lines() {
    let uv = vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let forms = [
        ("1 2 3 4", false),
        ("1/1 2/2 3/3 4/4", true),
        ("1//1 2//1 3//1 4//1", false),
        ("1/1/1 2/2/1 3/3/1 4/4/1", true),
        ("1/1/ 2/2/ 3/3/ 4/4/", true),
        ("-4 -3 -2 -1", false),
        ("-4/-4 -3/-3 -2/-2 -1/-1", true),
    ];
    for (face, has_uv) in forms {
        let file = obj(&format!("{SQUARE}f {face}"));
        assert_eq!(file.mesh.quads, [[0, 1, 2, 3]], "{face}");
        assert_eq!(file.mesh.material, if has_uv { uv.clone() } else { vec![] }, "{face}");
        assert_eq!(file.notes.len(), usize::from(!has_uv), "{face}");
    }
    let file = obj(&format!("{SQUARE}l 1 2 -1\nl 3/1 4/2\nl 1\np 1 2"));
    assert_eq!(file.mesh.lines, [[0, 1], [1, 3], [2, 3]]);
    assert!(file.notes.iter().any(|n| n.contains("no faces")));
    let file = obj(&format!("{SQUARE}stitch 0 1 2 0.4\nstitch 0 1 2 0.6\nseam 2"));
    assert_eq!(file.mesh.lines, [[0, 1], [0, 2]], "to the nearer end");
    let file = obj("f 1/1 2/2 3/3\nv 0 0 0\nv 1 0 0\nv 1 1 0\nvt 1\nvt 2 3\nvt 4 5 6");
    assert_eq!(file.mesh.triangles, [[0, 1, 2]], "faces may come first");
    assert_eq!(file.mesh.material, [[1.0, 0.0], [2.0, 3.0], [4.0, 5.0]]);
}

#[test]
fn obj_takes_lines_of_any_style() {
    let plain = obj("v 1 2 3\nv 4 5 6\nv 7 8 9\nf 1 2 3\n").mesh;
    let odd = [
        "v 1 2 3\r\nv 4 5 6\r\nv 7 8 9\r\nf 1 2 3",
        "v 1 2 3\rv 4 5 6\rv 7 8 9\rf 1 2 3\r",
        "\u{feff}# a comment \\\n\t v\t1 2\t3 # another\n\n\nv 4 5 6 \nv 7 8 9\nf 1 2 3",
        "v 1 \\\n2 3\nv 4 5\\\r\n 6\nv 7 8 9\nf 1 2\\\n\\\n 3\n",
        "v 1 2 3 1\nv 4 5 6 0.1 0.2 0.3\nv 7 8 9 0.1 0.2 0.3 1.0\nf 1 2 3",
        "v 1.0e0 +2. 3E0\nv 400e-2 .5e+1 6\nv 7 8 9\nf 1 2 3",
        "mtllib C:\\dir\\\nv 1 2 3\ng a\\\nv 4 5 6\no # b\nv 7 8 9\ns off\nusemtl x\nvn 1 2 \\\n 3\nvp 1\nf 1 2 3",
    ];
    for text in odd {
        assert_eq!(obj(text), MeshFile { mesh: plain.clone(), ..MeshFile::default() }, "{text}");
    }
    let mut latin = b"# caf\xE9 \xFF\xFE\n".to_vec();
    latin.extend(b"g caf\xE9\nv 1 2 3\nv 4 5 6\nv 7 8 9\nf 1 2 3");
    assert_eq!(read_obj(&latin).unwrap().mesh, plain);
}

#[test]
fn obj_notes_name_what_was_skipped_or_lost() {
    let note = |text: &str, words: &[&str]| {
        let file = obj(text);
        let found = file.notes.iter().any(|n| words.iter().all(|w| n.contains(w)));
        assert!(found, "{words:?} not in {:?}", file.notes);
        file.mesh
    };
    let mesh = note(&format!("{SQUARE}f\nf 1 2 3\nf # nothing\n"), &["2 faces without a corner"]);
    assert_eq!(mesh.triangles, [[0, 1, 2]]);
    note(&format!("{SQUARE}vu 1 2\nvv 1\nvv 2\nt 1\nf 1 2 3"), &["vu (1)", "vv (2)", "t (1)"]);
    let many: String = (0..100).map(|k| format!("key{k} 1\n")).collect();
    note(&format!("{SQUARE}{many}"), &["key0 (1)", "key7 (1)", "others (92)"]);
    let seam = format!("{SQUARE}f 1/1 2/2 3/3\nf 1/2 3/3 4/4");
    assert_eq!(note(&seam, &["(seams): 1"]).material.len(), 0);
    assert_eq!(obj(&seam).mesh.positions.len(), 4, "a seam tears no point");
    assert_eq!(
        note(&format!("{SQUARE}f 1/1 2/2 3/3\nf 1 3 4"), &["without a texture coordinate: 1"]).material.len(),
        0
    );
    let twin = obj(&format!("{SQUARE}vt 0 0\nf 1/1 2/2 3/3\nf 1/5 3/3 4/4"));
    assert_eq!((twin.mesh.material.len(), twin.notes.len()), (4, 0), "equal coordinates are no seam");
    let spare = obj(&format!("{SQUARE}v 9 9 9\nf 1/1 2/2 3/3 4/4"));
    assert_eq!((spare.mesh.positions.len(), spare.mesh.material[4]), (5, [0.0, 0.0]), "unused points stay");
    let mesh = note("v 3.1+e2 3.1-e2 -3.1-E2", &["3.1e+2: 3"]);
    assert_eq!(mesh.positions, [DVec3::new(310.0, 0.031, -0.031)]);
}

#[test]
fn obj_faults_have_line_value_reason() {
    let cases: &[(&str, usize, &str, &str)] = &[
        ("v 1 2\n", 1, "end of line", "missing"),
        ("v 1 2 x\n", 1, "x", "not a number"),
        ("v 1 2 1,5\n", 1, "1,5", "not a number"),
        ("v 1 2 nan\n", 1, "nan", "not finite"),
        ("v 1 2 -inf\n", 1, "-inf", "not finite"),
        ("v 1 2 1e999\n", 1, "1e999", "not finite"),
        ("v 1 2 3 0.5\n", 1, "0.5", "weight"),
        ("v 1 2 3 1 1\n", 1, "5 numbers", "unclear"),
        ("v 1 2 3 1 1 1 1 1\n", 1, "8 numbers", "unclear"),
        ("v 1 2 3\nvt nan 0\n", 2, "nan", "not finite"),
        ("v 1 2 3\nvt\n", 2, "end of line", "missing"),
        ("v 1 2 3\n\nf 1 1 2\n", 3, "2", "out of range of the 1 points"),
        ("v 1 2 3\nf 1 1 0\n", 2, "0", "out of range"),
        ("v 1 2 3\nf 1 1 \\\n -2\n", 3, "-2", "out of range"),
        ("v 1 2 3\nf 1 1 4294967297\n", 2, "4294967297", "out of range"),
        ("v 1 2 3\nf 1 1 99999999999999999999\n", 2, "99999999999999999999", "not an integer"),
        ("v 1 2 3\nf 1 1 -9223372036854775808\n", 2, "-9223372036854775808", "out of range"),
        ("v 1 2 3\nf 1/1 1/1 1/1\n", 2, "1", "0 texture"),
        ("v 1 2 3\nf 1 1 1.5\n", 2, "1.5", "not an integer"),
        ("v 1 2 3\nf 1 1 /1\n", 2, "/1", "not an integer"),
        ("v 1 2 3\nf 1 1 1/1/1/1\n", 2, "1/1/1/1", "out of range|more than three"),
        ("v 1 2 3\nf 1 1\n", 2, "2 corners", "three corners"),
        ("v 1 2 3\nl 1 2\n", 2, "2", "out of range"),
        ("v 1 2 3\n\0\0\0\0", 2, "\\0\\0\\0\\0", "not text"),
    ];
    for (text, line, value, reasons) in cases {
        let fault = fault(read_obj, text.as_bytes());
        assert_eq!((fault.line, fault.value.as_str()), (Some(*line), *value), "{text:?}: {fault}");
        assert!(reasons.split('|').any(|r| fault.reason.contains(r)), "{text:?}: {fault}");
    }
    for nothing in ["", "\n\n", "# only a comment", "vt 1 2"] {
        assert!(fault(read_obj, nothing.as_bytes()).reason.contains("no points"), "{nothing:?}");
    }
    let many = read_obj("v x\n".repeat(1000).as_bytes()).unwrap_err();
    assert_eq!((many.first.len(), many.count, many.first[19].line), (MeshFaults::MOST, 1000, Some(20)));
    assert!(many.to_string().ends_with("and 980 more faults"));
    let wide: Vec<u8> = "v 1 2 3\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked: Vec<u8> = [0xFF, 0xFE].into_iter().chain(wide.clone()).collect();
    let swapped: Vec<u8> = "v 1 2 3\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    for bytes in [wide, marked, swapped] {
        assert!(fault(read_obj, &bytes).reason.contains("UTF-16"));
        assert!(fault(read_ply, &bytes).reason.contains("UTF-16"));
        assert!(fault(read_stl, &bytes).reason.contains("UTF-16"));
    }
}
