//! Stanford PLY, binary little-endian, one file per frame.

use super::sequence::{self, Pose};
use super::subject::Subject;
use super::{ExportError, Job, Precision};
use std::io::{self, Write};
use std::path::PathBuf;

/// Writes a folder of `name.0001.ply` and so on.
pub(super) fn write(job: &mut Job) -> Result<(Vec<PathBuf>, u64), ExportError> {
    sequence::write(job, "ply", write_mesh, None)
}

fn write_mesh(out: &mut impl Write, _name: &str, subject: &Subject, pose: &Pose) -> io::Result<()> {
    let Pose { positions, normals, maps, colours, precision } = pose;
    let kind = if *precision == Precision::F64 { "double" } else { "float" };
    writeln!(
        out,
        "ply\nformat binary_little_endian 1.0\ncomment Taffeta\nelement vertex {}",
        positions.len()
    )?;
    ["x", "y", "z"].iter().try_for_each(|axis| writeln!(out, "property {kind} {axis}"))?;
    if !normals.is_empty() {
        ["nx", "ny", "nz"].iter().try_for_each(|axis| writeln!(out, "property float {axis}"))?;
    }
    if !subject.material.is_empty() {
        writeln!(out, "property float s\nproperty float t")?;
    }
    maps.iter().try_for_each(|(name, _)| writeln!(out, "property float {name}"))?;
    if !colours.is_empty() {
        ["red", "green", "blue"].iter().try_for_each(|part| writeln!(out, "property uchar {part}"))?;
    }
    if !subject.origins.is_empty() {
        writeln!(out, "property int particle")?;
    }
    writeln!(out, "element face {}", subject.triangles.len())?;
    writeln!(out, "property list uchar int vertex_indices\nend_header")?;
    for (i, p) in positions.iter().enumerate() {
        match precision {
            Precision::F64 => p.to_array().iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))?,
            Precision::F32 => put(out, &p.to_array())?,
        }
        if let Some(n) = normals.get(i) {
            put(out, &n.to_array())?;
        }
        if !subject.material.is_empty() {
            // Bodies have no coordinates, but every vertex has all properties.
            put(out, subject.material.get(i).unwrap_or(&[0.0; 2]))?;
        }
        maps.iter().try_for_each(|(_, numbers)| put(out, &[numbers[i]]))?;
        if let Some(colour) = colours.get(i) {
            out.write_all(&colour.map(|c| (255.0 * c + 0.5) as u8))?;
        }
        if !subject.origins.is_empty() {
            let particle = subject.origins.get(i).map_or(-1, |particle| *particle as i32);
            out.write_all(&particle.to_le_bytes())?;
        }
    }
    for triangle in &subject.triangles {
        out.write_all(&[3])?;
        triangle.iter().try_for_each(|i| out.write_all(&i.to_le_bytes()))?;
    }
    Ok(())
}

/// Writes numbers in single precision, little-endian.
fn put(out: &mut impl Write, numbers: &[f64]) -> io::Result<()> {
    numbers.iter().try_for_each(|x| out.write_all(&(*x as f32).to_le_bytes()))
}
