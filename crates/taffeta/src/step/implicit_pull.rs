//! What pulls in an implicit stage: forces of all elements and their derivatives, into one matrix and its right-hand side.
//!
//! With K = -∂f/∂x (the parts that keep the matrix definite) and C = -∂f/∂v at positions y, the forces at the end x⁺ = x̃ + h v⁺ are
//! f(y) + K (y - x̃) - (h K + C) v⁺. So every element adds h² K + h C to the matrix and h (f + K (y - x̃)) to the right.

use crate::forces::element::Element;
use crate::forces::wind::{Gust, Surface, Wind};
use crate::forces::{bend, spring};
use crate::math::{DMat3, DVec3, Vec4};
use crate::model::Model;
use crate::solve::block_matrix::{BlockMatrix, Elements, Pattern, Sink};

/// Where elements are linearised.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    /// The duration h [s].
    pub h: f64,
    /// The time at the end [s].
    pub time: f64,
    /// Positions y [m].
    pub y: &'a [Vec4],
    /// Velocities at which the air's drag is linearised [m/s].
    pub v: &'a [Vec4],
    /// x̃, from which velocities lead to the end [m].
    pub start: &'a [Vec4],
}

/// All elements of a model, and where their blocks go.
#[derive(Debug)]
pub(super) struct Pull {
    springs: Elements<2>,
    bends: Elements<3>,
    triangles: Elements<3>,
    surface: Option<Surface>,
    wind: Wind,
}

impl Pull {
    /// The elements of a model and the pattern of its matrix.
    pub fn new(model: &Model) -> (Self, Pattern) {
        let (ends, bends) = (&model.springs.ends, &model.bends.points);
        let lists = ends.iter().map(|e| &e[..]).chain(bends.iter().chain(&model.triangles).map(|t| &t[..]));
        let own = "elements of the model name its particles";
        let pattern = Pattern::new(model.particle_count(), lists).expect(own);
        let air = &model.air;
        let surface =
            Surface { density: air.density, drag: air.drag, skin_friction: air.skin_friction, lift: 0.0 };
        let pull = Self {
            springs: Elements::new(&pattern, ends).expect(own),
            bends: Elements::new(&pattern, bends).expect(own),
            triangles: Elements::new(&pattern, &model.triangles).expect(own),
            surface: (air.density > 0.0).then_some(surface),
            wind: Wind {
                mean: air.wind,
                gust: Gust { amplitude: 0.0, frequency: 0.0, length: f64::INFINITY, seed: 0 },
            },
        };
        (pull, pattern)
    }

    /// Adds all elements to the matrix and the right-hand side.
    pub fn assemble(&self, model: &Model, at: &Around, matrix: &mut BlockMatrix, rhs: &mut [Vec4]) {
        self.add_springs(model, at, matrix, rhs);
        self.add_bends(model, at, matrix, rhs);
        self.add_air(model, at, matrix, rhs);
    }

    fn add_springs(&self, model: &Model, at: &Around, matrix: &mut BlockMatrix, rhs: &mut [Vec4]) {
        let (springs, h) = (&model.springs, at.h);
        matrix.add_with_forces(&self.springs, rhs, |s, sink| {
            let [a, b] = springs.ends[s].map(|i| i as usize);
            let (d, before) = ((at.y[b] - at.y[a]).xyz(), (at.start[b] - at.start[a]).xyz());
            let (rest, k, c) = (springs.rest_length[s], springs.stiffness[s], springs.damping[s]);
            // A spring under compression helps to move sideways; that part would make the matrix indefinite.
            let stiffness = spring::derivative(d, rest.min(d.length()), k);
            let force = spring::force(d, DVec3::ZERO, rest, k, 0.0) + stiffness * (before - d);
            let damper =
                DMat3::from_cols(d * d.x, d * d.y, d * d.z) * (h * c / d.length_squared().max(1e-60));
            let block = stiffness * (h * h) + damper;
            sink.add(0, 0, block);
            sink.add(1, 1, block);
            sink.add(0, 1, -block);
            sink.push(0, force * h);
            sink.push(1, force * -h);
        });
    }

    fn add_bends(&self, model: &Model, at: &Around, matrix: &mut BlockMatrix, rhs: &mut [Vec4]) {
        let (bends, h) = (&model.bends, at.h);
        matrix.add_with_forces(&self.bends, rhs, |b, sink| {
            let [ia, ic] = bends.inverse_lengths[b];
            let (k, c) = (bends.stiffness[b], bends.damping[b]);
            // Linear in the positions: what acts at y and K (y - x̃) together is what acts at x̃.
            let points = bends.points[b].map(|i| at.start[i as usize].xyz());
            let forces = bend::forces(points, [DVec3::ZERO; 3], [ia, ic], k, 0.0);
            (0..3).for_each(|i| sink.push(i, forces[i] * h));
            add_products(sink, [ia, -(ia + ic), ic], DMat3::from_diagonal(DVec3::splat(h * (h * k + c))));
        });
    }

    fn add_air(&self, model: &Model, at: &Around, matrix: &mut BlockMatrix, rhs: &mut [Vec4]) {
        let Some(surface) = self.surface else { return };
        matrix.add_with_forces(&self.triangles, rhs, |t, sink| {
            let corners = model.triangles[t].map(|i| i as usize);
            let [a, b, c] = corners.map(|i| at.y[i].xyz());
            let velocity = corners.iter().fold(DVec3::ZERO, |sum, i| sum + at.v[*i].xyz()) / 3.0;
            let wind = self.wind_at((a + b + c) / 3.0, at.time);
            let (normal, stream) = ((b - a).cross(c - a), wind - velocity);
            let slope = surface.safe_derivative(normal, stream);
            let third = (surface.force(normal, stream) + slope * velocity) * (at.h / 3.0);
            (0..3).for_each(|i| sink.push(i, third));
            add_products(sink, [1.0; 3], slope * (at.h / 9.0));
        });
    }

    fn wind_at(&self, position: DVec3, time: f64) -> DVec3 {
        if self.wind.gust.amplitude == 0.0 { self.wind.mean } else { self.wind.at(position, time) }
    }
}

/// Adds g_i g_j `block` for all pairs of an element's particles.
fn add_products(sink: &mut Sink<'_, 3>, g: [f64; 3], block: DMat3) {
    for i in 0..3 {
        for j in i..3 {
            sink.add(i, j, block * (g[i] * g[j]));
        }
    }
}
