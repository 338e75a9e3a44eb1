//! STL, ascii and binary: triangles that list the coordinates of their corners.

use std::collections::HashMap;

use taffeta::math::DVec3;
use taffeta_scene::Mesh;

use super::polygon::Faces;
use super::text::{self, Text};
use super::{MeshFault, MeshFaults, MeshFile, Place};

/// Bytes before the first triangle of a binary file: a free header and the number of triangles.
pub(super) const HEAD: usize = 84;
/// Bytes of a triangle in a binary file: normal, three corners, a free number.
const TRIANGLE: usize = 50;

/// Reads an STL file; corners of equal coordinates become one point. Normals follow from the corners and are skipped.
pub fn read_stl(bytes: &[u8]) -> Result<MeshFile, MeshFaults> {
    let mut corners = Corners::default();
    // Programs write "solid" into binary headers too, so the size decides first, then a byte that no text holds.
    let head = bytes.get(..HEAD).unwrap_or_default();
    let marked_wide = head.starts_with(b"\xFF\xFE") || head.starts_with(b"\xFE\xFF");
    let binary = is_whole_binary(bytes) || (head.contains(&0) && !marked_wide);
    if binary {
        read_binary(bytes, &mut corners)?;
    } else {
        read_ascii(Text::new(bytes)?, &mut corners)?;
    }
    let mesh = Mesh { positions: corners.positions, ..Mesh::default() };
    let mut file = MeshFile::assemble(mesh, corners.faces, corners.notes)?;
    let (count, points) = (3 * file.mesh.triangles.len(), file.mesh.positions.len());
    file.notes.push(format!("{count} corners were joined to {points} points of equal coordinates"));
    Ok(file)
}

/// Whether the bytes are a binary STL file that is exactly as long as its number of triangles says.
pub(super) fn is_whole_binary(bytes: &[u8]) -> bool {
    claimed_length(bytes).is_some_and(|(_, length)| length == bytes.len() as u64)
}

/// The number of triangles that a binary file claims, and the length in bytes that it would need.
fn claimed_length(bytes: &[u8]) -> Option<(u32, u64)> {
    let count = u32::from_le_bytes(*bytes.get(HEAD - 4..)?.first_chunk()?);
    Some((count, HEAD as u64 + u64::from(count) * TRIANGLE as u64))
}

/// Triangles whose corners are joined as they come.
#[derive(Default)]
struct Corners {
    positions: Vec<DVec3>,
    faces: Faces,
    /// Point of the bits of its coordinates.
    known: HashMap<[u64; 3], u32>,
    notes: Vec<String>,
}

impl Corners {
    fn push(&mut self, corners: [DVec3; 3], place: Place) {
        let triangle = corners.map(|corner| {
            // -0 equals 0 and must not open the surface; the sum turns it into 0 and changes nothing else.
            let corner = corner + DVec3::ZERO;
            *self.known.entry(corner.to_array().map(f64::to_bits)).or_insert_with(|| {
                self.positions.push(corner);
                (self.positions.len() - 1) as u32
            })
        });
        self.faces.push(&triangle, place);
    }
}

fn read_binary(bytes: &[u8], corners: &mut Corners) -> Result<(), MeshFault> {
    let (count, needed) = claimed_length(bytes).unwrap_or_default();
    let (triangles, _) = bytes.get(HEAD..).unwrap_or_default().as_chunks::<TRIANGLE>();
    let Some(triangles) = triangles.get(..count as usize) else {
        let reason =
            format!("the file claims {count} triangles in {needed} bytes, but has {} bytes", bytes.len());
        let remedy = "export the mesh again: the file is cut off or no STL";
        return Err(MeshFault::at(Place::Byte(HEAD - 4), count.to_string(), reason, remedy));
    };
    for (i, triangle) in triangles.iter().enumerate() {
        let start = HEAD + i * TRIANGLE;
        // The normal takes the first three of the twelve numbers.
        let (numbers, _) = triangle.as_chunks::<4>();
        let number = |k: usize| f64::from(numbers.get(k).map_or(f32::NAN, |raw| f32::from_le_bytes(*raw)));
        if let Some(k) = (3..12).find(|k| !number(*k).is_finite()) {
            let reason = "a coordinate is not finite";
            return Err(MeshFault::at(
                Place::Byte(start + 4 * k),
                number(k).to_string(),
                reason,
                "find out how the mesh came to hold it",
            ));
        }
        corners
            .push([3, 6, 9].map(|k| DVec3::new(number(k), number(k + 1), number(k + 2))), Place::Byte(start));
    }
    if let more @ 1.. = bytes.len() as u64 - needed {
        corners.notes.push(format!("skipped {more} bytes after the last triangle"));
    }
    Ok(())
}

fn read_ascii(mut text: Text, corners: &mut Corners) -> Result<(), MeshFault> {
    let damaged = |text: &Text, value: &[u8], reason: &str| {
        Err(MeshFault::line(
            text.line(),
            value,
            reason,
            "export the mesh again: the file is damaged or cut off",
        ))
    };
    let mut open = false;
    let mut facet: Vec<DVec3> = Vec::with_capacity(3);
    while text.seek() {
        let keyword = text.word().unwrap_or_default();
        match keyword.to_ascii_lowercase().as_slice() {
            b"solid" => open = true,
            _ if !open => return damaged(&text, keyword, "an STL text starts with `solid`"),
            b"outer" | b"color" => {}
            b"vertex" if facet.len() < 3 => facet.push(read_corner(&mut text)?),
            b"endloop" if facet.len() == 3 => {
                corners.push([facet[0], facet[1], facet[2]], Place::Line(text.line()));
                facet.clear();
            }
            b"facet" | b"endfacet" if facet.is_empty() => {}
            b"endsolid" if facet.is_empty() => open = false,
            b"vertex" | b"endloop" | b"facet" | b"endfacet" | b"endsolid" => {
                return damaged(&text, keyword, "a facet has not three corners");
            }
            _ => return damaged(&text, keyword, "the keyword is unknown"),
        }
        text.skip_line();
    }
    if open { damaged(&text, b"end of file", "`endsolid` is missing") } else { Ok(()) }
}

fn read_corner(text: &mut Text) -> Result<DVec3, MeshFault> {
    let mut corner = [0.0; 3];
    for coordinate in &mut corner {
        let word = text.word().unwrap_or(b"end of line");
        *coordinate = text::number(word).filter(|n| n.is_finite()).ok_or_else(|| {
            let reason = "a coordinate is not a finite number";
            MeshFault::line(text.line(), word, reason, "find out how the mesh came to hold it")
        })?;
    }
    Ok(DVec3::from_array(corner))
}
