//! What pulls in an implicit stage: forces of all elements and their derivatives, into one matrix and its right-hand side.
//!
//! With K = -∂f/∂x (the parts that keep the matrix definite) and C = -∂f/∂v at positions y, the forces at the end x⁺ = x̃ + h v⁺ are
//! f(y) + K (y - x̃) - (h K + C) v⁺. So every element adds h² K + h C to the matrix and h (f + K (y - x̃)) to the right.

use super::particles::OrderedParticles;
use crate::forces::baraff_witkin::MembraneTriangle;
use crate::forces::choi_ko::{Buckle, Stretch};
use crate::forces::element::Element;
use crate::forces::inflated::InflatedMesh;
use crate::forces::wind::{Wind, WindSurface};
use crate::forces::{self, spring};
use crate::math::{DVec3, Vec4};
use crate::model::{AirModel, Model};
use crate::solve::sparse::matrix::{Assembly, AssemblyPart, Bending, BlockMatrix, Elements, Pattern, Sink};

/// Where elements are linearised.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a> {
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

/// Elements of one kind, their particles, and where their blocks go.
#[derive(Debug)]
struct ElementKind<const N: usize, E> {
    /// Which of the model's each is.
    number: Vec<u32>,
    points: Vec<[u32; N]>,
    list: Vec<E>,
    elements: Elements<N>,
}

/// Rest length [m], stiffness [N/m] and damping [N·s/m].
#[derive(Debug)]
struct Spring {
    rest: f64,
    stiffness: f64,
    damping: f64,
}

/// All elements of a model.
#[derive(Debug)]
pub(super) struct Pull {
    springs: ElementKind<2, Spring>,
    triangles: ElementKind<3, ()>,
    membranes: ElementKind<3, MembraneTriangle>,
    /// All bends, twists and plates.
    bending: Bending,
    stretches: ElementKind<2, Stretch>,
    buckles: ElementKind<2, Buckle>,
    links: ElementKind<2, Stretch>,
    balloons: Vec<InflatedMesh>,
    surface: Option<WindSurface>,
    wind: Wind,
}

impl Pull {
    /// Takes the air as it is now.
    pub fn renew_air(&mut self, air: &AirModel) {
        (self.surface, self.wind) = (forces::surface(air), forces::wind(air));
    }

    /// Takes the links as they are at `time` [s].
    pub fn renew_links(&mut self, model: &Model, time: f64) {
        let links = self.links.list.iter_mut().zip(&self.links.number);
        links.for_each(|(link, l)| link.rest_length = model.links.rest_length(*l as usize, time));
    }

    /// The elements of a model and the pattern of its matrix.
    pub fn new(model: &Model, air: &AirModel, particles: &OrderedParticles) -> (Self, Pattern) {
        let (springs, bends) = (particles.places(&model.springs.ends), particles.places(&model.bends.points));
        let triangles = particles.places(&model.triangles);
        let membranes = particles.places(&model.membranes.points);
        let twists = particles.places(&model.twists.points);
        let patches: Vec<Vec<u32>> =
            model.plates.patches().map(|patch| particles.places_of(patch.points)).collect();
        let (stretches, buckles) =
            (particles.places(&model.stretches.ends), particles.places(&model.buckles.ends));
        let links = particles.places(&model.links.ends);
        let pairs = springs.iter().chain(&stretches).chain(&buckles).chain(&links).map(|e| &e[..]);
        let threes = bends.iter().chain(&triangles).chain(&membranes).map(|e| &e[..]);
        let pattern = Pattern::new(
            model.cloth_particle_count(),
            pairs.chain(threes).chain(twists.iter().map(|e| &e[..])).chain(patches.iter().map(|e| &e[..])),
        );
        let pattern = pattern.expect("elements of the model name its particles");
        let numbers = &model.springs;
        let spring = |s: usize| Spring {
            rest: numbers.rest_length[s],
            stiffness: numbers.stiffness[s],
            damping: numbers.damping[s],
        };
        let mut bending = Bending::new(&pattern);
        let numbers = &model.bends;
        for (b, points) in bends.iter().enumerate() {
            let [ia, ic] = numbers.inverse_lengths[b];
            bending.add(&pattern, points, &[ia, -(ia + ic), ic], [numbers.stiffness[b], numbers.damping[b]]);
        }
        let numbers = &model.twists;
        for (t, points) in twists.iter().enumerate() {
            let weights = numbers.weights(t);
            bending.add(&pattern, points, &weights, [numbers.stiffness[t], numbers.damping[t]]);
        }
        for (patch, points) in model.plates.patches().zip(&patches) {
            for (k, stiffness) in patch.stiffness.into_iter().enumerate() {
                let weights: Vec<f64> = patch.weights.iter().map(|w| w[k]).collect();
                bending.add(&pattern, points, &weights, [stiffness, patch.damping[k]]);
            }
        }
        let pull = Self {
            bending,
            springs: ElementKind::new(&pattern, springs, spring),
            triangles: ElementKind::new(&pattern, triangles, |_| ()),
            membranes: ElementKind::new(&pattern, membranes, |t| forces::membrane(model, t)),
            stretches: ElementKind::new(&pattern, stretches, |s| forces::stretch(model, s)),
            buckles: ElementKind::new(&pattern, buckles, |s| forces::buckle(model, s)),
            links: ElementKind::new(&pattern, links, |l| forces::link::link(model, l, 0.0)),
            balloons: model
                .balloons
                .iter()
                .map(|balloon| {
                    InflatedMesh::new(
                        &particles.places(&model.triangles[balloon.triangles.clone()]),
                        forces::filling(balloon),
                    )
                })
                .collect(),
            surface: forces::surface(air),
            wind: forces::wind(air),
        };
        (pull, pattern)
    }

    /// Sets the matrix and the right-hand side to what all elements add to `of(i)`: a number on the diagonal and a vector for every particle.
    pub fn assemble(
        &mut self,
        at: &Surroundings,
        matrix: &mut BlockMatrix,
        rhs: &mut [Vec4],
        of: impl Fn(usize) -> (f64, Vec4) + Sync,
    ) {
        let air = self.surface.map(|surface| AirElements {
            surface,
            wind: self.wind,
            triangles: &self.triangles.points,
            at,
        });
        matrix.assemble(rhs, |part| {
            // Linear in the positions: what acts at y and K (y - x̃) together is what acts at x̃.
            part.begin(&self.bending, at.h, at.start, &of);
            self.springs.add(at, part);
            self.membranes.add(at, part);
            self.stretches.add(at, part);
            self.buckles.add(at, part);
            self.links.add(at, part);
            air.iter().for_each(|air| part.add(&self.triangles.elements, air));
        });
        self.balloons.iter_mut().for_each(|balloon| add_balloon(balloon, at, matrix, rhs));
    }

    /// Adds h times all forces at positions y and velocities v, as they are, for a matrix of this pattern.
    pub fn forces(&self, at: &Surroundings, pattern: &Pattern, sum: &mut [Vec4]) {
        let h = at.h;
        let springs = &self.springs;
        springs.elements.gather(sum, |s| {
            let [a, b] = springs.points[s].map(|i| i as usize);
            let Spring { rest, stiffness, damping } = springs.list[s];
            let (d, rate) = ((at.y[b] - at.y[a]).xyz(), (at.v[b] - at.v[a]).xyz());
            let force = spring::force(d, rate, rest, stiffness, damping);
            [force * h, force * -h]
        });
        self.bending.pull(pattern, h, [at.y, at.v], sum);
        self.membranes.gather(at, sum);
        self.stretches.gather(at, sum);
        self.buckles.gather(at, sum);
        self.links.gather(at, sum);
        if let Some(surface) = self.surface {
            let triangles = &self.triangles;
            triangles.elements.gather(sum, |t| {
                let (normal, wind, _) = facing(&triangles.points[t], &self.wind, at);
                triangles.points[t].map(|i| surface.force(normal, wind - at.v[i as usize].xyz()) * (h / 3.0))
            });
        }
        self.balloons.iter().for_each(|balloon| balloon.push(at.y, at.h, sum));
    }
}

impl<const N: usize, E: Sync> ElementKind<N, E> {
    /// Elements in the order of their first particles: neighbours use the same rows, which are then at hand.
    fn new(pattern: &Pattern, points: Vec<[u32; N]>, of: impl Fn(usize) -> E) -> Self {
        let mut number: Vec<u32> = (0..points.len() as u32).collect();
        number.sort_by_key(|e| points[*e as usize].iter().min().copied());
        let points: Vec<_> = number.iter().map(|e| points[*e as usize]).collect();
        let elements = Elements::new(pattern, &points).expect("elements that the pattern is made from");
        Self { list: number.iter().map(|e| of(*e as usize)).collect(), number, points, elements }
    }

    fn of(&self, e: usize, vectors: &[Vec4]) -> [DVec3; N] {
        self.points[e].map(|i| vectors[i as usize].xyz())
    }
}

impl<const N: usize, E> ElementKind<N, E> {
    fn add<'a>(&'a self, at: &'a Surroundings, part: &mut AssemblyPart<'_>)
    where
        PlacedElement<'a, N, E>: Assembly<N>,
    {
        part.add(&self.elements, &PlacedElement { kind: self, at });
    }
}

impl<const N: usize, E: Element<N> + Sync> ElementKind<N, E> {
    fn gather(&self, at: &Surroundings, sum: &mut [Vec4]) {
        self.elements.gather(sum, |e| {
            let (x, v, element) = (self.of(e, at.y), self.of(e, at.v), &self.list[e]);
            let (forces, damping) = (element.forces(&x), element.damping(&x, &v));
            std::array::from_fn(|i| (forces[i] + damping[i]) * at.h)
        });
    }
}

/// Elements of one kind where they are linearised.
struct PlacedElement<'a, const N: usize, E> {
    kind: &'a ElementKind<N, E>,
    at: &'a Surroundings<'a>,
}

impl Assembly<2> for PlacedElement<'_, 2, Spring> {
    #[inline(always)]
    fn add(&self, s: usize, sink: &mut Sink<'_, 2>) {
        let (at, h) = (self.at, self.at.h);
        let [a, b] = self.kind.points[s].map(|i| i as usize);
        let Spring { rest, stiffness: k, damping: c } = self.kind.list[s];
        let (d, before) = (at.y[b] - at.y[a], at.start[b] - at.start[a]);
        let n = d.xyz();
        let squared = n.length_squared().max(1e-60);
        let stretched = 1.0 - rest / squared.sqrt();
        // A spring under compression helps to move sideways; that part would make the matrix indefinite.
        let across = k * stretched.max(0.0);
        let along = (k - across) / squared;
        let back = before - d;
        let force = d * (k * stretched + along * n.dot(back.xyz())) + back * across;
        let (along, across) = (h * (h * along + c / squared), h * h * across);
        let mut block = [d * (along * n.x), d * (along * n.y), d * (along * n.z)];
        (0..3).for_each(|axis| block[axis].0[axis] += across);
        sink.add_symmetric(0, 0, &block, 1.0);
        sink.add_symmetric(1, 1, &block, 1.0);
        sink.add_symmetric(0, 1, &block, -1.0);
        sink.push(0, force * h);
        sink.push(1, force * -h);
    }
}

impl<const N: usize, E: Element<N> + Sync> Assembly<N> for PlacedElement<'_, N, E> {
    #[inline(always)]
    fn add(&self, e: usize, sink: &mut Sink<'_, N>) {
        let (kind, at, h) = (self.kind, self.at, self.at.h);
        let (x, start, element) = (kind.of(e, at.y), kind.of(e, at.start), &kind.list[e]);
        let (by_x, by_v, forces) =
            (element.safe_derivative(&x), element.damping_derivative(&x), element.forces(&x));
        for i in 0..N {
            let back = (0..N).fold(DVec3::ZERO, |sum, j| sum + by_x[i][j] * (start[j] - x[j]));
            sink.push(i, ((forces[i] + back) * h).into());
            for j in i..N {
                sink.add(i, j, by_x[i][j] * (-h * h) + by_v[i][j] * -h);
            }
        }
    }
}

/// The air on all triangles. A third of every triangle moves with each of its corners: that is on the diagonal alone.
struct AirElements<'a> {
    surface: WindSurface,
    wind: Wind,
    triangles: &'a [[u32; 3]],
    at: &'a Surroundings<'a>,
}

impl Assembly<3> for AirElements<'_> {
    #[inline(always)]
    fn add(&self, t: usize, sink: &mut Sink<'_, 3>) {
        let (normal, wind, velocity) = facing(&self.triangles[t], &self.wind, self.at);
        let (force, slope) = self.surface.linear(normal, wind - velocity);
        let (third, slope) = ((force + slope * velocity) * (self.at.h / 3.0), slope * (self.at.h / 3.0));
        for i in 0..3 {
            sink.push(i, third.into());
            sink.add(i, i, slope);
        }
    }
}

/// Twice the area along the normal of a triangle [m²], the wind there and its own velocity [m/s].
#[inline(always)]
fn facing(triangle: &[u32; 3], wind: &Wind, at: &Surroundings) -> (DVec3, DVec3, DVec3) {
    let [a, b, c] = triangle.map(|i| at.y[i as usize].xyz());
    let velocity = triangle.iter().fold(DVec3::ZERO, |sum, i| sum + at.v[*i as usize].xyz()) / 3.0;
    ((b - a).cross(c - a), wind.at((a + b + c) / 3.0, at.time), velocity)
}

/// The pressure pushes as it is; how it falls as the volume grows is a matrix of rank one. How it turns with the surface is left out: it is indefinite, and small
/// beside the stiffness of cloth.
fn add_balloon(balloon: &mut InflatedMesh, at: &Surroundings, matrix: &mut BlockMatrix, rhs: &mut [Vec4]) {
    let volume = balloon.volume(at.y);
    let (pressure, slope) = (balloon.filling.pressure(volume), balloon.filling.pressure_slope(volume));
    balloon.find_gradient(at.y);
    let members = || balloon.particles.iter().map(|i| *i as usize).zip(&balloon.gradient);
    let grown: f64 = members().map(|(i, g)| g.xyz().dot((at.start[i] - at.y[i]).xyz())).sum();
    members().for_each(|(i, g)| rhs[i] += *g * (at.h * (pressure + slope * grown)));
    if slope < 0.0 {
        matrix.add_rank_one(-slope * at.h * at.h, &balloon.particles, &balloon.gradient);
    }
}
