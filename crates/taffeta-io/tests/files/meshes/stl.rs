//! Odd STL files, rule by rule.

use super::*;

#[test]
fn stl_takes_odd_texts_and_headers() {
    let facet = "FACET normal nan nan nan\nouter loop\nvertex 0 0 0\n  Vertex 1 0 -0\nvertex 0 1 -0.0\nendloop\nendfacet\n";
    let other =
        "facet normal 0 0 1\nouter loop\nvertex 1 0 0\nvertex 1 1 0\nvertex 0 1 0\nendloop\nendfacet\n";
    let file = read_stl(
        format!("\n solid facet of # cloth\r\n{facet}endsolid\nsolid b\n{other}endsolid b\nsolid\nendsolid")
            .as_bytes(),
    )
    .unwrap();
    assert_eq!(file.mesh.triangles, [[0, 1, 2], [1, 3, 2]], "0 and -0 are one coordinate");
    assert_eq!(file.notes, ["6 corners were joined to 4 points of equal coordinates"]);
    let cases = [
        (format!("solid\n{facet}"), 9, "end of file", "endsolid"),
        (facet.to_string(), 1, "FACET", "starts with `solid`"),
        (
            format!("solid\n{}endsolid", facet.replace("endloop\nendfacet\n", "")),
            7,
            "endsolid",
            "three corners",
        ),
        (format!("solid\n{}endsolid", facet.replace("vertex 0 0 0\n", "")), 6, "endloop", "three corners"),
        (
            format!("solid\n{}endsolid", facet.replace("endloop", "vertex 1 1 1")),
            7,
            "vertex",
            "three corners",
        ),
        (format!("solid\n{}endsolid", facet.replace("1 0 -0", "1 inf 0")), 5, "inf", "finite"),
        (format!("solid\n{}endsolid", facet.replace("1 0 -0", "1 0")), 5, "end of line", "finite"),
        (format!("solid\n{facet}ende"), 9, "ende", "keyword"),
    ];
    for (text, line, value, reason) in cases {
        let fault = fault(read_stl, text.as_bytes());
        assert_eq!((fault.line, fault.value.as_str()), (Some(line), value), "{text}: {fault}");
        assert!(fault.reason.contains(reason), "{text}: {fault}");
    }
    assert!(fault(read_stl, b"solid\nendsolid").reason.contains("no points"));
    assert!(fault(read_stl, b"").reason.contains("no points"));

    let mut binary = Vec::new();
    write_stl(&file.mesh, StlEncoding::Binary, &mut binary).unwrap();
    binary[..13].copy_from_slice(b"solid of lies");
    binary[20..80].fill(b' ');
    assert_eq!(read_stl(&binary).unwrap().mesh, file.mesh, "the size shows that it is binary");
    let cut = fault(read_stl, &binary[..binary.len() - 1]);
    assert_eq!((cut.offset, cut.value.as_str()), (Some(80), "2"), "{cut}");
    binary.push(0);
    assert_eq!(read_stl(&binary).unwrap().notes[0], "skipped 1 bytes after the last triangle");
    binary[84 + 50 + 16..][..4].copy_from_slice(&f32::INFINITY.to_le_bytes());
    assert_eq!(fault(read_stl, &binary).offset, Some(150));
    binary[80..84].fill(255);
    assert_eq!(bounded(binary.len(), "huge count", || fault(read_stl, &binary)).value, "4294967295");
}
