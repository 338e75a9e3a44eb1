//! Stanford PLY: ascii and binary of either byte order, with unknown elements and properties skipped.

mod body;
mod header;

use taffeta::math::DVec3;
use taffeta_scene::Mesh;

use super::polygon::Faces;
use super::text::{self, Text};
use super::{MeshFault, MeshFaults, MeshFile, PlyEncoding};
use body::Body;
use header::{Element, Property, read_header};

/// Names of the two material coordinates, in the order of preference.
const MATERIAL: [[&[u8]; 2]; 3] = [[b"s", b"t"], [b"u", b"v"], [b"texture_u", b"texture_v"]];

/// Reads a PLY file: `vertex` with x, y, z and, as material, s/t, u/v or texture_u/texture_v; `face` with its corners.
pub fn read_ply(bytes: &[u8]) -> Result<MeshFile, MeshFaults> {
    let mut text = Text::new(bytes)?;
    let (encoding, elements) = read_header(&mut text)?;
    let points = elements.iter().find(|e| e.name == b"vertex").map_or(0, |e| e.count);
    let mut body = Body::new(bytes, text, encoding);
    let (mut mesh, mut faces, mut notes) = (Mesh::default(), Faces::default(), Vec::new());
    for element in &elements {
        element.refuse_impossible_count(body.left(), encoding)?;
        let used = match element.name {
            b"vertex" => read_points(element, &mut body, &mut mesh)?,
            b"face" => read_faces(element, &mut body, points, &mut faces)?,
            _ => skip_rows(element, &mut body)?,
        };
        notes.extend(element.skipped(&used));
    }
    match body.left() {
        0 => {}
        n => notes.push(format!("skipped {n} bytes after the last element")),
    }
    MeshFile::assemble(mesh, faces, notes)
}

impl Element<'_> {
    /// Refuses a count that the rest of the file cannot hold, before anything is sized by it.
    fn refuse_impossible_count(&self, left: usize, encoding: PlyEncoding) -> Result<(), MeshFault> {
        let shortest = |p: &Property| match encoding {
            PlyEncoding::Ascii => 2,
            _ => p.length.unwrap_or(p.scalar).size(),
        };
        let row: usize = self.properties.iter().map(shortest).sum();
        // The last row of a text needs no line end.
        if row.saturating_mul(self.count) <= left.saturating_add(1)
            && (row == 0 || u32::try_from(self.count).is_ok())
        {
            return Ok(());
        }
        let name = text::excerpt(self.name);
        let reason = format!("the header claims {} rows of `{name}`, but {left} bytes are left", self.count);
        let remedy = "export the mesh again: the file is cut off or its header is wrong";
        Err(MeshFault::line(self.line, self.count.to_string().as_bytes(), reason, remedy))
    }

    fn property(&self, name: &[u8], list: bool) -> Option<usize> {
        self.properties.iter().position(|p| p.name == name && p.length.is_some() == list)
    }

    fn refuse_without(&self, what: &str) -> MeshFault {
        let reason = format!("the element has no property {what}");
        MeshFault::line(self.line, self.name, reason, "correct the header, or export the mesh again")
    }

    /// Reads a row and hands each number to `take` with the index of its property.
    fn read_row<'a>(
        &self,
        body: &mut Body<'a>,
        mut take: impl FnMut(usize, f64, &Body<'a>) -> Result<(), MeshFault>,
    ) -> Result<(), MeshFault> {
        body.start_row()?;
        for (k, property) in self.properties.iter().enumerate() {
            let length = match property.length {
                None => 1,
                Some(scalar) => {
                    let length = body.number(scalar)?;
                    body.whole(length, u32::MAX as usize, "the length of a list")?
                }
            };
            for _ in 0..length {
                let value = body.number(property.scalar)?;
                take(k, value, body)?;
            }
        }
        body.end_row()
    }

    /// A note that names the properties beside the `used` ones.
    fn skipped(&self, used: &[usize]) -> Option<String> {
        let unused = self.properties.iter().enumerate().filter(|(k, _)| !used.contains(k));
        let mut names: Vec<String> = unused.map(|(_, p)| text::excerpt(p.name)).collect();
        if let more @ 1.. = names.len().saturating_sub(12) {
            names.truncate(12);
            names.push(format!("{more} more"));
        }
        let element = text::excerpt(self.name);
        (!names.is_empty()).then(|| format!("skipped properties of `{element}`: {}", names.join(", ")))
    }
}

fn read_points(element: &Element, body: &mut Body, mesh: &mut Mesh) -> Result<Vec<usize>, MeshFault> {
    let find = |name: &[u8]| element.property(name, false);
    let (Some(x), Some(y), Some(z)) = (find(b"x"), find(b"y"), find(b"z")) else {
        return Err(element.refuse_without("x, y or z"));
    };
    let material = MATERIAL.iter().find_map(|[u, v]| Some([find(u)?, find(v)?]));
    let used: Vec<usize> = [x, y, z].into_iter().chain(material.into_iter().flatten()).collect();
    let mut row = vec![0.0; element.properties.len()];
    mesh.positions.reserve_exact(element.count);
    for _ in 0..element.count {
        element.read_row(body, |k, value, body| {
            if !value.is_finite() && used.contains(&k) {
                let remedy = "find out how the mesh came to hold it";
                return Err(body.fault(body.quote(value), "a coordinate is not a finite number", remedy));
            }
            row[k] = value;
            Ok(())
        })?;
        mesh.positions.push(DVec3::new(row[x], row[y], row[z]));
        mesh.material.extend(material.map(|[u, v]| [row[u], row[v]]));
    }
    Ok(used)
}

fn read_faces(
    element: &Element,
    body: &mut Body,
    points: usize,
    faces: &mut Faces,
) -> Result<Vec<usize>, MeshFault> {
    let found = element.property(b"vertex_indices", true).or_else(|| element.property(b"vertex_index", true));
    let used = found.ok_or_else(|| element.refuse_without("list vertex_indices"))?;
    let mut corners = Vec::new();
    for _ in 0..element.count {
        corners.clear();
        element.read_row(body, |k, value, body| {
            if k == used {
                corners.push(body.whole(value, points, "the index of a point")?);
            }
            Ok(())
        })?;
        if corners.len() < 3 {
            let value = format!("{} corners", corners.len());
            return Err(body.fault(value, "a face needs three corners", "remove the face"));
        }
        faces.push(&corners, body.place());
    }
    Ok(vec![used])
}

fn skip_rows(element: &Element, body: &mut Body) -> Result<Vec<usize>, MeshFault> {
    // Rows without properties hold nothing to pass by, however many the header claims.
    let count = if element.properties.is_empty() { 0 } else { element.count };
    (0..count).try_for_each(|_| element.read_row(body, |_, _, _| Ok(())))?;
    Ok(Vec::new())
}
