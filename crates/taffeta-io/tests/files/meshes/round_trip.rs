//! What is written reads back with the same bits.

use super::*;

/// Numbers that are hard to print: of every size, with and without sign.
fn hard_mesh(material: bool) -> Mesh {
    let mut random = Random::new(7);
    let mut number = || match random.below(8) {
        0 => -0.0,
        1 => f64::MIN_POSITIVE / 8.0,
        2 => f64::MAX,
        3 => 0.1,
        _ => f64::from_bits(random.bits() & !(1 << 62) | 1 << 61),
    };
    let positions: Vec<DVec3> = (0..500).map(|_| DVec3::new(number(), number(), number())).collect();
    let material = if material { (0..500).map(|_| [number(), number()]).collect() } else { Vec::new() };
    let triangles = (0..166).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
    let quads = (0..125).map(|k| [4 * k, 4 * k + 3, 4 * k + 2, 4 * k + 1]).collect();
    Mesh { positions, triangles, quads, material, ..Mesh::default() }
}

fn bits(mesh: &Mesh) -> Vec<u64> {
    let points = mesh.positions.iter().flat_map(|p| p.to_array());
    points.chain(mesh.material.iter().flatten().copied()).map(f64::to_bits).collect()
}

#[test]
fn obj_and_ply_keep_every_bit() {
    for mesh in [hard_mesh(false), hard_mesh(true)] {
        let mut files: Vec<(Reader, Vec<u8>)> = vec![(read_obj, Vec::new())];
        write_obj(&mesh, &mut files[0].1).unwrap();
        for encoding in [PlyEncoding::Ascii, PlyEncoding::LittleEndian, PlyEncoding::BigEndian] {
            let mut bytes = Vec::new();
            write_ply(&mesh, encoding, &mut bytes).unwrap();
            files.push((read_ply, bytes));
        }
        for (read, bytes) in files {
            let back = read(&bytes).unwrap();
            assert_eq!((&back.mesh.triangles, &back.mesh.quads), (&mesh.triangles, &mesh.quads));
            assert_eq!(bits(&back.mesh), bits(&mesh));
            assert_eq!(back.notes, Vec::<String>::new());
        }
    }
}

#[test]
fn stl_keeps_the_corners_of_triangles() {
    let mut mesh = hard_mesh(false);
    let corners = |mesh: &Mesh| -> Vec<DVec3> {
        let halves = mesh.quads.iter().flat_map(|&[a, b, c, d]| [a, b, c, a, c, d]);
        mesh.triangles
            .as_flattened()
            .iter()
            .copied()
            .chain(halves)
            .map(|i| mesh.positions[i as usize])
            .collect()
    };
    let mut bytes = Vec::new();
    write_stl(&mesh, StlEncoding::Ascii, &mut bytes).unwrap();
    assert_eq!(corners(&read_stl(&bytes).unwrap().mesh), corners(&mesh));

    assert!(write_stl(&mesh, StlEncoding::Binary, &mut Vec::new()).is_err(), "f64::MAX is no f32");
    mesh.positions
        .iter_mut()
        .for_each(|p| *p = p.clamp(DVec3::splat(-9.0), DVec3::splat(9.0)).as_vec3().as_dvec3());
    let mut bytes = Vec::new();
    write_stl(&mesh, StlEncoding::Binary, &mut bytes).unwrap();
    let back = read_stl(&bytes).unwrap().mesh;
    assert_eq!(corners(&back), corners(&mesh));
    // The slow way to join: compare every corner with all points so far.
    let mut joined: Vec<DVec3> = Vec::new();
    for corner in corners(&mesh) {
        if !joined.contains(&corner) {
            joined.push(corner);
        }
    }
    assert_eq!(back.positions, joined);
}

#[test]
fn writers_refuse_what_no_reader_takes() {
    let good = Mesh { positions: vec![DVec3::ZERO; 3], triangles: vec![[0, 1, 2]], ..Mesh::default() };
    let nan = Mesh { positions: vec![DVec3::NAN; 3], ..good.clone() };
    let index = Mesh { triangles: vec![[0, 1, 3]], ..good.clone() };
    let short = Mesh { material: vec![[0.0; 2]], ..good.clone() };
    let flat = Mesh { material: vec![[f64::INFINITY; 2]; 3], ..good.clone() };
    assert!(write_obj(&good, &mut Vec::new()).is_ok());
    for bad in [nan, index, short, flat] {
        assert!(write_obj(&bad, &mut Vec::new()).is_err());
        assert!(write_ply(&bad, PlyEncoding::Ascii, &mut Vec::new()).is_err());
        assert!(write_stl(&bad, StlEncoding::Ascii, &mut Vec::new()).is_err());
    }
}
