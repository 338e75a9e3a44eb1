//! Drag of a triangle that moves through air or stands in the wind (P4, P5), by the square of the speed.

use super::around::Around;
use super::slider::HeldSliders;
use super::wind;
use crate::math::lanes::{InstructionSet, LANES, Lanes, Wide, Wide3, by_instruction_set};
use crate::math::{DVec3, Vec4};
use crate::model::{AirModel, Environment, Method, Model};
use crate::parallel;

/// Forces that are held for some time: those of the air on all triangles, those from outside, and those of internal friction.
#[derive(Debug)]
pub struct HeldForces {
    on_triangles: Vec<Vec4>,
    on_particles: Vec<Vec4>,
    /// Triangles around every particle, in air.
    around: Around<u32>,
    /// Internal friction, and whether it is among the forces on particles; methods that move particles by constraints or energies have it there.
    pub sliders: HeldSliders,
    sliders_push: bool,
    set: InstructionSet,
}

/// Triangles and particles that one task looks after.
const CHUNK: usize = 512;

impl HeldForces {
    /// Room for a model.
    pub fn new(model: &Model, environment: &Environment) -> Self {
        let (triangles, particles) = (model.triangles.len(), model.particle_count());
        let in_air = environment.air.density > 0.0;
        let mut around: Vec<(u32, u32)> = Vec::new();
        if in_air {
            let corners = |(triangle, t): (&[u32; 3], u32)| triangle.map(|i| (i, t));
            around.extend(model.triangles.iter().zip(0..).flat_map(corners));
        }
        Self {
            around: Around::new(particles, around),
            sliders: HeldSliders::new(model),
            sliders_push: !matches!(model.method, Method::Xpbd | Method::Projective | Method::Vbd),
            on_triangles: vec![Vec4::ZERO; if in_air { triangles } else { 0 }],
            on_particles: Vec::with_capacity(particles),
            set: InstructionSet::available()[0],
        }
    }

    /// On every particle [N]; empty where there are none.
    pub fn on_particles(&self) -> &[Vec4] {
        &self.on_particles
    }

    /// Renews them, to be held for a `duration` from `time` on [s], on triangles whose corners are at `x` [m] and have `moved` in some time: the mean velocity of a
    /// triangle is the sum over its corners `over` three times that [m, s].
    pub fn renew(
        &mut self,
        model: &Model,
        environment: &Environment,
        (time, duration): (f64, f64),
        x: &[Vec4],
        (moved, over): (impl Fn(usize) -> Vec4 + Sync, f64),
    ) {
        let (air, forces) = (&environment.air, &environment.forces);
        self.on_particles.clear();
        if self.on_triangles.is_empty() && forces.is_empty() && self.sliders.is_empty() {
            return;
        }
        self.on_particles.extend(forces.iter().map(|force| Vec4::from(*force)));
        self.on_particles.resize(model.particle_count(), Vec4::ZERO);
        self.sliders.follow(model, x);
        if self.sliders_push {
            self.sliders.push(&mut self.on_particles);
        }
        if self.on_triangles.is_empty() {
            return;
        }
        let (wind, set) = (wind(air), self.set);
        for cloth in &model.cloths {
            let held = HeldAir { air, area_mass: 1e-3 * cloth.fabric.density, duration, over };
            let triangles = &model.triangles[cloth.triangles.clone()];
            parallel::each_chunk(&mut self.on_triangles[cloth.triangles.clone()], CHUNK, |k, thirds| {
                let triangles = parallel::chunk(triangles, CHUNK, k);
                for (thirds, triangles) in thirds.chunks_mut(LANES).zip(triangles.chunks(LANES)) {
                    let mut eight = EightTriangles::default();
                    for (l, corners) in triangles.iter().enumerate() {
                        let [a, b, c] = corners.map(|i| i as usize);
                        let wind = wind.at((x[a] + x[b] + x[c]).xyz() / 3.0, time).to_array();
                        (0..3).for_each(|k| eight.corners[k][l] = corners[k]);
                        (0..3).for_each(|k| eight.wind[k].0[l] = wind[k]);
                        eight.moved[l] = moved(a) + moved(b) + moved(c);
                    }
                    let [u, v, w] = eight_thirds(set, &eight, x, &held);
                    for (l, third) in thirds.iter_mut().enumerate() {
                        *third = Vec4([u.0[l], v.0[l], w.0[l], 0.0]);
                    }
                }
            });
        }
        let Self { on_triangles, on_particles, around, .. } = self;
        parallel::each(on_particles, CHUNK, |i, force| {
            around.of(i).iter().for_each(|t| *force += on_triangles[*t as usize]);
        });
    }
}

/// What is the same for all triangles of a cloth.
struct HeldAir<'a> {
    air: &'a AirModel,
    area_mass: f64,
    duration: f64,
    over: f64,
}

/// Up to eight triangles: their corners, the wind at each, and the sum of what its corners have moved. Lanes without one have the first particle for all corners.
#[derive(Default)]
struct EightTriangles {
    corners: [[u32; LANES]; 3],
    wind: [Lanes; 3],
    moved: [Vec4; LANES],
}

by_instruction_set! {
    fn eight_thirds = eight_thirds_wide(eight: &EightTriangles, x: &[Vec4], held: &HeldAir<'_>) -> [Lanes; 3]
}

#[inline(always)]
fn eight_thirds_wide<W: Wide>(eight: &EightTriangles, x: &[Vec4], held: &HeldAir<'_>) -> [Lanes; 3] {
    let EightTriangles { corners: [a, b, c], wind, moved } = eight;
    assert!(eight.corners.as_flattened().iter().all(|i| (*i as usize) < x.len()));
    // SAFETY: all places were checked above.
    let (a, b, c) = unsafe { (corner::<W>(x, a), corner::<W>(x, b), corner::<W>(x, c)) };
    // SAFETY: there is one for each lane.
    let moved = unsafe { corner::<W>(moved, &[0, 1, 2, 3, 4, 5, 6, 7]) };
    let (Wide3([u, v, w]), over) = (moved, W::splat(held.over));
    let stream = Wide3::load(wind) - Wide3([u.over(over), v.over(over), w.over(over)]);
    thirds((b - a).cross(c - a), stream, held.air, held.area_mass, held.duration)
}

/// # Safety
/// There must be a vector at every place.
#[inline(always)]
unsafe fn corner<W: Wide>(of: &[Vec4], at: &[u32; LANES]) -> Wide3<W> {
    // SAFETY: as the caller promises.
    let [x, y, z, _] = unsafe { W::gather(of.as_ptr(), at) };
    Wide3([x, y, z])
}

by_instruction_set! {
    /// A third of [`force`] for eight triangles, with the same bits.
    pub fn thirds_of_forces = thirds_wide(normal: &[Lanes; 3], stream: &[Lanes; 3], air: &AirModel, area_mass: f64, h: f64) -> [Lanes; 3]
}

#[inline(always)]
fn thirds_wide<W: Wide>(normal: &[Lanes; 3], stream: &[Lanes; 3], air: &AirModel, area_mass: f64, h: f64) -> [Lanes; 3] {
    thirds(Wide3::<W>::load(normal), Wide3::load(stream), air, area_mass, h)
}

#[inline(always)]
fn thirds<W: Wide>(normal: Wide3<W>, stream: Wide3<W>, air: &AirModel, area_mass: f64, h: f64) -> [Lanes; 3] {
    let squared = normal.dot(normal);
    let across = normal.scaled(stream.dot(normal).over(squared));
    let along = stream - across;
    let along_length = along.dot(along).sqrt();
    let lift = W::splat(air.lift) * along_length;
    let of_lift = W::splat(0.5 * air.density);
    let drag = part(across, W::splat(0.5 * air.density * air.drag) * across.dot(across).sqrt() + of_lift * lift, area_mass, h);
    let rub = part(along, W::splat(0.5 * air.density * air.skin_friction) * along_length + of_lift * W::splat(0.0), area_mass, h);
    let Wide3([u, v, w]) = (drag + rub).scaled(W::splat(0.5) * squared.sqrt());
    let (zero, third) = (W::splat(0.0), W::splat(3.0));
    let mut out = [Lanes::ZERO; 3];
    u.over(third).where_less(zero, squared, zero).store(&mut out[0]);
    v.over(third).where_less(zero, squared, zero).store(&mut out[1]);
    w.over(third).where_less(zero, squared, zero).store(&mut out[2]);
    out
}

/// The part of a force along a stream that has this pressure for its speed, as far as it does not turn the stream round.
#[inline(always)]
fn part<W: Wide>(stream: Wide3<W>, pressure_per_speed: W, area_mass: f64, h: f64) -> Wide3<W> {
    let most = (W::splat(h) * pressure_per_speed).over(W::splat(area_mass)).max(W::splat(1.0));
    stream.scaled(pressure_per_speed.over(most))
}

/// Force on a triangle [N].
///
/// `normal` is twice the area along the unit normal [m²], `stream` the velocity of the air relative to the triangle [m/s], `area_mass` in
/// kg/m². Across the surface ρ C A |u| u / 2 with u the normal part of the stream, along it the same with the friction coefficient; lift
/// adds to the drag in proportion to the speed along the surface. Held for
/// the duration `h` such a force could turn the stream round; no part may change the velocity by more than itself.
pub fn force(normal: DVec3, stream: DVec3, air: &AirModel, area_mass: f64, h: f64) -> DVec3 {
    let squared = normal.length_squared();
    if squared == 0.0 {
        return DVec3::ZERO;
    }
    let across = normal * (stream.dot(normal) / squared);
    let along = stream - across;
    let lift = air.lift * along.length();
    let part = |u: DVec3, coefficient: f64, more: f64| {
        let pressure_per_speed = 0.5 * air.density * coefficient * u.length() + 0.5 * air.density * more;
        u * (pressure_per_speed / (h * pressure_per_speed / area_mass).max(1.0))
    };
    (part(across, air.drag, lift) + part(along, air.skin_friction, 0.0)) * (0.5 * squared.sqrt())
}
