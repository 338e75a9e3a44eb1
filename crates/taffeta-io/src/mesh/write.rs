//! Writers of plain mesh files; what they write reads back bit for bit, binary STL to single precision.

use std::io::{self, BufWriter, Write};

use taffeta_scene::Mesh;

use super::stl;

/// How the numbers of a PLY file are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlyEncoding {
    /// Decimal digits, one element a line.
    Ascii,
    /// Binary, least significant byte first.
    LittleEndian,
    /// Binary, most significant byte first.
    BigEndian,
}

/// How an STL file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StlEncoding {
    /// Decimal digits, enough of them to keep every bit.
    Ascii,
    /// Binary, in single precision as the format has it.
    Binary,
}

/// Writes an OBJ file with the shortest digits that read back to the same bits.
pub fn write_obj(mesh: &Mesh, out: &mut impl Write) -> io::Result<()> {
    refuse_unwritable(mesh)?;
    let mut out = BufWriter::new(out);
    for p in &mesh.positions {
        writeln!(out, "v {:?} {:?} {:?}", p.x, p.y, p.z)?;
    }
    for [u, v] in &mesh.material {
        writeln!(out, "vt {u:?} {v:?}")?;
    }
    for face in faces(mesh) {
        out.write_all(b"f")?;
        for corner in face.iter().map(|i| u64::from(*i) + 1) {
            write!(out, " {corner}")?;
            if !mesh.material.is_empty() {
                write!(out, "/{corner}")?;
            }
        }
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// Writes a PLY file with double precision; material coordinates become `s` and `t`.
pub fn write_ply(mesh: &Mesh, encoding: PlyEncoding, out: &mut impl Write) -> io::Result<()> {
    refuse_unwritable(mesh)?;
    let mut out = BufWriter::new(out);
    let format = match encoding {
        PlyEncoding::Ascii => "ascii",
        PlyEncoding::LittleEndian => "binary_little_endian",
        PlyEncoding::BigEndian => "binary_big_endian",
    };
    let names = if mesh.material.is_empty() { "xyz" } else { "xyzst" };
    write!(out, "ply\nformat {format} 1.0\nelement vertex {}\n", mesh.positions.len())?;
    names.chars().try_for_each(|name| writeln!(out, "property double {name}"))?;
    let count = mesh.triangles.len() + mesh.quads.len();
    write!(out, "element face {count}\nproperty list uchar uint vertex_indices\nend_header\n")?;
    for (i, p) in mesh.positions.iter().enumerate() {
        let material = mesh.material.get(i).into_iter().flatten().copied();
        for number in p.to_array().into_iter().chain(material) {
            match encoding {
                PlyEncoding::Ascii => write!(out, "{number:?} ")?,
                PlyEncoding::LittleEndian => out.write_all(&number.to_le_bytes())?,
                PlyEncoding::BigEndian => out.write_all(&number.to_be_bytes())?,
            }
        }
        end_row(&mut out, encoding)?;
    }
    for face in faces(mesh) {
        match encoding {
            PlyEncoding::Ascii => write!(out, "{} ", face.len())?,
            _ => out.write_all(&[face.len() as u8])?,
        }
        for index in face {
            match encoding {
                PlyEncoding::Ascii => write!(out, "{index} ")?,
                PlyEncoding::LittleEndian => out.write_all(&index.to_le_bytes())?,
                PlyEncoding::BigEndian => out.write_all(&index.to_be_bytes())?,
            }
        }
        end_row(&mut out, encoding)?;
    }
    out.flush()
}

fn end_row(out: &mut impl Write, encoding: PlyEncoding) -> io::Result<()> {
    if encoding == PlyEncoding::Ascii { out.write_all(b"\n") } else { Ok(()) }
}

/// Writes an STL file; quads a, b, c, d become the triangles a, b, c and a, c, d.
pub fn write_stl(mesh: &Mesh, encoding: StlEncoding, out: &mut impl Write) -> io::Result<()> {
    refuse_unwritable(mesh)?;
    let refuse = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    let halves = mesh.quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
    let triangles = mesh.triangles.iter().copied().chain(halves);
    let mut out = BufWriter::new(out);
    match encoding {
        StlEncoding::Ascii => out.write_all(b"solid taffeta\n")?,
        StlEncoding::Binary => {
            let Ok(count) = u32::try_from(mesh.triangles.len() + 2 * mesh.quads.len()) else {
                return refuse("more triangles than an STL file can count");
            };
            if mesh.positions.iter().any(|p| !p.as_vec3().is_finite()) {
                return refuse("a point is too far away for single precision");
            }
            out.write_all(&[0; stl::HEAD - 4])?;
            out.write_all(&count.to_le_bytes())?;
        }
    }
    for triangle in triangles {
        let [a, b, c] = triangle.map(|i| mesh.positions[i as usize]);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        match encoding {
            StlEncoding::Ascii => {
                writeln!(out, "facet normal {:?} {:?} {:?}\n outer loop", normal.x, normal.y, normal.z)?;
                for p in [a, b, c] {
                    writeln!(out, "  vertex {:?} {:?} {:?}", p.x, p.y, p.z)?;
                }
                out.write_all(b" endloop\nendfacet\n")?;
            }
            StlEncoding::Binary => {
                for number in [normal, a, b, c].iter().flat_map(|p| p.to_array()) {
                    out.write_all(&(number as f32).to_le_bytes())?;
                }
                out.write_all(&[0; 2])?;
            }
        }
    }
    if encoding == StlEncoding::Ascii {
        out.write_all(b"endsolid taffeta\n")?;
    }
    out.flush()
}

/// Refuses to write what no reader could use: numbers that are not finite, indices without a point.
fn refuse_unwritable(mesh: &Mesh) -> io::Result<()> {
    let refuse = |what: String| Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    let points = mesh.positions.len();
    if let Some(i) = mesh.positions.iter().position(|p| !p.is_finite()) {
        return refuse(format!("point {i} is not finite: {}", mesh.positions[i]));
    }
    if let Some(i) = mesh.material.iter().position(|uv| !uv.iter().all(|c| c.is_finite())) {
        return refuse(format!("material coordinate {i} is not finite: {:?}", mesh.material[i]));
    }
    if !mesh.material.is_empty() && mesh.material.len() != points {
        return refuse(format!("{} material coordinates for {points} points", mesh.material.len()));
    }
    let indices = mesh.triangles.as_flattened().iter().chain(mesh.quads.as_flattened());
    match indices.copied().find(|i| *i as usize >= points) {
        Some(index) => refuse(format!("a face uses point {index} of {points}")),
        None => Ok(()),
    }
}

/// The faces of a mesh, triangles first.
fn faces(mesh: &Mesh) -> impl Iterator<Item = &[u32]> {
    mesh.triangles.iter().map(|t| t.as_slice()).chain(mesh.quads.iter().map(|q| q.as_slice()))
}
