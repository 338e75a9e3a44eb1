//! Wavefront OBJ: text, one file per frame with the materials beside them, or one file of the mesh at rest.

use super::sequence::{self, Pose};
use super::subject::{Piece, Subject};
use super::{ExportError, Job, Precision};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// Writes a folder of `name.0001.obj` and so on, and `name.mtl`.
pub(super) fn write(job: &mut Job) -> Result<(Vec<PathBuf>, u64), ExportError> {
    sequence::write(job, "obj", write_frame, Some(("mtl", write_materials)))
}

fn write_frame(out: &mut BufWriter<File>, name: &str, subject: &Subject, pose: &Pose) -> io::Result<()> {
    writeln!(out, "mtllib {name}.mtl")?;
    write_mesh(out, name, subject, pose, true)
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
    pose: &Pose,
    materials: bool,
) -> io::Result<()> {
    let Pose { positions, normals, maps, colours, precision } = pose;
    // Strain alone, without a scale of its own, has colours that tell what is stretched from what is too short.
    let strain = if colours.is_empty() { maps.first() } else { None };
    // The name is the user's; a line break in it would begin a statement.
    writeln!(out, "# Taffeta\no {}", name.replace(char::is_whitespace, "_"))?;
    for (i, p) in positions.iter().enumerate() {
        match precision {
            Precision::F32 => write!(out, "v {} {} {}", p.x as f32, p.y as f32, p.z as f32)?,
            Precision::F64 => write!(out, "v {} {} {}", p.x, p.y, p.z)?,
        }
        match colours.get(i).copied().or_else(|| strain.map(|(_, numbers)| strain_colour(numbers[i]))) {
            Some([r, g, b]) => writeln!(out, " {r} {g} {b}")?,
            None => writeln!(out)?,
        }
    }
    for [u, v] in &subject.material {
        writeln!(out, "vt {} {}", *u as f32, *v as f32)?;
    }
    for n in *normals {
        writeln!(out, "vn {} {} {}", n.x as f32, n.y as f32, n.z as f32)?;
    }
    writeln!(out, "s 1")?;
    for piece in &subject.pieces {
        writeln!(out, "g {}", piece.name)?;
        if materials {
            writeln!(out, "usemtl {}", piece.name)?;
        }
        let textured = piece.is_cloth && !subject.material.is_empty();
        for number in piece.triangles.clone() {
            // Corners are counted from 1 and name the point once for each list that there is.
            let [a, b, c] = subject.triangles[number].map(|i| i + 1);
            let [p, q, r] = subject.texture_triangles.get(number).map_or([a, b, c], |t| t.map(|i| i + 1));
            match (textured, normals.is_empty()) {
                (false, true) => writeln!(out, "f {a} {b} {c}")?,
                (true, true) => writeln!(out, "f {a}/{p} {b}/{q} {c}/{r}")?,
                (false, false) => writeln!(out, "f {a}//{a} {b}//{b} {c}//{c}")?,
                (true, false) => writeln!(out, "f {a}/{p}/{a} {b}/{q}/{b} {c}/{r}/{c}")?,
            }
        }
    }
    Ok(())
}

/// The colour of a strain: white at rest, red where it is stretched by 10 % or more, blue where it is as much too short.
fn strain_colour(strain: f64) -> [f32; 3] {
    let share = (strain / 0.1).clamp(-1.0, 1.0) as f32;
    let faded = 1.0 - share.abs();
    if share > 0.0 { [1.0, faded, faded] } else { [faded, faded, 1.0] }
}
