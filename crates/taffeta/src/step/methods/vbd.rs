//! Vertex block descent (Chen, Liu, Yang & Yuksel, Vertex Block Descent, SIGGRAPH 2024).
//!
//! Backward Euler is the least of G(x) = |x - y|²_M / (2 h²) + E(x) (sec. 3.1). One particle after the other lessens it while all others stay, colour by colour,
//! by one Newton step (sec. 3.2):
//!
//! H_i Δx_i = f_i,  f_i = -m_i/h² (x_i - y_i) - Σ ∂E/∂x_i,  H_i = m_i/h² I + Σ ∂²E/∂x_i²
//!
//! Where we differ:
//! - Second derivatives leave out what pressed springs would make negative. So H_i is positive definite; the paper leaves particles alone whose determinant is
//!   small.
//! - Springs, bends and twists have the dampers of the fabric, which resist the motion of their ends to one another. The paper's resist all motion of a particle.
//! - A piece that nothing holds is one more block, which keeps its momentum. Particles alone keep it only when all iterations are done.
//! - Contacts are no energies: the scaffold answers them between iterations, and y moves as they move a particle.
//! - The start goes on with all of the last acceleration: see `begin`. Iterations are not accelerated (sec. 3.8): there is one.

use super::position_based::{Particles, PositionSolver};
use super::xpbd::longest_while_hanging;
use crate::forces::bend;
use crate::forces::slider::HeldSliders;
use crate::math::{DMat3, DVec3, Vec4};
use crate::model::{Environment, Model};
use crate::parallel;
use crate::solve::coloring::{by_color, color_particles, connect};
use crate::step::driver::Substep;
use std::ops::Range;

/// Particles that a thread takes at once: some 0.1 ms of work, against some µs to hand it out.
const CHUNK: usize = 256;

/// The particles of a model with their elements.
#[derive(Debug)]
pub struct Vbd {
    /// In the order of their colours.
    vertices: Vec<Vertex>,
    /// Those of each colour.
    colors: Vec<Range<usize>>,
    /// Particles that elements join, each piece by itself.
    pieces: Vec<Vec<usize>>,
    /// Where those of one colour go [m].
    places: Vec<Vec4>,
    /// Velocities at the start of the sub-step before [m/s].
    last_v: Vec<Vec4>,
    /// Where the last iteration left particles, before contacts [m].
    left: Vec<Vec4>,
    longest_substep: f64,
}

/// A particle with the elements that it is an end of.
#[derive(Debug, Default)]
struct Vertex {
    particle: usize,
    springs: Vec<SpringEnd>,
    bends: Vec<BendEnd>,
    twists: Vec<TwistEnd>,
}

/// A spring or a stitch, as one of its ends sees it.
#[derive(Debug)]
struct SpringEnd {
    other: u32,
    /// The stitch that it is, if it is one: that only pulls, and its rest length shrinks.
    stitch: Option<u32>,
    rest_length: f64,
    stiffness: f64,
    damping: f64,
}

/// A bend, as one of its three particles sees it, which has a weight in it [1/m].
#[derive(Debug)]
struct BendEnd {
    points: [u32; 3],
    inverse_lengths: [f64; 2],
    weight: f64,
    stiffness: f64,
    damping: f64,
}

/// A twist, as one of its four particles sees it, which has a weight in it [1].
#[derive(Debug)]
struct TwistEnd {
    points: [u32; 4],
    weights: [f64; 4],
    weight: f64,
    stiffness: f64,
    damping: f64,
}

impl Vbd {
    /// The particles of a model.
    pub fn new(model: &Model, environment: &Environment) -> Self {
        let (springs, stitches, bends) = (&model.springs, &model.links, &model.bends);
        let n = model.particle_count();
        let mut vertices: Vec<Vertex> =
            (0..n).map(|particle| Vertex { particle, ..Vertex::default() }).collect();
        let mut join = |[a, b]: [u32; 2], stitch, rest_length, stiffness, damping| {
            for (own, other) in [(a, b), (b, a)] {
                let spring = SpringEnd { other, stitch, rest_length, stiffness, damping };
                vertices[own as usize].springs.push(spring);
            }
        };
        for (s, ends) in springs.ends.iter().enumerate() {
            join(*ends, None, springs.rest_length[s], springs.stiffness[s], springs.damping[s]);
        }
        for (l, ends) in stitches.ends.iter().enumerate() {
            join(*ends, Some(l as u32), 0.0, stitches.stiffness[l], 0.0);
        }
        for (b, points) in bends.points.iter().enumerate() {
            let inverse_lengths @ [ia, ic] = bends.inverse_lengths[b];
            for (own, weight) in points.iter().zip([ia, -(ia + ic), ic]) {
                let (stiffness, damping) = (bends.stiffness[b], bends.damping[b]);
                let bend = BendEnd { points: *points, inverse_lengths, weight, stiffness, damping };
                vertices[*own as usize].bends.push(bend);
            }
        }
        for (t, points) in model.twists.points.iter().enumerate() {
            let weights = model.twists.weights(t);
            for (own, weight) in points.iter().zip(weights) {
                let (stiffness, damping) = (model.twists.stiffness[t], model.twists.damping[t]);
                let twist = TwistEnd { points: *points, weights, weight, stiffness, damping };
                vertices[*own as usize].twists.push(twist);
            }
        }
        let pairs = springs.ends.iter().chain(&stitches.ends).map(|ends| &ends[..]);
        let elements = pairs
            .chain(bends.points.iter().map(|points| &points[..]))
            .chain(model.twists.points.iter().map(|points| &points[..]));
        let first_of_piece = connect(elements.clone(), n);
        let mut pieces = vec![Vec::new(); n];
        (0..n).for_each(|i| pieces[first_of_piece[i] as usize].push(i));
        pieces.retain(|piece| piece.len() > 1);
        let (vertices, ends) = by_color(vertices, &color_particles(elements, n));
        let starts = [0].into_iter().chain(ends.iter().copied());
        let colors: Vec<Range<usize>> = starts.zip(&ends).map(|(start, end)| start..*end).collect();
        let most = colors.iter().map(Range::len).max().unwrap_or(0);
        let room = |count| vec![Vec4::ZERO; count];
        let params = &model.params.vbd;
        Self {
            vertices,
            colors,
            pieces,
            places: room(most),
            last_v: room(n),
            left: room(n),
            longest_substep: params.longest_substep.min(longest_while_hanging(
                model,
                environment,
                params.left_undone,
            )),
        }
    }
}

impl PositionSolver for Vbd {
    fn longest_substep(&self) -> f64 {
        self.longest_substep
    }

    fn iterations(&self) -> u32 {
        1
    }

    /// Starts from x + h v + h² ã, with ã the acceleration in the last sub-step, but no more than that from outside: what hangs starts from where it is, what
    /// falls from y, and nothing is left undone where cloth hangs still. Of ã the paper takes the part along gravity (sec. 3.7), with which swinging cloth
    /// stretches twice as far. What a contact has moved starts from y: else it would press, but not slide, with its whole weight. So does all in the first
    /// sub-step of a step, which knows of none before.
    fn begin(&mut self, _: &Model, substep: &Substep, sliders: &HeldSliders, particles: &mut Particles) {
        let Particles { start, inertia, x, v, inverse_mass, .. } = particles;
        let free = |i: &usize| inverse_mass[*i] > 0.0 && start[*i] == self.left[*i];
        for i in (0..x.len()).filter(|i| substep.k > 0 && free(i)) {
            let outside = (inertia[i] - start[i] - v[i] * substep.h).xyz();
            let followed = (v[i] - self.last_v[i]).xyz() * substep.h;
            x[i] = inertia[i] + Vec4::from(followed.clamp_length_max(outside.length()) - outside);
        }
        self.last_v.copy_from_slice(v);
        self.left.copy_from_slice(x);
        particles.hold(sliders, substep.h, 1.0);
    }

    fn iterate(&mut self, model: &Model, substep: &Substep, particles: &mut Particles) -> f64 {
        for ((y, x), left) in particles.inertia.iter_mut().zip(&particles.x).zip(&self.left) {
            *y += *x - *left;
        }
        let mut moved = 0.0_f64;
        for color in &self.colors {
            let vertices = &self.vertices[color.clone()];
            let places = &mut self.places[..vertices.len()];
            parallel::each_chunk(places, CHUNK, |c, places| {
                let vertices = parallel::chunk(vertices, CHUNK, c);
                for (place, vertex) in places.iter_mut().zip(vertices) {
                    *place = vertex.descend(model, substep, particles);
                }
            });
            for (place, vertex) in places.iter().zip(vertices) {
                let x = &mut particles.x[vertex.particle];
                moved = moved.max((*place - *x).xyz().length_squared());
                *x = *place;
            }
        }
        self.pieces.iter().for_each(|piece| shift(piece, particles));
        self.left.copy_from_slice(&particles.x);
        moved.sqrt()
    }
}

impl Vertex {
    /// Where one Newton step on its own block of G leads [m].
    fn descend(&self, model: &Model, substep: &Substep, particles: &Particles) -> Vec4 {
        let (h, Particles { start, inertia, x, inverse_mass, .. }) = (substep.h, particles);
        let i = self.particle;
        if inverse_mass[i] == 0.0 {
            return x[i];
        }
        let mass = 1.0 / (inverse_mass[i] * h * h);
        let mut force = (inertia[i] - x[i]).xyz() * mass;
        // H_i is the sum of what resists equally in all directions and what resists along springs.
        let (mut equally, mut along_springs) = (mass, DMat3::ZERO);
        for spring in &self.springs {
            let j = spring.other as usize;
            let d = (x[j] - x[i]).xyz();
            let length = d.length().max(f64::MIN_POSITIVE);
            let rest_length = match spring.stitch {
                Some(stitch) => model.links.rest_length(stitch as usize, substep.until),
                None => spring.rest_length,
            };
            if spring.stitch.is_some() && length <= rest_length {
                continue;
            }
            let (direction, damping) = (d / length, spring.damping / h);
            let lengthened = direction.dot(d - (start[j] - start[i]).xyz());
            force += direction * (spring.stiffness * (length - rest_length) + damping * lengthened);
            let across = spring.stiffness * (1.0 - rest_length / length).max(0.0);
            let along = direction * (spring.stiffness + damping - across);
            along_springs += DMat3::from_cols(along * direction.x, along * direction.y, along * direction.z);
            equally += across;
        }
        for bend in &self.bends {
            let turn =
                |of: &[Vec4]| bend::turn(bend.points.map(|p| of[p as usize].xyz()), bend.inverse_lengths);
            let (now, damping) = (turn(x), bend.damping / h);
            force -= (now * bend.stiffness + (now - turn(start)) * damping) * bend.weight;
            equally += (bend.stiffness + damping) * bend.weight * bend.weight;
        }
        for twist in &self.twists {
            let gap = |of: &[Vec4]| {
                let parts = twist.points.iter().zip(twist.weights);
                parts.fold(DVec3::ZERO, |sum, (p, w)| sum + of[*p as usize].xyz() * w)
            };
            let (now, damping) = (gap(x), twist.damping / h);
            force -= (now * twist.stiffness + (now - gap(start)) * damping) * twist.weight;
            equally += (twist.stiffness + damping) * twist.weight * twist.weight;
        }
        let hessian = along_springs + DMat3::from_diagonal(DVec3::splat(equally));
        x[i] + Vec4::from(hessian.inverse() * force)
    }
}

/// Moves a piece that nothing holds as a whole to where G is least: E does not change, and Σ m (x - y) is 0.
fn shift(piece: &[usize], particles: &mut Particles) {
    let Particles { inertia, x, inverse_mass, .. } = particles;
    if piece.iter().any(|i| inverse_mass[*i] == 0.0) {
        return;
    }
    let mass = |i: &usize| 1.0 / inverse_mass[*i];
    let moment = piece.iter().fold(Vec4::ZERO, |sum, i| sum + (inertia[*i] - x[*i]) * mass(i));
    let way = moment * (1.0 / piece.iter().map(mass).sum::<f64>());
    piece.iter().for_each(|i| x[*i] += way);
}
