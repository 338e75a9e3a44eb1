//! Air inside a closed mesh: a force p ∂V/∂x, with a pressure that is constant or that of an ideal gas.
//!
//! Triangles are counter-clockwise seen from outside. A triangle bears p times its area along its normal, a third on each corner. For a
//! closed mesh that is exactly p ∂V/∂x of the enclosed volume V. So the derivative of all forces is p ∂²V + (dp/dV) ∂V ∂Vᵀ: sparse,
//! symmetric and indefinite the first; dense, of rank one and never pushing the second, to be applied as a product with the volume's
//! gradient.

use super::element::{Blocks, cross_matrix};
use crate::math::DVec3;

/// What fills a closed mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PressureFilling {
    /// A pump that keeps its pressure.
    Constant {
        /// Pressure above that of the outside [Pa].
        pressure: f64,
    },
    /// A gas at constant temperature: p V = n R T.
    IdealGas {
        /// n R T [J].
        amount: f64,
        /// Pressure of the outside [Pa].
        outside: f64,
        /// Below this volume the pressure rises no more, so that a crushed or inverted mesh has a finite one [m³].
        least_volume: f64,
    },
}

impl PressureFilling {
    /// The gas that has the pressure `inside` in a volume [Pa, m³], against `outside` [Pa]; it can be compressed to a thousandth.
    pub fn gas(inside: f64, volume: f64, outside: f64) -> Self {
        Self::IdealGas { amount: inside * volume, outside, least_volume: 1e-3 * volume }
    }

    /// Pressure above that of the outside [Pa], at a volume [m³].
    pub fn pressure(&self, volume: f64) -> f64 {
        match *self {
            Self::Constant { pressure } => pressure,
            Self::IdealGas { amount, outside, least_volume } => amount / volume.max(least_volume) - outside,
        }
    }

    /// dp/dV [Pa/m³], never positive.
    pub fn pressure_slope(&self, volume: f64) -> f64 {
        match *self {
            Self::IdealGas { amount, least_volume, .. } if volume > least_volume => {
                -amount / (volume * volume)
            }
            _ => 0.0,
        }
    }

    /// The energy -∫ p dV [J]: from no volume for a constant pressure, from the least volume for a gas.
    pub fn energy(&self, volume: f64) -> f64 {
        match *self {
            Self::Constant { pressure } => -pressure * volume,
            Self::IdealGas { amount, outside, least_volume } => {
                let beyond = volume.max(least_volume) / least_volume;
                let below = volume.min(least_volume) / least_volume - 1.0;
                outside * (volume - least_volume) - amount * (libm::log(beyond) + below)
            }
        }
    }
}

/// The volume that triangles enclose [m³], by the divergence theorem.
///
/// Measured from a point of the mesh: far from the origin, large volumes would cancel.
pub fn volume(x: &[DVec3], triangles: &[[u32; 3]]) -> f64 {
    let origin = triangles.first().map_or(DVec3::ZERO, |t| x[t[0] as usize]);
    let sixfold = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| x[i as usize] - origin);
        a.dot(b.cross(c))
    };
    triangles.iter().map(sixfold).sum::<f64>() / 6.0
}

/// Adds the forces of a pressure [Pa] on all corners [N]; with the pressure 1 it is the volume's gradient [m²].
pub fn add_forces(x: &[DVec3], triangles: &[[u32; 3]], pressure: f64, forces: &mut [DVec3]) {
    for triangle in triangles {
        let force = corner_force(&triangle.map(|i| x[i as usize]), pressure);
        triangle.iter().for_each(|i| forces[*i as usize] += force);
    }
}

/// The force on each corner of a triangle [N]: p A n / 3.
pub fn corner_force([a, b, c]: &[DVec3; 3], pressure: f64) -> DVec3 {
    (*b - *a).cross(*c - *a) * (pressure / 6.0)
}

/// The exact derivative of a triangle's forces by its corners at constant pressure [N/m]. It is not symmetric.
pub fn derivative([a, b, c]: &[DVec3; 3], pressure: f64) -> Blocks<3> {
    let row = [*c - *b, *a - *c, *b - *a].map(|opposite| cross_matrix(opposite) * (pressure / 6.0));
    [row; 3]
}

/// The symmetric part of [`derivative`] [N/m].
///
/// What is missing depends on edges alone and is opposite on both sides of an edge. So over a closed mesh it is the whole derivative, and
/// over an open one it misses the boundary, where the force has no energy.
pub fn symmetric_derivative([a, b, c]: &[DVec3; 3], pressure: f64) -> Blocks<3> {
    let opposite = [*c - *b, *a - *c, *b - *a];
    opposite.map(|i| opposite.map(|j| cross_matrix(j - i) * (pressure / 12.0)))
}
