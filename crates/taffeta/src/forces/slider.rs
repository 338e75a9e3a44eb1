//! Internal friction: a spring in series with a Coulomb slider, in parallel with an element (Jenkin 1922; Iwan 1966). It is what KES sheets call hysteresis.
//!
//! A slider of the stiffness k resists the deformation e of its element by k (e - a), at most by its limit; beyond that the anchor a follows. The elements have k in their
//! own stiffness, so every method is implicit in it where it is implicit in them. What is left is k a ∂e/∂x: a force that is constant while anchors rest, and is
//! held over sub-steps as that of the air. Between two renewals all is elastic, with the energy of the element and k (e - a)²/2, and when anchors follow that energy
//! falls: friction takes and never gives.
//!
//! Anchors are numbers along the normal of the cloth, so they turn with it. An element that rests at the deformation r, as one with a fold pressed in, is held
//! alike: its energy k (e - r)²/2 is that of the flat element and a force k r ∂e/∂x.

use super::around::Around;
use super::element::weighted;
use super::{bend, membrane, plate};
use crate::math::{DVec3, Vec4};
use crate::model::{Direction, Method, Model, PlatePatch, Slider, Slides, State};
use crate::parallel;

/// Sliders and particles that one task looks after.
const CHUNK: usize = 512;

/// The anchor of a slider that gives by `give` once its element is deformed by `e`: return mapping (Simo and Hughes, Computational Inelasticity, sec. 1.4.2).
pub fn followed(anchor: f64, e: f64, give: f64) -> f64 {
    anchor.clamp(e - give, e + give)
}

impl Slider {
    /// The deformation that it gives by before it slides, of an element that is deformed by `e`.
    pub fn gives(&self, e: f64) -> f64 {
        // Left out where it is 0: a fold gives by more than any number.
        if self.grip > 0.0 { self.give + self.grip * e.max(0.0) } else { self.give }
    }
}

/// How much the normal of the cloth counts in the direction in which a bent element is bent, beside its own, as a share of its rest [1].
const UPRIGHT: f64 = 0.03;

/// The direction in which an element with the curvature `vector` rests at `rest`, in cloth with this normal. Where it is bent as it rests it is that of the vector
/// itself: a pull along it turns nothing, and the energy k (|vector| - rest)²/2 has no other slope. Flat or bent the other way it is the normal.
fn along(vector: DVec3, rest: f64, normal: DVec3) -> DVec3 {
    if rest == 0.0 {
        return normal;
    }
    let bent = (rest.signum() * vector.dot(normal)).max(0.0);
    let own = vector.normalize_or_zero() * rest.signum();
    (own * bent + normal * (UPRIGHT * rest.abs())).normalize_or_zero()
}

/// The deformation that an element rests at, and its stiffness with that of its slider. A spring has its rest in its length.
fn rest(model: &Model, of: Slides) -> [f64; 2] {
    match of {
        Slides::Bend(b) => [model.bends.rest[b as usize], model.bends.stiffness[b as usize]],
        Slides::Twist(t) => [model.twists.rest[t as usize], model.twists.stiffness[t as usize]],
        Slides::Plate(p, axis) => {
            let PlatePatch { rest, stiffness, .. } = model.plates.patch(p as usize);
            [rest[axis as usize], stiffness[axis as usize]]
        }
        Slides::Spring(_) | Slides::Stretch(..) | Slides::Membrane(_) => [0.0; 2],
    }
}

impl Slider {
    /// Where it is anchored when its element is at rest, in the units of its deformation.
    pub fn start(&self, model: &Model) -> f64 {
        rest(model, self.of)[0]
    }
}

/// The force that an element has for its rest, without its slider: its own stiffness times the deformation.
pub fn of_rest(model: &Model, slider: &Slider) -> f64 {
    let [rest, both] = rest(model, slider.of);
    rest * (both - slider.stiffness)
}

/// The deformation of what a slider resists, and the two directions in which particles feel it by their [`weights`].
pub fn measure(
    model: &Model,
    of: Slides,
    x: impl Fn(u32) -> DVec3 + Copy,
    normal: impl Fn(u32) -> DVec3,
) -> (f64, [DVec3; 2]) {
    match of {
        Slides::Bend(b) => {
            let (points, inverse) = (model.bends.points[b as usize], model.bends.inverse_lengths[b as usize]);
            let turn = bend::turn(points.map(x), inverse);
            let n = along(turn, model.bends.rest[b as usize], normal(points[1]));
            (turn.dot(n), [n, DVec3::ZERO])
        }
        Slides::Plate(p, axis) => {
            let [a, b, c] = model.membranes.points[p as usize].map(x);
            let n = (b - a).cross(c - a).normalize_or_zero();
            let patch = model.plates.patch(p as usize);
            let curvature = plate::curvatures(&patch, x)[axis as usize];
            let n = along(curvature, patch.rest[axis as usize], n);
            (curvature.dot(n), [n, DVec3::ZERO])
        }
        Slides::Twist(t) => {
            let points = model.twists.points[t as usize];
            let gap = weighted(&model.twists.weights(t as usize), &points.map(x));
            let around = points.into_iter().map(normal).sum::<DVec3>().normalize_or_zero();
            let n = along(gap, model.twists.rest[t as usize], around);
            (gap.dot(n), [n, DVec3::ZERO])
        }
        Slides::Spring(s) => {
            let [a, b] = model.springs.ends[s as usize].map(x);
            let length = a.distance(b);
            (length - model.springs.rest_length[s as usize], [(b - a).normalize_or_zero(), DVec3::ZERO])
        }
        Slides::Stretch(t, axis) => {
            let frame = membrane(model, t as usize).frame(&model.membranes.points[t as usize].map(x));
            let w = frame[axis as usize];
            (w.length() - 1.0, [w.normalize_or_zero(), DVec3::ZERO])
        }
        Slides::Membrane(t) => {
            let [wu, wv] = membrane(model, t as usize).frame(&model.membranes.points[t as usize].map(x));
            (wu.dot(wv), [wv, wu])
        }
    }
}

/// What every particle weighs in the two directions of [`measure`]: ∂e/∂x_i is their weighted sum, while normals rest.
pub fn weights(model: &Model, of: Slides) -> Vec<(u32, [f64; 2])> {
    match of {
        Slides::Bend(b) => {
            let [ia, ic] = model.bends.inverse_lengths[b as usize];
            let points = model.bends.points[b as usize].into_iter();
            points.zip([ia, -(ia + ic), ic]).map(|(i, w)| (i, [w, 0.0])).collect()
        }
        Slides::Plate(p, axis) => {
            let patch = model.plates.patch(p as usize);
            patch.points.iter().zip(patch.weights).map(|(i, w)| (*i, [w[axis as usize], 0.0])).collect()
        }
        Slides::Twist(t) => {
            let points = model.twists.points[t as usize].into_iter();
            points.zip(model.twists.weights(t as usize)).map(|(i, w)| (i, [w, 0.0])).collect()
        }
        Slides::Spring(s) => {
            let [a, b] = model.springs.ends[s as usize];
            vec![(a, [-1.0, 0.0]), (b, [1.0, 0.0])]
        }
        Slides::Stretch(t, axis) => {
            let weights = membrane(model, t as usize).weights()[axis as usize];
            let points = model.membranes.points[t as usize].into_iter();
            points.zip(weights).map(|(i, w)| (i, [w, 0.0])).collect()
        }
        Slides::Membrane(t) => {
            let [u, v] = membrane(model, t as usize).weights();
            let points = model.membranes.points[t as usize].into_iter();
            points.enumerate().map(|(k, i)| (i, [u[k], v[k]])).collect()
        }
    }
}

/// What sliders add to the energy of their elements, which are stiffer by them, and what rests do [J]: k (e - a)²/2 - k e²/2 of each.
pub fn energy(model: &Model, state: &State) -> f64 {
    let normals = normals(model, &state.positions);
    let (x, normal) = (|i: u32| state.positions[i as usize], |i: u32| normals[i as usize]);
    let of = |(slider, a): (&Slider, &f64)| {
        let (e, _) = measure(model, slider.of, x, normal);
        let bent = of_rest(model, slider) * (0.5 * slider.start(model) - e);
        slider.stiffness * a * (0.5 * a - e) + bent
    };
    model.sliders.iter().zip(&state.anchors).map(of).sum()
}

/// Unit normals of the cloth at all particles; none where there are no sliders.
pub fn normals(model: &Model, x: &[DVec3]) -> Vec<DVec3> {
    let mut sums = vec![DVec3::ZERO; if model.sliders.is_empty() { 0 } else { x.len() }];
    for triangle in model.triangles.iter().filter(|_| !model.sliders.is_empty()) {
        let [a, b, c] = triangle.map(|i| x[i as usize]);
        triangle.iter().for_each(|i| sums[*i as usize] += (b - a).cross(c - a));
    }
    sums.into_iter().map(DVec3::normalize_or_zero).collect()
}

/// The sliders of a model at work: anchors that follow, and the forces that they hold.
#[derive(Debug, Default)]
pub struct HeldSliders {
    anchors: Vec<f64>,
    /// What elements have for their rest.
    rests: Vec<f64>,
    /// That and stiffness times anchor of every slider, along its two directions.
    pulls: Vec<[Vec4; 2]>,
    /// Unit normals of the cloth, where bends and twists need them.
    normals: Vec<Vec4>,
    /// Triangles around every particle.
    triangles: Around<u32>,
    /// Sliders around every particle whose forces it is to feel, and what it weighs in them.
    sliders: Around<(u32, [f64; 2])>,
}

impl HeldSliders {
    /// Room for a model; nothing where it has no sliders.
    pub fn new(model: &Model) -> Self {
        if model.sliders.is_empty() {
            return Self::default();
        }
        let n = model.particle_count();
        let corners = |(triangle, t): (&[u32; 3], u32)| triangle.map(|i| (i, t));
        // Constraints along edges have their sliders in themselves.
        let in_constraints = |of: Slides| match model.method {
            Method::Xpbd => true,
            method if method.keeps_lengths() && model.direction == Direction::Preview => {
                matches!(of, Slides::Spring(_) | Slides::Bend(_))
            }
            _ => false,
        };
        let shares = |(slider, s): (&Slider, u32)| {
            weights(model, slider.of).into_iter().map(move |(i, weights)| (i, (s, weights)))
        };
        let pushes = |(slider, _): &(&Slider, u32)| !in_constraints(slider.of);
        let bends =
            model.sliders.iter().any(|slider| matches!(slider.of, Slides::Bend(_) | Slides::Twist(_)));
        Self {
            anchors: vec![0.0; model.sliders.len()],
            rests: model.sliders.iter().map(|slider| of_rest(model, slider)).collect(),
            pulls: vec![[Vec4::ZERO; 2]; model.sliders.len()],
            normals: vec![Vec4::ZERO; if bends { n } else { 0 }],
            triangles: Around::new(n, model.triangles.iter().zip(0..).flat_map(corners).collect()),
            sliders: Around::new(n, model.sliders.iter().zip(0..).filter(pushes).flat_map(shares).collect()),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.anchors.is_empty()
    }

    /// Takes up the anchors of a state.
    pub fn load(&mut self, state: &State) {
        self.anchors.copy_from_slice(&state.anchors);
    }

    /// Hands the anchors back to it.
    pub fn store(&self, state: &mut State) {
        state.anchors.copy_from_slice(&self.anchors);
    }

    /// What slider `s` adds to the rest of its element, of so much compliance with the slider: along its own direction.
    pub fn aside(&self, model: &Model, s: usize, compliance: f64) -> f64 {
        self.anchors[s] * model.sliders[s].stiffness * compliance
    }

    /// What slider `s` and the rest of its element pull, along the first of its directions.
    pub fn pull(&self, s: usize) -> DVec3 {
        self.pulls[s][0].xyz()
    }

    /// Lets anchors follow to where particles are at `x` [m].
    pub fn follow(&mut self, model: &Model, x: &[Vec4]) {
        let Self { anchors, rests, pulls, normals, triangles, .. } = self;
        let at = |i: u32| x[i as usize].xyz();
        parallel::each(normals, CHUNK, |i, normal| {
            let sum = triangles.of(i).iter().fold(DVec3::ZERO, |sum, t| {
                let [a, b, c] = model.triangles[*t as usize].map(at);
                sum + (b - a).cross(c - a)
            });
            *normal = sum.normalize_or_zero().into();
        });
        let normal = |i: u32| normals[i as usize].xyz();
        parallel::each_two(anchors, pulls, CHUNK, |s, anchor, pull| {
            let slider = model.sliders[s];
            let (e, directions) = measure(model, slider.of, at, normal);
            *anchor = followed(*anchor, e, slider.gives(e));
            let force = rests[s] + slider.stiffness * *anchor;
            *pull = directions.map(|direction| (direction * force).into());
        });
    }

    /// Adds the forces that anchors and rests hold [N].
    pub fn push(&self, forces: &mut [Vec4]) {
        let Self { pulls, sliders, .. } = self;
        if pulls.is_empty() {
            return;
        }
        parallel::each(forces, CHUNK, |i, force| {
            for (s, [first, second]) in sliders.of(i) {
                let [a, b] = pulls[*s as usize];
                *force += a * *first + b * *second;
            }
        });
    }
}
