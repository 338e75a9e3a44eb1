//! All that is certified of one state, in one record.

use super::{BodyContact, Surface, against_body, against_mesh, self_intersections, strain};
use crate::math::{DVec3, Pose};
use crate::model::{Form, Model, PosedShape, State};

/// What is certified of a state.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Certificate {
    /// Largest strain of a structural edge [1].
    pub max_strain: f64,
    /// Mean strain of structural edges [1].
    pub mean_strain: f64,
    /// Pairs of cloth triangles that intersect.
    pub cloth_cloth: usize,
    /// Pairs of a cloth triangle and a collider that it cuts into.
    pub cloth_body: usize,
    /// Smallest distance between cloth and colliders, negative inside [m]; infinite without colliders.
    pub min_gap: f64,
}

/// Measures a state.
pub fn certify(model: &Model, state: &State) -> Certificate {
    let bodies = model.colliders.iter().map(|collider| &collider.form).zip(model.poses(state));
    let cloth = Surface { positions: &state.positions, triangles: &model.triangles };
    certify_parts(cloth, &model.edges, &model.rest_lengths, bodies, state.time)
}

/// Measures cloth with its structural edges and their rest lengths [m] against bodies in their poses at `time` [s].
pub fn certify_parts<'a>(
    cloth: Surface,
    edges: &[[u32; 2]],
    rest_lengths: &[f64],
    bodies: impl Iterator<Item = (&'a Form, Pose)>,
    time: f64,
) -> Certificate {
    let strain = strain(cloth.positions, edges, rest_lengths);
    let mut certificate = Certificate {
        max_strain: strain.max,
        mean_strain: strain.mean,
        cloth_cloth: self_intersections(cloth.positions, cloth.triangles).len(),
        cloth_body: 0,
        min_gap: f64::INFINITY,
    };
    for (form, pose) in bodies {
        let contact = against_form(cloth, form, &pose, time);
        certificate.cloth_body += contact.intersecting.len();
        certificate.min_gap = certificate.min_gap.min(contact.min_gap);
    }
    certificate
}

/// Contact between cloth and a body of either form, posed at `time` [s].
pub fn against_form(cloth: Surface, form: &Form, pose: &Pose, time: f64) -> BodyContact {
    match form {
        Form::Closed(shape) => {
            against_body(cloth.positions, cloth.triangles, &PosedShape { shape: *shape, pose: *pose })
        }
        Form::Mesh(mesh) => {
            let positions: Vec<DVec3> = mesh.points(time, pose);
            against_mesh(cloth, Surface { positions: &positions, triangles: mesh.triangles() })
        }
    }
}
