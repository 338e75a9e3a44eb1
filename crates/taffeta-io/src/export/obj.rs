//! Wavefront OBJ: text, one file per frame, or one file of the mesh at rest.

use super::subject::Subject;
use super::{ExportError, Job, Precision, sequence};
use std::io::{self, Write};
use std::path::PathBuf;
use taffeta::math::DVec3;

/// Writes a folder of `name.0001.obj` and so on.
pub(super) fn write(job: &mut Job) -> Result<(Vec<PathBuf>, u64), ExportError> {
    sequence::write(job, "obj", write_mesh)
}

/// Writes one mesh: an object with a group for every piece of cloth; without normals if there are none.
pub(super) fn write_mesh(
    out: &mut impl Write,
    name: &str,
    subject: &Subject,
    positions: &[DVec3],
    normals: &[DVec3],
    precision: Precision,
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
    for cloth in &subject.cloths {
        writeln!(out, "g {}", cloth.name)?;
        for triangle in &subject.triangles[cloth.triangles.clone()] {
            // Corners are counted from 1 and name the particle once for each list that there is.
            let [a, b, c] = triangle.map(|i| i + 1);
            match (subject.material.is_empty(), normals.is_empty()) {
                (true, true) => writeln!(out, "f {a} {b} {c}")?,
                (false, true) => writeln!(out, "f {a}/{a} {b}/{b} {c}/{c}")?,
                (true, false) => writeln!(out, "f {a}//{a} {b}//{b} {c}//{c}")?,
                (false, false) => writeln!(out, "f {a}/{a}/{a} {b}/{b}/{b} {c}/{c}/{c}")?,
            }
        }
    }
    Ok(())
}
