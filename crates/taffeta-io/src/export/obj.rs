//! Wavefront OBJ: text, one file per frame with the materials beside them, or one file of the mesh at rest.

use super::subject::{Piece, Subject};
use super::{ExportError, Job, Precision, sequence};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use taffeta::math::DVec3;

/// Writes a folder of `name.0001.obj` and so on, and `name.mtl`.
pub(super) fn write(job: &mut Job) -> Result<(Vec<PathBuf>, u64), ExportError> {
    sequence::write(job, "obj", write_frame, Some(("mtl", write_materials)))
}

fn write_frame(
    out: &mut BufWriter<File>,
    name: &str,
    subject: &Subject,
    positions: &[DVec3],
    normals: &[DVec3],
    precision: Precision,
) -> io::Result<()> {
    writeln!(out, "mtllib {name}.mtl")?;
    write_mesh(out, name, subject, positions, normals, precision, true)
}

/// A material of every piece: its colour, and next to no shine.
fn write_materials(out: &mut BufWriter<File>, subject: &Subject) -> io::Result<()> {
    for Piece { name, colour: [r, g, b], .. } in &subject.pieces {
        writeln!(out, "newmtl {name}\nKd {} {} {}\nKs 0 0 0", *r as f32, *g as f32, *b as f32)?;
    }
    Ok(())
}

/// Writes one mesh: an object with a group for every piece, with its material or not; without normals if there are none.
pub(super) fn write_mesh(
    out: &mut impl Write,
    name: &str,
    subject: &Subject,
    positions: &[DVec3],
    normals: &[DVec3],
    precision: Precision,
    materials: bool,
) -> io::Result<()> {
    // The name is the user's; a line break in it would begin a statement.
    writeln!(out, "# Taffeta\no {}", name.replace(char::is_whitespace, "_"))?;
    for p in positions {
        match precision {
            Precision::F32 => writeln!(out, "v {} {} {}", p.x as f32, p.y as f32, p.z as f32)?,
            Precision::F64 => writeln!(out, "v {} {} {}", p.x, p.y, p.z)?,
        }
    }
    for [u, v] in &subject.material {
        writeln!(out, "vt {} {}", *u as f32, *v as f32)?;
    }
    for n in normals {
        writeln!(out, "vn {} {} {}", n.x as f32, n.y as f32, n.z as f32)?;
    }
    writeln!(out, "s 1")?;
    for piece in &subject.pieces {
        writeln!(out, "g {}", piece.name)?;
        if materials {
            writeln!(out, "usemtl {}", piece.name)?;
        }
        let textured = piece.is_cloth && !subject.material.is_empty();
        for triangle in &subject.triangles[piece.triangles.clone()] {
            // Corners are counted from 1 and name the point once for each list that there is.
            let [a, b, c] = triangle.map(|i| i + 1);
            match (textured, normals.is_empty()) {
                (false, true) => writeln!(out, "f {a} {b} {c}")?,
                (true, true) => writeln!(out, "f {a}/{a} {b}/{b} {c}/{c}")?,
                (false, false) => writeln!(out, "f {a}//{a} {b}//{b} {c}//{c}")?,
                (true, false) => writeln!(out, "f {a}/{a}/{a} {b}/{b}/{b} {c}/{c}/{c}")?,
            }
        }
    }
    Ok(())
}
