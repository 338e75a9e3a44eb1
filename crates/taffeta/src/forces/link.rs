//! The link of a seam: a spring that only pulls, with a rest length that depends on time.

use super::choi_ko::{Damper, Stretch};
use super::element::Element;
use crate::model::{Model, State};

/// Link `l` of a model at `time` [s]. It has no damper: the cloth around it has.
pub fn link(model: &Model, l: usize, time: f64) -> Stretch {
    let links = &model.links;
    Stretch {
        rest_length: links.rest_length(l, time),
        stiffness: links.stiffness[l],
        damper: Damper::default(),
    }
}

/// Energy stored in all links [J]. While they shrink they do work, as a thread does that is pulled.
pub fn energy(model: &Model, state: &State) -> f64 {
    let of = |(l, ends): (usize, &[u32; 2])| {
        link(model, l, state.time).energy(&ends.map(|i| state.positions[i as usize]))
    };
    model.links.ends.iter().enumerate().map(of).sum()
}
