//! Taking a sub-step back: it is solved again where CCD finds contacts that it did not know.

use super::Implicit;
use crate::math::Vec4;
use crate::model::memory::HeldContact;
use crate::step::driver::StepContext;

/// What a sub-step changes and is solved from.
#[derive(Debug)]
pub(super) struct Undo {
    /// When it began [s].
    pub time: f64,
    pub x: Vec<Vec4>,
    pub v: Vec<Vec4>,
    pub past: [Vec<Vec4>; 2],
    /// x̃.
    pub start: Vec<Vec4>,
    pub contacts: Vec<HeldContact>,
    /// Impulses of bodies so far [N·s].
    pub pressed: Vec<f64>,
    /// Places and velocities of the particles of free bodies [m], [m/s].
    pub flight: [Vec<Vec4>; 2],
}

impl Undo {
    /// Room for as many particles as `room` has, as much past, and so many particles of free bodies.
    pub fn new(room: &[Vec4], past: &[Vec4], of_bodies: usize) -> Self {
        Self {
            time: 0.0,
            x: room.to_vec(),
            v: room.to_vec(),
            past: [past.to_vec(), past.to_vec()],
            start: room.to_vec(),
            contacts: Vec::new(),
            pressed: Vec::new(),
            flight: [(); 2].map(|()| vec![Vec4::ZERO; of_bodies]),
        }
    }
}

impl Implicit {
    /// Keeps what a sub-step is about to change.
    pub(super) fn keep_undo(&mut self, step: &StepContext, time: f64) {
        let Self { undo, x, v, past, start: [start, _], memory, after, flight, .. } = self;
        for (kept, own) in [(&mut undo.x, x), (&mut undo.v, v), (&mut undo.start, start)] {
            kept.copy_from_slice(own);
        }
        undo.time = time;
        undo.past.iter_mut().zip(past).for_each(|(kept, own)| kept.copy_from_slice(own));
        undo.contacts.clone_from(&memory.contacts);
        undo.pressed.clear();
        undo.pressed.extend_from_slice(step.pressed);
        let n = step.model.cloth_particle_count();
        undo.flight.iter_mut().zip([after, flight]).for_each(|(kept, own)| kept.copy_from_slice(&own[n..]));
    }

    /// Goes back to where [`Implicit::keep_undo`] was called.
    pub(super) fn take_back(&mut self, step: &mut StepContext) {
        let Self { undo, x, v, past, start: [start, _], memory, after, flight, .. } = self;
        for (kept, own) in [(&undo.x, x), (&undo.v, v), (&undo.start, start)] {
            own.copy_from_slice(kept);
        }
        undo.past.iter().zip(past).for_each(|(kept, own)| own.copy_from_slice(kept));
        memory.contacts.clone_from(&undo.contacts);
        step.pressed.copy_from_slice(&undo.pressed);
        let n = step.model.cloth_particle_count();
        undo.flight.iter().zip([after, flight]).for_each(|(kept, own)| own[n..].copy_from_slice(kept));
    }
}
