//! What cloth resists with in the incremental potential: elements, their dampers, and the bound on edges.
//!
//! Dampers act where the sub-step starts: -C(x⁰) (x - x⁰)/h has the energy ½ (x - x⁰)ᵀ C (x - x⁰)/h, and the whole remains the slope of one energy.

use crate::forces::baraff_witkin::MembraneTriangle;
use crate::forces::choi_ko::{Buckle, Damper, Stretch};
use crate::forces::element::Element;
use crate::forces::inflated::InflatedMesh;
use crate::forces::spring::DampedSpring;
use crate::forces::strain_barrier::StrainBarrier;
use crate::forces::{self, link};
use crate::math::{DVec3, Vec4};
use crate::model::Model;
use crate::model::params::BarrierParams;
use crate::solve::sparse::matrix::{AssemblyPart, Bending, BlockMatrix, Elements, Pattern, Sink};

/// A bound that an edge has used up already at the start of a sub-step is so much further away, as a share of the tolerance [1].
const BEYOND: f64 = 0.1;

/// Where all particles are in a sub-step of `h` [s]: now and at its start [m], and what has moved them since [m].
#[derive(Clone, Copy)]
pub(super) struct Placed<'a> {
    pub h: f64,
    pub x: &'a [Vec4],
    pub start: &'a [Vec4],
    pub moved: &'a [Vec4],
}

/// Which second derivative of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Derivative {
    /// As it is: it may push a solver the wrong way.
    Exact,
    /// The part of it that only resists.
    Projected,
}

/// Elements of one kind and where their blocks go.
#[derive(Debug)]
struct ElasticKind<const N: usize, E> {
    points: Vec<[u32; N]>,
    list: Vec<E>,
    elements: Elements<N>,
}

/// Everything elastic of a model.
#[derive(Debug)]
pub(super) struct Elastic {
    springs: ElasticKind<2, DampedSpring>,
    membranes: ElasticKind<3, MembraneTriangle>,
    stretches: ElasticKind<2, Stretch>,
    buckles: ElasticKind<2, Buckle>,
    links: ElasticKind<2, Stretch>,
    bounds: ElasticKind<2, StrainBarrier>,
    /// Bends, twists and plates, all quadratic.
    bending: Bending,
    /// How they pull at the start of the sub-step, and room for how a way from there changes it [N].
    bent: Vec<Vec4>,
    bends: Vec<Vec4>,
    balloons: Vec<InflatedMesh>,
    /// Per edge: the weight of its cloth [N].
    weight: Vec<f64>,
    nothing: Vec<Vec4>,
}

impl Elastic {
    /// The elements of a model under a gravity [m/s²], and the pattern of its matrix.
    pub fn new(model: &Model, gravity: f64) -> (Self, Pattern) {
        let pairs = [
            &model.springs.ends,
            &model.stretches.ends,
            &model.buckles.ends,
            &model.links.ends,
            &model.edges,
        ];
        let pairs = pairs.into_iter().flatten().map(|e| &e[..]);
        let threes = model.bends.points.iter().chain(&model.membranes.points).map(|e| &e[..]);
        let fours = model.twists.points.iter().map(|e| &e[..]);
        let patches = model.plates.patches().map(|patch| patch.points);
        let count = model.particle_count();
        let pattern = Pattern::new(count, pairs.chain(threes).chain(fours).chain(patches));
        let pattern = pattern.expect("elements of the model name its particles");
        let numbers = &model.springs;
        let spring = |s: usize| DampedSpring {
            rest_length: numbers.rest_length[s],
            stiffness: numbers.stiffness[s],
            damper: Damper { along: numbers.damping[s], whole: 0.0 },
        };
        let mut weight = vec![0.0; model.edges.len()];
        for cloth in &model.cloths {
            weight[cloth.edges.clone()].fill(cloth.mass(model) * gravity);
        }
        let free = StrainBarrier { from: 1.0, bound: 2.0, stiffness: 0.0 };
        let elastic = Self {
            springs: ElasticKind::new(&pattern, model.springs.ends.clone(), spring),
            membranes: ElasticKind::new(&pattern, model.membranes.points.clone(), |t| {
                forces::membrane(model, t)
            }),
            stretches: ElasticKind::new(&pattern, model.stretches.ends.clone(), |s| {
                forces::stretch(model, s)
            }),
            buckles: ElasticKind::new(&pattern, model.buckles.ends.clone(), |s| forces::buckle(model, s)),
            links: ElasticKind::new(&pattern, model.links.ends.clone(), |l| link::link(model, l, 0.0)),
            bounds: ElasticKind::new(&pattern, model.edges.clone(), |_| free),
            bending: bending(model, &pattern),
            bent: vec![Vec4::ZERO; count],
            bends: vec![Vec4::ZERO; count],
            balloons: model
                .balloons
                .iter()
                .map(|balloon| {
                    InflatedMesh::new(&model.triangles[balloon.triangles.clone()], forces::filling(balloon))
                })
                .collect(),
            weight,
            nothing: vec![Vec4::ZERO; count],
        };
        (elastic, pattern)
    }

    /// Begins a sub-step until a time [s] at positions `start` [m]. An edge keeps the tolerance, or what it had where that is more.
    pub fn begin(&mut self, model: &Model, pattern: &Pattern, until: f64, start: &[Vec4]) {
        let links = self.links.list.iter_mut().enumerate();
        links.for_each(|(l, link)| link.rest_length = model.links.rest_length(l, until));
        self.bent.fill(Vec4::ZERO);
        self.bending.pull(pattern, 1.0, [start, &self.nothing], &mut self.bent);
        let (tolerance, BarrierParams { strain_from, strain_load, .. }) =
            (model.tolerance, model.params.barrier);
        let edges = self.bounds.list.iter_mut().zip(&self.bounds.points).zip(&model.rest_lengths);
        for (((bound, ends), rest), weight) in edges.zip(&self.weight) {
            let [a, b] = ends.map(|i| start[i as usize].xyz());
            let strain = a.distance(b) / rest - 1.0;
            let most = tolerance.max(strain + BEYOND * tolerance);
            let from = strain_from * tolerance;
            *bound = StrainBarrier {
                from: rest * (1.0 + from),
                bound: rest * (1.0 + most),
                stiffness: strain_load * weight * rest * tolerance,
            };
        }
    }

    /// Which share of the way from `x` by `way` [m] keeps all edges within their bounds.
    pub fn free_share(&self, x: &[Vec4], way: &[Vec4]) -> f64 {
        let edges = self.bounds.points.iter().zip(&self.bounds.list);
        edges.fold(1.0, |share, (ends, edge)| {
            let [a, b] = ends.map(|i| i as usize);
            let (d, by) = ((x[b] - x[a]).xyz(), (way[b] - way[a]).xyz());
            share.min(reaches(d, by, edge.bound))
        })
    }

    /// Energy of all but what is constant [J].
    pub fn energy(&mut self, at: &Placed, pattern: &Pattern) -> f64 {
        self.bend(at, pattern);
        let bends = self.bent.iter().zip(&self.bends).zip(at.moved);
        let bent: f64 = bends.map(|((bent, bends), u)| -u.xyz().dot((*bent + *bends * 0.5).xyz())).sum();
        let balloons: f64 = self.balloons.iter().map(|b| b.filling.energy(b.volume(at.x))).sum();
        let pairs = self.springs.energy(at)
            + self.stretches.energy(at)
            + self.buckles.energy(at)
            + self.links.energy(at);
        bent + balloons + pairs + self.membranes.energy(at) + self.bounds.energy(at)
    }

    /// Adds all forces [N].
    pub fn add_forces(&mut self, at: &Placed, pattern: &Pattern, sum: &mut [Vec4]) {
        self.bend(at, pattern);
        sum.iter_mut()
            .zip(self.bent.iter().zip(&self.bends))
            .for_each(|(sum, (bent, bends))| *sum += *bent + *bends);
        self.springs.gather(at, sum);
        self.membranes.gather(at, sum);
        self.stretches.gather(at, sum);
        self.buckles.gather(at, sum);
        self.links.gather(at, sum);
        self.bounds.gather(at, sum);
        self.balloons.iter().for_each(|balloon| balloon.push(at.x, 1.0, sum));
    }

    /// Sets the matrix to h² K + h C of all elements and the right-hand side to nothing, and adds `of(i)` to row i: a number on the diagonal, and a vector.
    pub fn assemble(
        &mut self,
        at: &Placed,
        derivative: Derivative,
        (matrix, rhs): (&mut BlockMatrix, &mut [Vec4]),
        of: impl Fn(usize) -> (f64, Vec4) + Sync,
    ) {
        let own = &*self;
        matrix.assemble(rhs, |part| {
            part.begin(&own.bending, at.h, &own.nothing, &of);
            own.springs.add(at, derivative, part);
            own.membranes.add(at, derivative, part);
            own.stretches.add(at, derivative, part);
            own.buckles.add(at, derivative, part);
            own.links.add(at, derivative, part);
            own.bounds.add(at, derivative, part);
        });
        self.balloons.iter_mut().for_each(|balloon| add_balloon(balloon, at, matrix));
    }

    /// How bending and its dampers change on the way from the start.
    fn bend(&mut self, at: &Placed, pattern: &Pattern) {
        self.bends.fill(Vec4::ZERO);
        self.bending.pull(pattern, 1.0, [at.moved, &self.nothing], &mut self.bends);
        self.bending.pull(pattern, 1.0 / at.h, [&self.nothing, at.moved], &mut self.bends);
    }
}

/// Bends, twists and plates of a model.
fn bending(model: &Model, pattern: &Pattern) -> Bending {
    let mut bending = Bending::new(pattern);
    let numbers = &model.bends;
    for (b, points) in numbers.points.iter().enumerate() {
        let [ia, ic] = numbers.inverse_lengths[b];
        bending.add(pattern, points, &[ia, -(ia + ic), ic], [numbers.stiffness[b], numbers.damping[b]]);
    }
    let numbers = &model.twists;
    for (t, points) in numbers.points.iter().enumerate() {
        bending.add(pattern, points, &numbers.weights(t), [numbers.stiffness[t], numbers.damping[t]]);
    }
    for patch in model.plates.patches() {
        for (k, stiffness) in patch.stiffness.into_iter().enumerate() {
            let weights: Vec<f64> = patch.weights.iter().map(|w| w[k]).collect();
            bending.add(pattern, patch.points, &weights, [stiffness, patch.damping[k]]);
        }
    }
    bending
}

/// The share of a way `by` [m] at which a difference `d` [m] becomes as long as `most` [m], at most 1.
fn reaches(d: DVec3, by: DVec3, most: f64) -> f64 {
    if (d + by).length() < most {
        return 1.0;
    }
    // |d + s by|² = most², and d is shorter: one root is positive.
    let (a, b, c) = (by.length_squared(), d.dot(by), d.length_squared() - most * most);
    let root = (b * b - a * c).max(0.0).sqrt();
    let share = if b > 0.0 { -c / (b + root) } else { (root - b) / a };
    share.clamp(0.0, 1.0)
}

impl<const N: usize, E: Element<N> + Sync> ElasticKind<N, E> {
    fn new(pattern: &Pattern, points: Vec<[u32; N]>, of: impl Fn(usize) -> E) -> Self {
        let elements = Elements::new(pattern, &points).expect("elements that the pattern is made from");
        Self { list: (0..points.len()).map(of).collect(), points, elements }
    }

    fn of(&self, e: usize, vectors: &[Vec4]) -> [DVec3; N] {
        self.points[e].map(|i| vectors[i as usize].xyz())
    }

    /// The force of its damper, which acts where the sub-step starts [N].
    fn damping(&self, e: usize, at: &Placed) -> [DVec3; N] {
        let rates = self.of(e, at.moved).map(|way| way / at.h);
        self.list[e].damping(&self.of(e, at.start), &rates)
    }

    fn energy(&self, at: &Placed) -> f64 {
        let one = |e: usize| {
            let moved = self.of(e, at.moved);
            let lost: f64 = self.damping(e, at).iter().zip(&moved).map(|(force, way)| force.dot(*way)).sum();
            self.list[e].energy(&self.of(e, at.x)) - 0.5 * lost
        };
        (0..self.list.len()).map(one).sum()
    }

    fn gather(&self, at: &Placed, sum: &mut [Vec4]) {
        self.elements.gather(sum, |e| {
            let (forces, damping) = (self.list[e].forces(&self.of(e, at.x)), self.damping(e, at));
            std::array::from_fn(|i| forces[i] + damping[i])
        });
    }

    fn add(&self, at: &Placed, derivative: Derivative, part: &mut AssemblyPart<'_>) {
        part.add(&self.elements, &|e: usize, sink: &mut Sink<'_, N>| {
            let element = &self.list[e];
            let x = self.of(e, at.x);
            let by_x = match derivative {
                Derivative::Exact => element.derivative(&x),
                Derivative::Projected => element.safe_derivative(&x),
            };
            let by_v = element.damping_derivative(&self.of(e, at.start));
            for (i, j) in (0..N).flat_map(|i| (i..N).map(move |j| (i, j))) {
                sink.add(i, j, by_x[i][j] * (-at.h * at.h) + by_v[i][j] * -at.h);
            }
        });
    }
}

/// How the pressure falls as the volume grows; how it turns with the surface is indefinite and left out.
fn add_balloon(balloon: &mut InflatedMesh, at: &Placed, matrix: &mut BlockMatrix) {
    let slope = balloon.filling.pressure_slope(balloon.volume(at.x));
    balloon.find_gradient(at.x);
    if slope < 0.0 {
        matrix.add_rank_one(-slope * at.h * at.h, &balloon.particles, &balloon.gradient);
    }
}
