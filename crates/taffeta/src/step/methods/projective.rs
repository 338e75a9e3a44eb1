//! Projective dynamics (Bouaziz, Martin, Liu, Kavan & Pauly, SIGGRAPH 2014), of springs as in Liu et al. (Fast simulation of mass-spring systems, 2013).
//!
//! A sub-step of implicit Euler ends where Σ m |x - y|²/2h² + Σ k |A x - p|²/2 is least (2014, eq. 8), A x a spring, the turn of a bend or the twist of a quad, p where that is
//! at rest. Every iteration has two steps:
//!
//! local:   p = L d/|d| with d = A x for a spring of length L; p = 0 for a bend and a twist
//! global:  (M/h² + Σ k AᵀA) x = M/h² y + Σ k Aᵀ p   (2014, eq. 10)
//!
//! The matrix stays as long as h and those who are held do, and is factorised once. We solve for the way from x instead of x, with what is left of the
//! forces on the right: translations then lose nothing to rounding, and particles that are held have no row.
//!
//! Dampers pull by c/h A (x - xⁿ), those of springs along d alone, so that they may turn. In the matrix they stand for all axes, which costs iterations.

use super::position_based::{Particles, PositionSolver};
use crate::forces::slider::HeldSliders;
use crate::math::{DVec3, Vec4};
use crate::model::params::ProjectiveParams;
use crate::model::{Environment, Model};
use crate::parallel;
use crate::solve::sparse::elimination::order_of_particles;
use crate::solve::sparse::ldl::Ldl;
use crate::step::driver::Substep;

/// Elements that a thread takes at least.
const FEWEST: usize = 1024;

/// The elements of a model, and the matrix of those that move.
#[derive(Debug)]
pub struct Projective {
    params: ProjectiveParams,
    springs: Vec<SpringTerm>,
    turns: Vec<Term<3>>,
    twists: Vec<Term<4>>,
    /// Particles that move, in the order of elimination, and the row of every particle; those that are held share one behind the last.
    particles: Vec<u32>,
    row: Vec<u32>,
    /// The matrix up to its diagonal, without inertia, and its factors with that of sub-steps of `h` [s] and of the air.
    rows: Vec<Vec<Coefficient>>,
    ldl: Ldl,
    h: f64,
    drag: f64,
    /// Forces that are left [N], which become ways [m], by row.
    change: Vec<Vec4>,
    /// Where the last iteration has left particles [m].
    left: Vec<Vec4>,
}

/// A part of a number in the matrix: k + c/h.
#[derive(Debug)]
struct Coefficient {
    column: u32,
    stiffness: f64,
    damping: f64,
}

/// An element with A x = Σ weights x, and how it pulls.
#[derive(Debug)]
struct Term<const N: usize> {
    points: [u32; N],
    weights: [f64; N],
    stiffness: f64,
    damping: f64,
    /// Force along A x [N].
    pull: DVec3,
}

/// A spring, or a stitch.
#[derive(Debug)]
struct SpringTerm {
    term: Term<2>,
    rest_length: f64,
    /// The stitch that it is, if it is one: that only pulls, and its rest length shrinks.
    stitch: Option<u32>,
}

impl Projective {
    /// The elements of a model, with those particles in the matrix that move.
    pub fn new(model: &Model, environment: &Environment) -> Self {
        let (springs, stitches, bends) = (&model.springs, &model.links, &model.bends);
        let spring = |ends: &[u32; 2], rest_length, stiffness, damping, stitch| {
            let term = Term { points: *ends, weights: [-1.0, 1.0], stiffness, damping, pull: DVec3::ZERO };
            SpringTerm { term, rest_length, stitch }
        };
        let of_springs = springs.ends.iter().enumerate().map(|(s, ends)| {
            spring(ends, springs.rest_length[s], springs.stiffness[s], springs.damping[s], None)
        });
        let of_stitches = stitches.ends.iter().enumerate();
        let of_stitches =
            of_stitches.map(|(l, ends)| spring(ends, 0.0, stitches.stiffness[l], 0.0, Some(l as u32)));
        let springs: Vec<_> = of_springs.chain(of_stitches).collect();
        let turn = |(b, points): (usize, &[u32; 3])| {
            let [ia, ic] = bends.inverse_lengths[b];
            let (weights, stiffness, damping) = ([ia, -(ia + ic), ic], bends.stiffness[b], bends.damping[b]);
            Term { points: *points, weights, stiffness, damping, pull: DVec3::ZERO }
        };
        let turns: Vec<_> = bends.points.iter().enumerate().map(turn).collect();

        let twist = |(t, points): (usize, &[u32; 4])| {
            let (stiffness, damping) = (model.twists.stiffness[t], model.twists.damping[t]);
            Term { points: *points, weights: model.twists.weights(t), stiffness, damping, pull: DVec3::ZERO }
        };
        let twists: Vec<_> = model.twists.points.iter().enumerate().map(twist).collect();

        let n = model.particle_count();
        let mut entries: Vec<Vec<Coefficient>> = (0..n).map(|_| Vec::new()).collect();
        springs.iter().for_each(|spring| spring.term.enter(&mut entries));
        turns.iter().for_each(|turn| turn.enter(&mut entries));
        twists.iter().for_each(|twist| twist.enter(&mut entries));
        let coupled: Vec<Vec<u32>> =
            entries.iter().map(|row| row.iter().map(|entry| entry.column).collect()).collect();
        let mut particles = order_of_particles(&coupled, &model.rest_positions);
        particles.retain(|i| environment.inverse_mass[*i as usize] > 0.0);
        let size = particles.len();
        let mut row = vec![size as u32; n];
        particles.iter().enumerate().for_each(|(r, i)| row[*i as usize] = r as u32);
        let lower = |(r, i): (usize, &u32)| {
            let of_particle = std::mem::take(&mut entries[*i as usize]).into_iter();
            let of_row = of_particle.map(|entry| Coefficient { column: row[entry.column as usize], ..entry });
            of_row.filter(|entry| entry.column as usize <= r).collect()
        };
        let rows: Vec<Vec<Coefficient>> = particles.iter().enumerate().map(lower).collect();
        let left_of =
            |k: usize| rows[k].iter().map(|entry| entry.column).filter(|c| (*c as usize) < k).collect();
        Self {
            params: model.params.projective,
            ldl: Ldl::new(size, left_of),
            springs,
            turns,
            twists,
            particles,
            row,
            rows,
            h: 0.0,
            drag: 0.0,
            change: vec![Vec4::ZERO; size + 1],
            left: vec![Vec4::ZERO; n],
        }
    }

    fn factorise(&mut self, h: f64, all: &Particles) {
        let Self { rows, particles, .. } = self;
        (self.h, self.drag) = (h, all.drag);
        self.ldl.factorise(|k, row| {
            for Coefficient { column, stiffness, damping } in &rows[k] {
                row[*column as usize] += stiffness + damping / h;
            }
            std::mem::take(&mut row[k]) + all.inertia_of(particles[k] as usize, h)
        });
    }
}

impl PositionSolver for Projective {
    fn longest_substep(&self) -> f64 {
        self.params.longest_substep
    }

    fn iterations(&self) -> u32 {
        self.params.iterations
    }

    fn begin(&mut self, model: &Model, substep: &Substep, sliders: &HeldSliders, particles: &mut Particles) {
        if (self.h, self.drag) != (substep.h, particles.drag) {
            self.factorise(substep.h, particles);
        }
        for spring in &mut self.springs {
            if let Some(stitch) = spring.stitch {
                spring.rest_length = model.links.rest_length(stitch as usize, substep.time + substep.h);
            }
        }
        particles.hold(sliders, substep.h, particles.drag);
        self.left.copy_from_slice(&particles.x);
    }

    fn iterate(&mut self, _: &Model, substep: &Substep, particles: &mut Particles) -> f64 {
        // Contacts push by impulses: inertia leads on from there, or it would take back what they did.
        let Particles { inertia, x, .. } = particles;
        inertia.iter_mut().zip(x).zip(&self.left).for_each(|((y, x), left)| *y += *x - *left);

        let (h, start, x) = (substep.h, &particles.start, &particles.x);
        parallel::each(&mut self.springs, FEWEST, |_, spring| spring.project(h, start, x));
        parallel::each(&mut self.turns, FEWEST, |_, turn| turn.project(h, start, x));
        parallel::each(&mut self.twists, FEWEST, |_, twist| twist.project(h, start, x));

        let Self { particles: moving, row, change, .. } = self;
        for (change, i) in change.iter_mut().zip(moving.iter().map(|i| *i as usize)) {
            *change = (particles.inertia[i] - x[i]) * particles.inertia_of(i, h);
        }
        self.springs.iter().for_each(|spring| spring.term.give(row, change));
        self.turns.iter().for_each(|turn| turn.give(row, change));
        self.twists.iter().for_each(|twist| twist.give(row, change));
        self.ldl.solve(change);
        moving.iter().zip(&*change).for_each(|(i, way)| particles.x[*i as usize] += *way);
        self.left.copy_from_slice(&particles.x);
        let ways = change[..moving.len()].iter().map(|way| way.xyz().length_squared());
        ways.fold(0.0, f64::max).sqrt()
    }
}

impl Particles {
    /// What a way from y costs a particle: m/h², and what the air adds [N/m].
    fn inertia_of(&self, i: usize, h: f64) -> f64 {
        self.drag / (self.inverse_mass[i] * h * h)
    }
}

impl SpringTerm {
    /// The local step: how the spring pulls from where it is, k (p - d), and its damper.
    fn project(&mut self, h: f64, start: &[Vec4], x: &[Vec4]) {
        let (d, before) = (self.term.of(x), self.term.of(start));
        let length = d.length();
        let slack = self.stitch.is_some() && length < self.rest_length;
        self.term.pull = if length == 0.0 || slack {
            DVec3::ZERO
        } else {
            let (Term { stiffness, damping, .. }, direction) = (&self.term, d / length);
            let lengthened = direction.dot(d - before);
            direction * (stiffness * (self.rest_length - length) - damping / h * lengthened)
        };
    }
}

impl<const N: usize> Term<N> {
    /// The local step of a bend or a twist.
    fn project(&mut self, h: f64, start: &[Vec4], x: &[Vec4]) {
        let turn = self.of(x);
        self.pull = turn * -self.stiffness - (turn - self.of(start)) * (self.damping / h);
    }

    /// A x.
    fn of(&self, x: &[Vec4]) -> DVec3 {
        let parts = self.points.iter().zip(self.weights);
        parts.fold(DVec3::ZERO, |sum, (i, w)| sum + x[*i as usize].xyz() * w)
    }

    /// Adds Aᵀ pull to what is at the rows of its particles.
    fn give(&self, row: &[u32], change: &mut [Vec4]) {
        for (i, w) in self.points.iter().zip(self.weights) {
            change[row[*i as usize] as usize] += Vec4::from(self.pull * w);
        }
    }

    /// Adds (k + c/h) AᵀA to the rows of all particles.
    fn enter(&self, entries: &mut [Vec<Coefficient>]) {
        for (i, wi) in self.points.iter().zip(self.weights) {
            entries[*i as usize].extend(self.points.iter().zip(self.weights).map(|(j, wj)| Coefficient {
                column: *j,
                stiffness: self.stiffness * wi * wj,
                damping: self.damping * wi * wj,
            }));
        }
    }
}
