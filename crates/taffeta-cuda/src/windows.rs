//! Windows of a step in which something may touch: what may meet is found at their start, and no motion goes on that is not proven.

use crate::error::CudaError;
use crate::layout::{Control, Found};
use crate::step::CudaMethod;
use taffeta::model::Model;
use taffeta::step::{CcdStats, Observer};

/// What an attempt at a step came to.
pub enum Came {
    /// Its end, within its tolerance or not, or that it is lost.
    Told(Control),
    /// A motion could not be proven.
    Open,
    /// There was too little room, which there is now.
    NoRoom,
}

/// What the proof of a window came to.
pub enum Proof {
    /// All of it is shown apart.
    Given(Found),
    /// The step was lost before.
    Lost(Control),
    /// Something is not shown apart, whatever was answered.
    Open,
    /// There was too little room, which there is now.
    NoRoom,
}

impl CudaMethod {
    /// Proves the motion of a window. What is not shown apart is answered together with lengths and all other contacts, and tried again.
    pub(crate) fn prove_window(
        &mut self,
        model: &Model,
        ccd: &mut CcdStats,
        observer: &mut dyn Observer,
    ) -> Result<Proof, CudaError> {
        observer.enter("ccd");
        let mut told = self.sheet.prove(false)?;
        for learned in 0..=model.params.collision.learning_rounds {
            if told.control.lost != 0 {
                return Ok(Proof::Lost(told.control));
            }
            if self.sheet.make_room(&told.found)? {
                return Ok(Proof::NoRoom);
            }
            if told.found.outside != 0 {
                told = self.sheet.prove(true)?;
                if self.sheet.make_room(&told.found)? {
                    return Ok(Proof::NoRoom);
                }
            }
            let found = told.found;
            if learned == 0 {
                ccd.hits += found.hits as u32;
            }
            if found.hits == 0 && found.sunk == 0 && found.outside == 0 {
                ccd.rounds += 1;
                return Ok(Proof::Given(found));
            }
            if learned < model.params.collision.learning_rounds {
                told = self.sheet.learn()?;
                ccd.learned += 1;
            }
        }
        Ok(Proof::Open)
    }

    /// How many sub-steps the next window may have: no more than in which what touches changes. Few particles may be faster.
    pub(crate) fn window(&self, model: &Model, found: &Found) -> u32 {
        let (params, reach) = (&model.params.collision, self.plan.contact.as_ref().map_or(0.0, |c| c.reach));
        let few = (model.particle_count() / params.few_particles as usize) as i32;
        let fastest = f64::from(f32::from_bits(found.fastest)).sqrt();
        let holds =
            |k: &usize| found.faster[*k] <= few && fastest * f64::from(1 << k) <= params.few_faster * reach;
        (1..found.faster.len()).rev().find(holds).map_or(1, |k| 1 << k)
    }

    /// Last sweeps.
    pub(crate) fn sweep(
        &mut self,
        model: &Model,
        told: Control,
        observer: &mut dyn Observer,
    ) -> Result<Control, CudaError> {
        observer.enter("last sweeps");
        self.sheet.sweep(told, model.tolerance, model.params.impulse.closed_by_sweeps)
    }

    /// Proves the last window, which came to what is `told`; and mends what the guard has stretched, in sweeps that take no time and are proven too.
    pub(crate) fn prove_end(
        &mut self,
        model: &Model,
        mut told: Control,
        ccd: &mut CcdStats,
        observer: &mut dyn Observer,
    ) -> Result<Came, CudaError> {
        for mend in 0.. {
            match self.prove_window(model, ccd, observer)? {
                Proof::Given(_) => {}
                Proof::Lost(told) => return Ok(Came::Told(told)),
                Proof::Open => return Ok(Came::Open),
                Proof::NoRoom => return Ok(Came::NoRoom),
            }
            observer.enter("mend");
            let now = self.sheet.conclude()?;
            (told.error, told.opening) = (now.error, now.opening);
            if now.error <= model.tolerance || mend == model.params.impulse.mends {
                break;
            }
            self.sheet.begin_still_window()?;
            let swept = self.sweep(model, now, observer)?;
            told.sweeps += swept.sweeps;
            told.for_lengths = swept.for_lengths;
        }
        Ok(Came::Told(told))
    }
}
