//! Drag of a triangle that moves through air or stands in the wind (P4, P5), by the square of the speed.

use super::around::Around;
use super::slider::HeldSliders;
use super::wind;
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
        }
    }

    /// On every particle [N]; empty where there are none.
    pub fn on_particles(&self) -> &[Vec4] {
        &self.on_particles
    }

    /// Renews them, to be held for a `duration` from `time` on [s], on triangles whose corners are at `x` [m]; `velocity` is the mean one of a triangle with
    /// these corners [m/s].
    pub fn renew(
        &mut self,
        model: &Model,
        environment: &Environment,
        (time, duration): (f64, f64),
        x: &[Vec4],
        velocity: impl Fn([usize; 3]) -> DVec3 + Sync,
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
        let wind = wind(air);
        for cloth in &model.cloths {
            let area_mass = 1e-3 * cloth.fabric.density;
            let triangles = &model.triangles[cloth.triangles.clone()];
            parallel::each(&mut self.on_triangles[cloth.triangles.clone()], CHUNK, |t, third| {
                let [a, b, c] = triangles[t].map(|i| i as usize);
                let centre = (x[a] + x[b] + x[c]).xyz() / 3.0;
                let stream = wind.at(centre, time) - velocity([a, b, c]);
                let normal = (x[b] - x[a]).xyz().cross((x[c] - x[a]).xyz());
                *third = (force(normal, stream, air, area_mass, duration) / 3.0).into();
            });
        }
        let Self { on_triangles, on_particles, around, .. } = self;
        parallel::each(on_particles, CHUNK, |i, force| {
            around.of(i).iter().for_each(|t| *force += on_triangles[*t as usize]);
        });
    }
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
