//! From the shape that a scene asks for to a surface with its topology, and what is inside a soft solid.

use super::import;
use super::shapes::{self, Blank};
use super::{lattice, stuffing};
use crate::Fault;
use crate::scene::{Cloth, Mesh};
use std::collections::BTreeMap;
use taffeta::model::Springs;
use taffeta::model::topology::{MeshProblem, Topology};

/// The shape of a cloth, its topology and, for a mesh, the particle of every point of its file.
pub(super) type Cut = (Blank, Topology, Option<Vec<u32>>);

/// What a soft solid has instead of the masses and elements of a fabric.
pub(super) struct Inside {
    /// Mass of every particle [kg].
    pub mass: Vec<f64>,
    /// Its springs.
    pub springs: Springs,
}

/// Fills what is closed with tetrahedra, if the scene asks for a soft solid.
pub(super) fn fill(cloth: &Cloth, cut: &mut Cut, key: &str) -> Result<Option<Inside>, Vec<Fault>> {
    let (blank, topology, particle_of) = cut;
    if let Some(lattice) = &cloth.lattice {
        let (mass, springs) = (lattice::masses(lattice), lattice::springs(lattice, &blank.rest));
        return Ok(Some(Inside { mass, springs }));
    }
    let Some(solid) = &cloth.solid else { return Ok(None) };
    let key = format!("{key}.solid");
    if let Some(open) = topology.boundary.first() {
        let reason = format!("the surface is open, at particle {open} among others");
        return Err(vec![Fault::new(key, "", reason, "close it, or leave `solid` out")]);
    }
    let stuffed = stuffing::stuff(&blank.rest, &topology.triangles, solid.cell).map_err(|problem| {
        let remedy = "choose a `cell` of about a tenth of its size, and triangles that look outwards";
        vec![Fault::new(format!("{key}.cell"), solid.cell, problem.to_string(), remedy)]
    })?;
    let (mass, springs) = (stuffed.masses(solid.density), stuffed.springs(solid));
    let surface = stuffed.mesh.topology().map_err(|problems| {
        let reason = format!("leaves parts that hang together by a line: {}", problems[0]);
        vec![Fault::new(format!("{key}.cell"), solid.cell, reason, "make it smaller")]
    })?;
    // Its particles are those of the lattice, and are pinned by their own numbers.
    *particle_of = Some((0..stuffed.mesh.positions.len() as u32).collect());
    (*blank, *topology) = (Blank::at_rest(stuffed.mesh), lattice::surface(surface));
    Ok(Some(Inside { mass, springs }))
}

pub(super) fn cut(cloth: &Cloth, meshes: &BTreeMap<String, Mesh>, key: &str) -> Result<Cut, Vec<Fault>> {
    let blank = if let Some(sheet) = &cloth.sheet {
        shapes::sheet(sheet)
    } else if let Some(strip) = &cloth.strip {
        shapes::strip(strip)
    } else if let Some(disc) = &cloth.disc {
        shapes::disc(disc)
    } else if let Some(tube) = &cloth.tube {
        shapes::tube(tube)
    } else if let Some(ball) = &cloth.ball {
        shapes::ball(ball)
    } else if let Some(lattice) = &cloth.lattice {
        let blank = lattice::blank(lattice);
        let topology = blank.rest.topology().map_err(|problems| mesh_faults(key, "", problems))?;
        return Ok((blank, lattice::surface(topology), None));
    } else {
        return cut_mesh(cloth, meshes, key);
    };
    let topology = blank.rest.topology().map_err(|problems| mesh_faults(key, "", problems))?;
    Ok((blank, topology, None))
}

fn cut_mesh(cloth: &Cloth, meshes: &BTreeMap<String, Mesh>, key: &str) -> Result<Cut, Vec<Fault>> {
    let key = format!("{key}.mesh.file");
    let file = cloth.mesh.as_ref().map_or("", |shape| shape.file.as_str());
    let (Some(mesh), Some(shape)) = (meshes.get(file), &cloth.mesh) else {
        let fault =
            Fault::new(key, file, "the mesh was not handed in", "read it and pass it under this name");
        return Err(vec![fault]);
    };
    let imported = import::import(mesh, shape);
    let topology = imported.mesh.topology().map_err(|problems| {
        let problems = problems.into_iter().map(|problem| problem.in_file(&imported.point_of)).collect();
        mesh_faults(&key, file, problems)
    })?;
    Ok((Blank::at_rest(imported.mesh), topology, Some(imported.particle_of)))
}

/// One fault for each kind of problem: how many places there are, the first of them, what helps.
fn mesh_faults(key: &str, file: &str, problems: Vec<MeshProblem>) -> Vec<Fault> {
    const NAMED: usize = 5;
    let mut kinds: Vec<(&str, Vec<String>, usize)> = Vec::new();
    for problem in problems {
        let remedy = problem.remedy();
        let at = kinds.iter().position(|(known, ..)| *known == remedy).unwrap_or_else(|| {
            kinds.push((remedy, Vec::new(), 0));
            kinds.len() - 1
        });
        kinds[at].2 += 1;
        if kinds[at].1.len() < NAMED {
            kinds[at].1.push(problem.to_string());
        }
    }
    let fault = |(remedy, named, count): (&str, Vec<String>, usize)| {
        let more = match count - named.len() {
            0 => String::new(),
            more => format!("; and {more} more such places"),
        };
        Fault::new(key, file, format!("cannot be cloth: {}{more}", named.join("; ")), remedy)
    };
    kinds.into_iter().map(fault).collect()
}
