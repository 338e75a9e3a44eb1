//! A closed mesh with something inside: its volume, how that grows, and what the pressure pushes with.

use super::pressure::{PressureFilling, corner_force};
use crate::math::{DVec3, Vec4};

/// A closed mesh, whose particles are some of all.
#[derive(Debug)]
pub struct InflatedMesh {
    /// Its particles, in increasing order.
    pub particles: Vec<u32>,
    /// Triangles by the places of their corners among these.
    triangles: Vec<[u32; 3]>,
    /// The gradient of the volume at each of them, when it was last asked for [m²].
    pub gradient: Vec<Vec4>,
    /// What is inside.
    pub filling: PressureFilling,
}

impl InflatedMesh {
    /// Of triangles that enclose something.
    pub fn new(triangles: &[[u32; 3]], filling: PressureFilling) -> Self {
        let mut particles: Vec<u32> = triangles.iter().flatten().copied().collect();
        particles.sort_unstable();
        particles.dedup();
        let place = |i: u32| particles.binary_search(&i).unwrap_or(0) as u32;
        Self {
            triangles: triangles.iter().map(|t| t.map(place)).collect(),
            gradient: vec![Vec4::ZERO; particles.len()],
            particles,
            filling,
        }
    }

    fn corners(&self, triangle: &[u32; 3], x: &[Vec4]) -> [DVec3; 3] {
        triangle.map(|k| x[self.particles[k as usize] as usize].xyz())
    }

    /// What it encloses at positions `x` [m³].
    pub fn volume(&self, x: &[Vec4]) -> f64 {
        let origin = self.particles.first().map_or(DVec3::ZERO, |i| x[*i as usize].xyz());
        let sixfold = |t: &[u32; 3]| {
            let [a, b, c] = self.corners(t, x).map(|p| p - origin);
            a.dot(b.cross(c))
        };
        self.triangles.iter().map(sixfold).sum::<f64>() / 6.0
    }

    /// Adds so many `times` the forces at positions `x` to the sum of each particle.
    pub fn push(&self, x: &[Vec4], times: f64, sum: &mut [Vec4]) {
        let pressure = times * self.filling.pressure(self.volume(x));
        for triangle in &self.triangles {
            let force = Vec4::from(corner_force(&self.corners(triangle, x), pressure));
            triangle.iter().for_each(|k| sum[self.particles[*k as usize] as usize] += force);
        }
    }

    /// Finds the gradient of the volume at positions `x`.
    pub fn find_gradient(&mut self, x: &[Vec4]) {
        let mut gradient = std::mem::take(&mut self.gradient);
        gradient.fill(Vec4::ZERO);
        for triangle in &self.triangles {
            let along = Vec4::from(corner_force(&self.corners(triangle, x), 1.0));
            triangle.iter().for_each(|k| gradient[*k as usize] += along);
        }
        self.gradient = gradient;
    }
}
