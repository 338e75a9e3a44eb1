//! The certificate of meshes that other programs wrote.

use super::{Findings, Measured};
use crate::Failure;
use crate::certificate::counted;
use std::path::{Path, PathBuf};
use taffeta::check::{Certificate, self_intersections, strain};
use taffeta::math::DVec3;
use taffeta::model::topology::{MeshProblem, Topology};
use taffeta_io::mesh;
use taffeta_scene::Mesh;

/// Why meshes cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum MeshesError {
    /// A mesh with other points than the rest shape.
    #[error(
        "{}: has {found} points, but the rest shape {} has {wanted}; all meshes must be of one cloth",
        file.display(), rest.display()
    )]
    OtherPoints {
        /// The mesh.
        file: PathBuf,
        /// Its points.
        found: usize,
        /// The rest shape.
        rest: PathBuf,
        /// Its points.
        wanted: usize,
    },
    /// A rest shape that is no cloth.
    #[error(
        "{}: cannot be a rest shape: {first}{more}; mend it, or name another with --rest",
        rest.display(), more = if *count > 1 { format!(" (and {} more)", count - 1) } else { String::new() }
    )]
    NoCloth {
        /// The rest shape.
        rest: PathBuf,
        /// The first thing wrong.
        first: MeshProblem,
        /// How many things are wrong.
        count: usize,
    },
}

/// Measures every mesh against the rest shape, which is the first of them if none is given.
pub fn examine(files: &[PathBuf], rest: Option<&Path>, tolerance: Option<f64>) -> Result<Findings, Failure> {
    // The command line asks for at least one file.
    let rest = rest.or(files.first().map(PathBuf::as_path)).unwrap_or(Path::new(""));
    let mut notes = Vec::new();
    let at_rest = read(rest, &mut notes)?;
    let topology = at_rest.topology().map_err(|problems| no_cloth(rest, problems))?;
    let length = |[a, b]: &[u32; 2]| at_rest.positions[*a as usize].distance(at_rest.positions[*b as usize]);
    let lengths: Vec<f64> = topology.edges.iter().map(length).collect();
    if files.len() == 1 && files[0] == rest {
        notes.push("one mesh is its own rest shape; name another with --rest to have its strain".into());
    }
    let mut frames = Vec::new();
    for file in files {
        let mesh = if file == rest { at_rest.clone() } else { read(file, &mut notes)? };
        let (found, wanted) = (mesh.positions.len(), at_rest.positions.len());
        if found != wanted {
            let (file, rest) = (file.clone(), rest.into());
            return Err(Failure::input(MeshesError::OtherPoints { file, found, rest, wanted }));
        }
        frames.push(Measured {
            name: file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned(),
            time: None,
            certificate: certify(&mesh.positions, &topology, &lengths),
            resolution: 0.0,
        });
    }
    let subject = format!(
        "{} of {} and {}, at rest in {}",
        counted(files.len(), "mesh"),
        counted(at_rest.positions.len(), "point"),
        counted(topology.triangles.len(), "triangle"),
        rest.display(),
    );
    Ok(Findings { subject, tolerance, frames, faults: Vec::new(), notes, fit: None })
}

fn read(path: &Path, notes: &mut Vec<String>) -> Result<Mesh, Failure> {
    let file = mesh::read(path).map_err(Failure::input)?;
    notes.extend(file.notes.iter().map(|note| format!("{}: {note}", path.display())));
    Ok(file.mesh)
}

fn no_cloth(rest: &Path, problems: Vec<MeshProblem>) -> Failure {
    let count = problems.len();
    let first = problems.into_iter().next().unwrap_or(MeshProblem::Empty);
    Failure::input(MeshesError::NoCloth { rest: rest.into(), first, count })
}

fn certify(positions: &[DVec3], topology: &Topology, lengths: &[f64]) -> Certificate {
    let strain = strain(positions, &topology.edges, lengths);
    Certificate {
        max_strain: strain.max,
        mean_strain: strain.mean,
        cloth_cloth: self_intersections(positions, &topology.triangles).len(),
        cloth_body: 0,
        min_gap: f64::INFINITY,
    }
}
