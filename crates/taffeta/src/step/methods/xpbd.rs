//! Extended position-based dynamics (Macklin, Müller & Chentanez, XPBD, MIG 2016) in small steps (Macklin et al., Small Steps in Physics Simulation, SCA 2019).
//!
//! Every spring, bend, twist and stitch is a constraint C with the compliance α = 1/k and the damping c. One after the other, colour by colour, they are answered by
//!
//! Δλ = (-C - α̃ λ - γ ∇C·(x - xⁿ)) / ((1 + γ) ∇C M⁻¹ ∇Cᵀ + α̃),  Δx = M⁻¹ ∇Cᵀ Δλ,  α̃ = α/h², γ = c/(k h)   (2016, eq. 17, 18 and 26)
//!
//! Small steps: instead of more iterations in a sub-step there are more sub-steps of one iteration, and λ starts from 0 in each (2019, alg. 1). Bends differ from
//! the paper: theirs is an angle between two triangles, ours is the turn of two edges, which is linear, so that C is a vector and one iteration solves it.

use super::position_based::{Particles, PositionSolver};
use crate::forces::slider::HeldSliders;
use crate::math::{DVec3, Vec4};
use crate::model::{ClothPiece, Environment, Model, Slides};
use crate::solve::coloring::{by_color, color_elements};
use crate::step::driver::Substep;
use std::collections::BTreeMap;

/// The constraints of a model.
#[derive(Debug)]
pub struct Xpbd {
    /// Springs and stitches, then bends and twists, each in the order of their colours.
    distances: Vec<Distance>,
    turns: Vec<TurnConstraint<3>>,
    twists: Vec<TurnConstraint<4>>,
    longest_substep: f64,
}

/// |b - a| is to be the rest length.
#[derive(Debug)]
struct Distance {
    ends: [u32; 2],
    rest_length: f64,
    compliance: f64,
    /// Damping over stiffness [s].
    damping_time: f64,
    /// The stitch that it is, if it is one: that only pulls, and its rest length shrinks.
    stitch: Option<u32>,
    /// The slider beside it, and the rest length without it [m]. It moves the rest length towards its anchor.
    slider: Option<usize>,
    without_friction: f64,
    multiplier: f64,
}

/// A sum Σ s x is to be 0, or where the slider beside it moves that to: the turn from edge (a, b) to edge (b, c), with s = (1/|ab|, -1/|ab| - 1/|bc|, 1/|bc|), or the twist of a quad.
#[derive(Debug)]
struct TurnConstraint<const N: usize> {
    points: [u32; N],
    weights: [f64; N],
    compliance: f64,
    damping_time: f64,
    slider: Option<usize>,
    rest: DVec3,
    multiplier: DVec3,
}

impl Xpbd {
    /// The constraints of a model.
    pub fn new(model: &Model, environment: &Environment) -> Self {
        let (springs, stitches, bends) = (&model.springs, &model.links, &model.bends);
        let stiff = |stiffness: &[f64], k: usize| stiffness[k] > 0.0;
        let sliders: BTreeMap<Slides, usize> =
            model.sliders.iter().enumerate().map(|(s, slider)| (slider.of, s)).collect();
        let slider = |of: Slides| sliders.get(&of).copied();
        let mut distances = Vec::new();
        for (s, ends) in springs.ends.iter().enumerate().filter(|(s, _)| stiff(&springs.stiffness, *s)) {
            distances.push(Distance {
                ends: *ends,
                rest_length: springs.rest_length[s],
                compliance: 1.0 / springs.stiffness[s],
                damping_time: springs.damping[s] / springs.stiffness[s],
                stitch: None,
                slider: slider(Slides::Spring(s as u32)),
                without_friction: springs.rest_length[s],
                multiplier: 0.0,
            });
        }
        for (l, ends) in stitches.ends.iter().enumerate() {
            distances.push(Distance {
                ends: *ends,
                rest_length: 0.0,
                compliance: 1.0 / stitches.stiffness[l],
                damping_time: 0.0,
                stitch: Some(l as u32),
                slider: None,
                without_friction: 0.0,
                multiplier: 0.0,
            });
        }
        let mut turns = Vec::new();
        for (b, points) in bends.points.iter().enumerate().filter(|(b, _)| stiff(&bends.stiffness, *b)) {
            let [ia, ic] = bends.inverse_lengths[b];
            turns.push(TurnConstraint {
                points: *points,
                weights: [ia, -(ia + ic), ic],
                compliance: 1.0 / bends.stiffness[b],
                damping_time: bends.damping[b] / bends.stiffness[b],
                slider: slider(Slides::Bend(b as u32)),
                rest: DVec3::ZERO,
                multiplier: DVec3::ZERO,
            });
        }
        let (of_twists, mut twists) = (&model.twists, Vec::new());
        for (t, points) in
            of_twists.points.iter().enumerate().filter(|(t, _)| stiff(&of_twists.stiffness, *t))
        {
            twists.push(TurnConstraint {
                points: *points,
                weights: of_twists.weights(t),
                compliance: 1.0 / of_twists.stiffness[t],
                damping_time: of_twists.damping[t] / of_twists.stiffness[t],
                slider: slider(Slides::Twist(t as u32)),
                rest: DVec3::ZERO,
                multiplier: DVec3::ZERO,
            });
        }
        let n = model.particle_count();
        let colors = color_elements(distances.iter().map(|c| &c.ends[..]), n);
        let distances = by_color(distances, &colors).0;
        let colors = color_elements(turns.iter().map(|c| &c.points[..]), n);
        let turns = by_color(turns, &colors).0;
        let colors = color_elements(twists.iter().map(|c| &c.points[..]), n);
        let params = &model.params.xpbd;
        Self {
            distances,
            turns,
            twists: by_color(twists, &colors).0,
            longest_substep: params.longest_substep.min(longest_while_hanging(
                model,
                environment,
                params.left_undone,
            )),
        }
    }
}

/// See [`XpbdParams::left_undone`](crate::model::params::XpbdParams::left_undone); the shortest of all cloths [s].
pub(super) fn longest_while_hanging(model: &Model, environment: &Environment, left_undone: f64) -> f64 {
    let of = |cloth: &ClothPiece| {
        let mut lengths = model.rest_lengths[cloth.edges.clone()].to_vec();
        lengths.sort_by(f64::total_cmp);
        let edge = lengths.get(lengths.len() / 2).copied().unwrap_or(f64::INFINITY);
        let rest = || model.rest_positions[cloth.particles.clone()].iter().copied();
        let (low, high) =
            (rest().fold(DVec3::INFINITY, DVec3::min), rest().fold(DVec3::NEG_INFINITY, DVec3::max));
        let gravity = model.strength_of(environment.gravity);
        edge * (2.0 * left_undone * model.tolerance / (gravity * (high - low).max_element())).sqrt()
    };
    model.cloths.iter().map(of).fold(f64::INFINITY, f64::min)
}

impl PositionSolver for Xpbd {
    fn longest_substep(&self) -> f64 {
        self.longest_substep
    }

    fn iterations(&self) -> u32 {
        1
    }

    fn begin(&mut self, model: &Model, substep: &Substep, sliders: &HeldSliders, _: &mut Particles) {
        for distance in &mut self.distances {
            distance.multiplier = 0.0;
            if let Some(s) = distance.slider {
                distance.rest_length =
                    distance.without_friction + sliders.aside(model, s, distance.compliance);
            }
            if let Some(stitch) = distance.stitch {
                distance.rest_length = model.links.rest_length(stitch as usize, substep.time + substep.h);
            }
        }
        self.turns.iter_mut().for_each(|turn| turn.begin(sliders));
        self.twists.iter_mut().for_each(|twist| twist.begin(sliders));
    }

    fn iterate(&mut self, _: &Model, substep: &Substep, particles: &mut Particles) -> f64 {
        let mut moved = 0.0;
        self.distances.iter_mut().for_each(|distance| distance.project(substep.h, particles, &mut moved));
        self.turns.iter_mut().for_each(|turn| turn.project(substep.h, particles, &mut moved));
        self.twists.iter_mut().for_each(|twist| twist.project(substep.h, particles, &mut moved));
        f64::sqrt(moved)
    }
}

impl Distance {
    fn project(&mut self, h: f64, particles: &mut Particles, moved: &mut f64) {
        let Particles { start, x, inverse_mass, .. } = particles;
        let [a, b] = self.ends.map(|i| i as usize);
        let apart = (x[b] - x[a]).xyz();
        let length = apart.length();
        let mobility = inverse_mass[a] + inverse_mass[b];
        if length == 0.0 || mobility == 0.0 {
            return;
        }
        let direction = apart / length;
        let (compliance, damping) = (self.compliance / (h * h), self.damping_time / h);
        let lengthened = direction.dot(apart - (start[b] - start[a]).xyz());
        let error = length - self.rest_length;
        let change = (-error - compliance * self.multiplier - damping * lengthened)
            / ((1.0 + damping) * mobility + compliance);
        // A stitch does not push.
        let limit = if self.stitch.is_some() { 0.0 } else { f64::INFINITY };
        let change = (self.multiplier + change).min(limit) - self.multiplier;
        self.multiplier += change;
        for (i, sign) in [(a, -1.0), (b, 1.0)] {
            shift(x, i, direction * (sign * inverse_mass[i] * change), moved);
        }
    }
}

impl<const N: usize> TurnConstraint<N> {
    fn begin(&mut self, sliders: &HeldSliders) {
        self.multiplier = DVec3::ZERO;
        self.rest = self.slider.map_or(DVec3::ZERO, |s| sliders.pull(s) * self.compliance);
    }

    fn project(&mut self, h: f64, particles: &mut Particles, moved: &mut f64) {
        let Particles { start, x, inverse_mass, .. } = particles;
        let sum = |of: &[Vec4]| {
            let parts = self.points.iter().zip(self.weights);
            parts.fold(DVec3::ZERO, |sum, (i, w)| sum + of[*i as usize].xyz() * w)
        };
        let squares = self.points.iter().zip(self.weights);
        let mobility: f64 = squares.map(|(i, w)| inverse_mass[*i as usize] * w * w).sum();
        let (compliance, damping) = (self.compliance / (h * h), self.damping_time / h);
        let turn = sum(x);
        let change = (self.rest - turn - compliance * self.multiplier - damping * (turn - sum(start)))
            / ((1.0 + damping) * mobility + compliance);
        self.multiplier += change;
        for (i, w) in self.points.iter().zip(self.weights) {
            shift(x, *i as usize, change * (w * inverse_mass[*i as usize]), moved);
        }
    }
}

/// Moves a particle; `moved` is the largest square of such a way [m²].
fn shift(x: &mut [Vec4], i: usize, way: DVec3, moved: &mut f64) {
    x[i] += Vec4::from(way);
    *moved = moved.max(way.length_squared());
}
