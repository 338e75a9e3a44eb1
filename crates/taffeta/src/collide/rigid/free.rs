//! Free bodies as contacts see them: points that hang on four particles, and how a body gives way to a push.

use crate::collide::surface::CollisionSurface;
use crate::math::{DMat3, DVec3};
use crate::model::{Model, RigidBody};
use std::ops::Range;

/// All free bodies of a model.
#[derive(Debug, Clone, Default)]
pub struct FreeBodies {
    list: Vec<Free>,
    /// Per object of the surface: its number here.
    of_object: Vec<Option<usize>>,
}

/// A body whose points hang on its particles.
#[derive(Debug, Clone)]
pub struct Free {
    /// The body.
    pub body: RigidBody,
    /// Its object in the surface.
    pub object: usize,
    /// Its points in the surface.
    pub points: Range<usize>,
    /// Per point the weights of the four particles.
    pub weights: Vec<[f64; 4]>,
}

/// How a body lies at a moment, and what that makes of a push.
#[derive(Debug, Clone, Copy)]
pub struct Lie {
    /// Centre of mass [m].
    pub centre: DVec3,
    inverse_mass: f64,
    inverse_inertia: DMat3,
    /// One over Σ arm armᵀ over the particles [1/m²].
    inverse_spread: DMat3,
    /// From the centre to every particle [m].
    arms: [DVec3; 4],
}

impl FreeBodies {
    /// Those of a model whose surface is given.
    pub fn new(model: &Model, surface: &CollisionSurface) -> Self {
        let mut bodies = Self { list: Vec::new(), of_object: vec![None; surface.objects.len()] };
        for (object, found) in surface.objects.iter().enumerate() {
            let Some(free) = found.body.and_then(|b| model.colliders[b].free) else { continue };
            let body = model.bodies[free].clone();
            let weights = surface.rest[found.points.clone()].iter().map(|p| body.weights(*p)).collect();
            bodies.of_object[object] = Some(bodies.list.len());
            bodies.list.push(Free { body, object, points: found.points.clone(), weights });
        }
        bodies
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Free> {
        self.list.iter()
    }

    /// One of them by its number.
    pub fn get(&self, number: usize) -> &Free {
        &self.list[number]
    }

    /// The number of the body that an object is, if it is a free one.
    pub fn of_object(&self, object: usize) -> Option<usize> {
        self.of_object[object]
    }

    /// The number of the body that a point belongs to, if it is a free one's.
    pub fn of_point(&self, surface: &CollisionSurface, point: u32) -> Option<usize> {
        if self.list.is_empty() || (point as usize) < surface.particles {
            return None;
        }
        self.of_object[surface.object_of_point(point)]
    }

    /// Puts the points of all free bodies where their particles have them; `points` are all of the surface [m].
    pub fn place(&self, points: &mut [DVec3]) {
        self.list.iter().for_each(|free| free.place(points));
    }
}

impl Free {
    /// Its particles.
    pub fn nodes(&self, points: &[DVec3]) -> [DVec3; 4] {
        self.body.of(points)
    }

    /// Puts its points where its particles have them [m].
    pub fn place(&self, points: &mut [DVec3]) {
        let nodes = self.nodes(points);
        for (point, weights) in points[self.points.clone()].iter_mut().zip(&self.weights) {
            *point = mean(weights, &nodes);
        }
    }

    /// Makes its particles rigid again and puts its points where they then are [m].
    pub fn keep_rigid(&self, points: &mut [DVec3]) {
        let placed = self.body.placement(&self.nodes(points));
        points[self.body.nodes.clone()].copy_from_slice(&self.body.nodes_of(&placed));
        self.place(points);
    }

    /// How it lies with its particles there [m].
    pub fn lie(&self, nodes: &[DVec3; 4]) -> Lie {
        let placed = self.body.placement(nodes);
        let squares = self.body.arms * self.body.arms;
        Lie {
            centre: placed.centre,
            inverse_mass: 1.0 / self.body.mass,
            inverse_inertia: self.body.inverse_inertia(&placed.axes),
            inverse_spread: placed.axes * DMat3::from_diagonal(0.25 / squares) * placed.axes.transpose(),
            arms: self.body.nodes_of(&placed).map(|node| node - placed.centre),
        }
    }
}

impl Lie {
    /// How far a point at `arm` from the centre [m] moves by an impulse there, per impulse [1/kg].
    pub fn give(&self, arm: DVec3) -> DMat3 {
        let moved =
            |unit: DVec3| self.inverse_mass * unit + (self.inverse_inertia * arm.cross(unit)).cross(arm);
        DMat3::from_cols(moved(DVec3::X), moved(DVec3::Y), moved(DVec3::Z))
    }

    /// How far each particle moves by an impulse at `arm` from the centre [m]: rigidly, to first order.
    pub fn moves(&self, arm: DVec3, impulse: DVec3) -> [DVec3; 4] {
        let (shift, turn) = (self.inverse_mass * impulse, self.inverse_inertia * arm.cross(impulse));
        self.arms.map(|node| shift + turn.cross(node))
    }

    /// The weights with which the point at `arm` from the centre [m] is a mean of the particles.
    pub fn weights(&self, arm: DVec3) -> [f64; 4] {
        let along = self.inverse_spread * arm;
        self.arms.map(|node| 0.25 + node.dot(along))
    }
}

/// Σ weight · node.
pub fn mean(weights: &[f64; 4], nodes: &[DVec3; 4]) -> DVec3 {
    weights[0] * nodes[0] + weights[1] * nodes[1] + weights[2] * nodes[2] + weights[3] * nodes[3]
}
