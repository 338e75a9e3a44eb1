//! Arrays of a frame as NumPy's `.npz`: a zip archive, not compressed, of `.npy` files. Equal arrays give equal bytes.
//!
//! The formats: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>, PKWARE's APPNOTE 6.3.

use std::io::{self, Write};
use taffeta::Simulation;
use taffeta::check::against_body;
use taffeta::math::DVec3;

/// The first of January 1980, from which zip counts days.
const DATE: u16 = 1 << 5 | 1;

/// Writes the arrays of the present state.
pub fn write(out: &mut impl Write, simulation: &Simulation) -> io::Result<()> {
    let (model, state) = (simulation.model(), simulation.state());
    let cloth = model.cloth_particle_count();
    let vectors = |list: &[DVec3]| -> Vec<u8> {
        let bytes = |v: &DVec3| v.to_array().map(|x| (x as f32).to_le_bytes()).concat();
        list[..cloth].iter().flat_map(bytes).collect()
    };
    let whole = |list: &[u32]| -> Vec<u8> { list.iter().flat_map(|n| n.to_le_bytes()).collect() };
    let contacts = contacts(simulation);
    let told = simulation.certificate();
    let certificate =
        [told.max_strain, told.mean_strain, told.cloth_cloth as f64, told.cloth_body as f64, told.min_gap];
    let numbers = |list: &[f64]| -> Vec<u8> { list.iter().flat_map(|x| x.to_le_bytes()).collect() };
    let arrays = [
        ("positions", npy("<f4", &[cloth, 3], &vectors(&state.positions))),
        ("velocities", npy("<f4", &[cloth, 3], &vectors(&state.velocities))),
        ("triangles", npy("<u4", &[model.triangles.len(), 3], &whole(model.triangles.as_flattened()))),
        ("contacts", npy("<u4", &[contacts.len(), 2], &whole(contacts.as_flattened()))),
        ("certificate", npy("<f8", &[certificate.len()], &numbers(&certificate))),
        ("time", npy("<f8", &[1], &numbers(&[state.time]))),
    ];
    zip(out, &arrays)
}

/// Triangles that touch a body of closed form, each with the number of its collider: no more than the fabric's thickness is between them.
fn contacts(simulation: &Simulation) -> Vec<[u32; 2]> {
    let (model, state) = (simulation.model(), simulation.state());
    let mut pairs = Vec::new();
    for (number, collider) in model.colliders.iter().enumerate() {
        let Some(body) = collider.at(state.time).filter(|_| collider.free.is_none()) else { continue };
        for piece in &model.cloths {
            let near = |k: &usize| {
                let corners = model.triangles[*k].map(|corner| state.positions[corner as usize]);
                against_body(&corners, &[[0, 1, 2]], &body).min_gap <= 1e-3 * piece.fabric.thickness
            };
            pairs.extend(piece.triangles.clone().filter(near).map(|k| [k as u32, number as u32]));
        }
    }
    pairs
}

/// An array as a file of its own.
fn npy(kind: &str, shape: &[usize], data: &[u8]) -> Vec<u8> {
    let sizes: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let mut head = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({sizes}), }}");
    // All that stands before the data is a multiple of 64 bytes long.
    while !(10 + head.len() + 1).is_multiple_of(64) {
        head.push(' ');
    }
    head.push('\n');
    [b"\x93NUMPY\x01\x00", &(head.len() as u16).to_le_bytes()[..], head.as_bytes(), data].concat()
}

fn zip(out: &mut impl Write, files: &[(&str, Vec<u8>)]) -> io::Result<()> {
    let mut directory = Vec::new();
    let mut at = 0_u32;
    for (name, data) in files {
        let name = format!("{name}.npy");
        let size = u32::try_from(data.len()).map_err(io::Error::other)?;
        let mut about: Vec<u8> = [10_u16, 0, 0, 0, DATE].iter().flat_map(|n| n.to_le_bytes()).collect();
        about.extend([crc32fast::hash(data), size, size].iter().flat_map(|n| n.to_le_bytes()));
        about.extend((name.len() as u16).to_le_bytes());
        let head = [b"PK\x03\x04", &about[..], &[0; 2], name.as_bytes()].concat();
        out.write_all(&head)?;
        out.write_all(data)?;
        directory
            .extend([b"PK\x01\x02\x0a\0", &about[..], &[0; 12], &at.to_le_bytes(), name.as_bytes()].concat());
        at += head.len() as u32 + size;
    }
    out.write_all(&directory)?;
    let count = (files.len() as u16).to_le_bytes();
    let sizes = [(directory.len() as u32).to_le_bytes(), at.to_le_bytes()].concat();
    out.write_all(&[b"PK\x05\x06\0\0\0\0", &count[..], &count, &sizes, &[0; 2]].concat())
}
