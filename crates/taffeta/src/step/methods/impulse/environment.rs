//! What acts on the cloth from outside during a sub-step of the impulse methods: bodies, pins, air.

use super::contact::touch;
use crate::collide::{self, ContactParams, Corners, MovingBody};
use crate::forces::{self, air};
use crate::math::Vec4;
use crate::model::{Led, Model};
use std::ops::Range;

/// Forces of the air are renewed so many times in a step.
const AIR_RENEWALS: u32 = 4;

/// Bodies and pins where they are now, and forces of the air.
#[derive(Debug)]
pub struct Boundary {
    contact_params: Vec<Vec<ContactParams>>,
    bodies: Vec<MovingBody>,
    led: Vec<Led>,
    /// Forces of the air on particles and on triangles [N]; empty in a vacuum.
    held: Vec<Vec4>,
    on_triangles: Vec<Vec4>,
}

impl Boundary {
    /// Room for a model.
    pub fn new(model: &Model) -> Self {
        let air = |count: usize| vec![Vec4::ZERO; if model.air.density > 0.0 { count } else { 0 }];
        Self {
            contact_params: collide::contact_params(model, Corners::OfSmooth),
            bodies: Vec::with_capacity(model.colliders.len()),
            led: Vec::with_capacity(model.pins.len()),
            held: air(model.particle_count()),
            on_triangles: air(model.triangles.len()),
        }
    }

    /// Forces of the air on particles [N]; empty in a vacuum.
    pub fn held(&self) -> &[Vec4] {
        &self.held
    }

    /// Bodies and pins from `time` to `time + h` [s].
    pub fn move_bodies(&mut self, model: &Model, time: f64, h: f64) {
        self.bodies.clear();
        self.bodies.extend(collide::bodies(model, time, h));
        self.led.clear();
        self.led.extend(model.pins.iter().map(|pin| pin.led(time + h, &model.colliders)));
    }

    /// Bodies rest where they are, while the end of a step is corrected.
    pub fn stop_bodies(&mut self) {
        self.bodies.iter_mut().for_each(|body| body.before = body.after);
    }

    /// Puts pinned particles where they will be.
    pub fn lead_pins(&self, model: &Model, y: &mut [Vec4]) {
        for (pin, led) in model.pins.iter().zip(&self.led) {
            for (member, &i) in pin.particles.iter().enumerate() {
                let end = pin.place(member, led, &model.colliders);
                y[i as usize] = Vec4([end.x, end.y, end.z, 1.0]);
            }
        }
    }

    /// Contacts of some particles of one cloth: `x` at the start of the sub-step, their part of `q` and `grip`. Returns how many touch.
    /// Once `again`, only those are looked at that touch or were moved since.
    pub fn touch(
        &self,
        model: &Model,
        (particles, cloth): (Range<usize>, usize),
        x: &[Vec4],
        q: &mut [Vec4],
        grip: &mut [Vec4],
        again: bool,
    ) -> u32 {
        let mut contacts = 0;
        for ((q, grip), i) in q.iter_mut().zip(grip).zip(particles) {
            if model.inverse_mass[i] > 0.0 && (!again || grip.0[3] > 0.0) {
                let touches = |(body, meeting)| touch(x[i], q, grip, body, meeting);
                contacts +=
                    self.bodies.iter().zip(&self.contact_params[cloth]).map(touches).filter(|t| *t).count();
            }
        }
        contacts as u32
    }

    /// In every quarter of a step the forces of the air on all triangles, held for that long. `x` and `y` are positions before and after the free motion
    /// of a sub-step at `time`, which is number `k` of `count`, each of `h` [s].
    pub fn renew_air(
        &mut self,
        model: &Model,
        (x, y): (&[Vec4], &[Vec4]),
        (k, count): (u32, u32),
        time: f64,
        h: f64,
    ) {
        let every = count.div_ceil(AIR_RENEWALS);
        if self.held.is_empty() || k % every != 0 {
            return;
        }
        let duration = f64::from(every.min(count - k)) * h;
        let wind = forces::wind(&model.air);
        for cloth in &model.cloths {
            let area_mass = 1e-3 * cloth.fabric.density;
            for t in cloth.triangles.clone() {
                let [a, b, c] = model.triangles[t].map(|i| i as usize);
                let way = |i: usize| (y[i] - x[i]).xyz();
                let centre = (x[a] + x[b] + x[c]).xyz() / 3.0;
                let stream = wind.at(centre, time) - (way(a) + way(b) + way(c)) / (3.0 * h);
                let normal = (x[b] - x[a]).xyz().cross((x[c] - x[a]).xyz());
                let third = air::force(normal, stream, &model.air, area_mass, duration) / 3.0;
                self.on_triangles[t] = third.into();
            }
        }
        self.held.fill(Vec4::ZERO);
        for (triangle, third) in model.triangles.iter().zip(&self.on_triangles) {
            triangle.iter().for_each(|i| self.held[*i as usize] += *third);
        }
    }
}
