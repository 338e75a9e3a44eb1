//! OrderedParticles in the order in which an implicit method works on them (P4): as given, in stripes, or by recursive bisection.
//!
//! Rows of the matrix are cut into chunks by this order, and elements between chunks are computed on both sides: the fewer the better. The state
//! keeps the order of the scene.

use crate::math::{DVec3, Vec4};
use crate::model::{Environment, Model, ParticleOrder};

/// Parts of this size are not bisected further.
const SMALLEST_PART: usize = 32;

/// All particles of a model in their own order.
#[derive(Debug)]
pub(super) struct OrderedParticles {
    /// Where each particle of the model stands here.
    pub place: Vec<u32>,
    /// Mass [kg].
    pub mass: Vec<f64>,
    /// Whether it is held or led.
    pub pinned: Vec<bool>,
    /// The piece of cloth it belongs to.
    pub cloth: Vec<u32>,
}

impl OrderedParticles {
    pub fn new(model: &Model, environment: &Environment) -> Self {
        let mut order: Vec<u32> = Vec::with_capacity(model.particle_count());
        let mut cloth = Vec::with_capacity(model.particle_count());
        for (c, piece) in model.cloths.iter().enumerate() {
            let first = order.len();
            order.extend(piece.particles.clone().map(|i| i as u32));
            cloth.resize(order.len(), c as u32);
            match model.order {
                ParticleOrder::Given => {}
                ParticleOrder::Striped => stripe(&mut order[first..], &model.rest_positions),
                ParticleOrder::Recursive => bisect(&mut order[first..], &model.rest_positions),
            }
        }
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(k, i)| place[*i as usize] = k as u32);
        let mass = order.iter().map(|i| model.mass[*i as usize]).collect();
        let pinned = order.iter().map(|i| environment.inverse_mass[*i as usize] == 0.0).collect();
        Self { place, mass, pinned, cloth }
    }

    /// Elements by their places here.
    pub fn places<const N: usize>(&self, elements: &[[u32; N]]) -> Vec<[u32; N]> {
        elements.iter().map(|element| element.map(|i| self.place[i as usize])).collect()
    }

    /// Particles by their places here.
    pub fn places_of(&self, particles: &[u32]) -> Vec<u32> {
        particles.iter().map(|i| self.place[*i as usize]).collect()
    }

    pub fn load(&self, from: &[DVec3], to: &mut [Vec4]) {
        self.place.iter().zip(from).for_each(|(k, vector)| to[*k as usize] = (*vector).into());
    }

    /// In the order of the model.
    pub fn gather(&self, from: &[Vec4], to: &mut [Vec4]) {
        self.place.iter().zip(to).for_each(|(k, vector)| *vector = from[*k as usize]);
    }

    pub fn store(&self, from: &[Vec4], to: &mut [DVec3]) {
        self.place.iter().zip(to).for_each(|(k, vector)| *vector = from[*k as usize].xyz());
    }
}

/// The axis along which particles reach furthest.
fn longest_axis(particles: &[u32], x: &[DVec3]) -> usize {
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for i in particles {
        (low, high) = (low.min(x[*i as usize]), high.max(x[*i as usize]));
    }
    let size = (high - low).to_array();
    (0..3).fold(0, |best, axis| if size[axis] > size[best] { axis } else { best })
}

/// By their place along the longest axis.
fn stripe(particles: &mut [u32], x: &[DVec3]) {
    let axis = longest_axis(particles, x);
    let at = |i: &u32| x[*i as usize][axis];
    particles.sort_by(|a, b| at(a).total_cmp(&at(b)).then(a.cmp(b)));
}

/// Halves that are halved again, each along its own longest axis.
fn bisect(particles: &mut [u32], x: &[DVec3]) {
    stripe(particles, x);
    if particles.len() > SMALLEST_PART {
        let (left, right) = particles.split_at_mut(particles.len() / 2);
        bisect(left, x);
        bisect(right, x);
    }
}
