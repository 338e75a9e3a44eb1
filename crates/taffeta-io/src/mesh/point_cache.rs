//! Point caches PC2: the points of a mesh, moment by moment, for a mesh that lies beside them. `export::point_cache` writes them.

use taffeta::math::DVec3;
use taffeta_scene::Mesh;

use super::{MeshFault, MeshFaults, MeshFile, Place};

/// What a PC2 file starts with.
const MAGIC: &[u8; 12] = b"POINTCACHE2\0";
const HEADER: usize = 32;
const POINT: usize = 12;

/// Reads a PC2 file: all points of all moments, one moment after the other, as a mesh without faces.
pub fn read_pc2(bytes: &[u8]) -> Result<MeshFile, MeshFaults> {
    let remedy = "export the cache again: the file is cut off or damaged";
    let fault =
        |at: usize, value: String, reason: String| MeshFault::at(Place::Byte(at), value, reason, remedy);
    let word = |at: usize| Some(i32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    if !bytes.starts_with(MAGIC) {
        let start = super::text::excerpt(bytes.get(..12).unwrap_or(bytes));
        return Err(fault(0, start, "the file does not start as a PC2 cache does".into()).into());
    }
    let (Some(version), Some(points), Some(samples)) = (word(12), word(16), word(28)) else {
        return Err(fault(0, bytes.len().to_string(), "the header is cut off".into()).into());
    };
    if version != 1 {
        return Err(fault(12, version.to_string(), "the version is not 1".into()).into());
    }
    let counts = (u64::try_from(points), u64::try_from(samples));
    let (Ok(points @ 1..), Ok(samples @ 1..)) = counts else {
        let value = format!("{points} points, {samples} samples");
        return Err(fault(16, value, "the cache holds nothing".into()).into());
    };
    let body = bytes.get(HEADER..).unwrap_or_default();
    // Neither count is more than 31 bits.
    let needed = points * samples;
    if needed.checked_mul(POINT as u64) != Some(body.len() as u64) {
        let value = format!("{points} points, {samples} samples");
        let reason = format!("the header claims {needed} points in all, but {} bytes follow", body.len());
        return Err(fault(16, value, reason).into());
    }
    let mut positions = Vec::with_capacity(body.len() / POINT);
    for (k, point) in body.chunks_exact(POINT).enumerate() {
        let number =
            |c: usize| f64::from(f32::from_le_bytes([point[c], point[c + 1], point[c + 2], point[c + 3]]));
        let point = DVec3::new(number(0), number(4), number(8));
        if !point.is_finite() {
            let reason = format!("point {} of sample {} is not finite", k as u64 % points, k as u64 / points);
            return Err(fault(HEADER + k * POINT, point.to_string(), reason).into());
        }
        positions.push(point);
    }
    let notes = vec![format!("{samples} moments of {points} points")];
    Ok(MeshFile { mesh: Mesh { positions, ..Mesh::default() }, notes })
}
