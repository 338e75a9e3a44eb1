//! Particles against closed-form solids between the sweeps of an iteration (P2 §3.5; Bender & Schmitt 2006).

use crate::collide::rigid::touch::{self, Asked};
use crate::math::Vec4;
use crate::math::lanes::InstructionSet;
use crate::step::boundary::Boundary;

/// Pushes ends `q` of particles of a cloth out of all solids and holds them below the friction limit; returns how many touch. Both corrections are kept in `grip`
/// over the sweeps of a sub-step.
pub fn touch(boundary: &Boundary, cloth: usize, asked: Asked, q: &mut [Vec4], grip: &mut [Vec4]) -> u32 {
    let (set, solids) = (InstructionSet::available()[0], boundary.solids(cloth));
    solids.map(|(_, solid, params)| touch::touch(set, solid, params, asked, (q, grip))).sum()
}
