//! What a picture shows: borrowed arrays of one moment, checked before anything is drawn.

use taffeta::math::DVec3;
use taffeta::model::{Collider, Form, Model, PosedShape};

use crate::colour;

/// One moment of a scene.
#[derive(Debug, Clone, Default)]
pub struct SceneView<'a> {
    /// The pieces of cloth.
    pub cloths: Vec<ClothView<'a>>,
    /// What the cloth meets.
    pub bodies: Vec<BodyView<'a>>,
    /// Height of the floor [m]; `None` draws no floor but the planes among the bodies.
    pub ground: Option<f64>,
}

/// A piece of cloth.
#[derive(Debug, Clone, Copy)]
pub struct ClothView<'a> {
    /// Where every particle is [m].
    pub positions: &'a [DVec3],
    /// Its triangles, as numbers of particles; counter-clockwise seen from outside.
    pub triangles: &'a [[u32; 3]],
    /// Material coordinates (u, v) of every particle [m], or none: then no threads are drawn.
    pub material: &'a [[f64; 2]],
    /// Colour, linear RGB in 0..1; see [`colour::from_hex`].
    pub colour: [f32; 3],
    /// Distance from thread to thread [m]; `None` takes one that shows.
    pub thread: Option<f64>,
    /// Numbers to colour it by, in place of its own colour.
    pub values: Option<Values<'a>>,
}

/// Numbers to colour a cloth by.
#[derive(Debug, Clone, Copy)]
pub enum Values<'a> {
    /// One of every particle, blended between them.
    Particles(&'a [f64]),
    /// One of every triangle.
    Triangles(&'a [f64]),
    /// A group of every particle: equal numbers have equal colours, other numbers others.
    ParticleGroups(&'a [u32]),
    /// A group of every triangle.
    TriangleGroups(&'a [u32]),
}

/// What the cloth meets.
#[derive(Debug, Clone, Copy)]
pub enum BodyView<'a> {
    /// A closed-form shape.
    Shape(PosedShape),
    /// A surface of triangles.
    Mesh {
        /// Its points [m].
        positions: &'a [DVec3],
        /// Its triangles, as numbers of points.
        triangles: &'a [[u32; 3]],
    },
}

impl<'a> SceneView<'a> {
    /// The cloth of a model at `positions` [m] in the colours of its fabrics, and its closed-form colliders at `time` [s]. No floor.
    pub fn of(model: &'a Model, positions: &'a [DVec3], time: f64) -> Self {
        let cloth = |piece: &taffeta::model::ClothPiece| ClothView {
            positions,
            triangles: model.triangles.get(piece.triangles.clone()).unwrap_or_default(),
            material: &model.material,
            colour: colour::from_hex(&piece.fabric.colour).unwrap_or([0.5; 3]),
            thread: None,
            values: None,
        };
        let body = |(number, collider): (usize, &Collider)| match collider.form {
            Form::Closed(shape) => {
                Some(BodyView::Shape(PosedShape { shape, pose: model.pose(number, positions, time) }))
            }
            Form::Mesh(_) => None,
        };
        Self {
            cloths: model.cloths.iter().map(cloth).collect(),
            bodies: model.colliders.iter().enumerate().filter_map(body).collect(),
            ground: None,
        }
    }

    /// The first thing that does not fit together, if any.
    pub(crate) fn check(&self) -> Result<(), ViewError> {
        for (cloth, view) in self.cloths.iter().enumerate() {
            let (particles, triangles) = (view.positions.len(), view.triangles.len());
            check_triangles(&format!("cloth {cloth}"), view.triangles, particles)?;
            let (what, found, expected) = match view.values {
                None => ("values", 0, 0),
                Some(Values::Particles(list)) => ("values of particles", list.len(), particles),
                Some(Values::Triangles(list)) => ("values of triangles", list.len(), triangles),
                Some(Values::ParticleGroups(list)) => ("groups of particles", list.len(), particles),
                Some(Values::TriangleGroups(list)) => ("groups of triangles", list.len(), triangles),
            };
            let material = if view.material.is_empty() { particles } else { view.material.len() };
            for (what, found, expected) in [(what, found, expected), ("material points", material, particles)]
            {
                if found != expected {
                    return Err(ViewError::Length { cloth, what, found, expected });
                }
            }
        }
        for (body, view) in self.bodies.iter().enumerate() {
            if let BodyView::Mesh { positions, triangles } = view {
                check_triangles(&format!("body {body}"), triangles, positions.len())?;
            }
        }
        Ok(())
    }
}

fn check_triangles(owner: &str, triangles: &[[u32; 3]], points: usize) -> Result<(), ViewError> {
    let outside = |corners: &[u32; 3]| corners.iter().any(|corner| *corner as usize >= points);
    match triangles.iter().position(outside) {
        None => Ok(()),
        Some(triangle) => {
            Err(ViewError::Corner { owner: owner.into(), triangle, corners: triangles[triangle], points })
        }
    }
}

/// Arrays that do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ViewError {
    /// A list is not as long as it should be.
    #[error("cloth {cloth}: {found} {what} were given, {expected} are needed; give one each")]
    Length {
        /// The cloth, counted from 0.
        cloth: usize,
        /// What the list holds.
        what: &'static str,
        /// How many it holds.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A triangle names a point that is not there.
    #[error(
        "{owner}: triangle {triangle} has the corners {corners:?}, but there are only {points} points; number them from 0"
    )]
    Corner {
        /// Whose triangle.
        owner: String,
        /// Its number.
        triangle: usize,
        /// Its corners.
        corners: [u32; 3],
        /// How many points there are.
        points: usize,
    },
}
