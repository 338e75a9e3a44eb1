//! Spare particles of cloth that tears, and pins that let go; torn and come off as a state says.

use super::shapes::Blank;
use crate::{Fault, Mesh, Pin};
use taffeta::model::parting::split_of;
use taffeta::model::topology::Topology;
use taffeta::model::{BreakingPin, Model, Split, State, Tearing};

/// Spare particles of a cloth that tears, over its own.
const SPARES: f64 = 0.5;

/// The next word of a state under construction: as it was `recorded`, else 0.
fn next_word(state: &mut State, recorded: &[u64]) -> u64 {
    let word = recorded.get(state.parted.len()).copied().unwrap_or(0);
    state.parted.push(word);
    word
}

/// Gives a cloth that tears from a strain of `limit` on its spare particles, and tears it as it was `recorded`.
pub(super) fn reserve(
    model: &mut Model,
    state: &mut State,
    (blank, topology): (&mut Blank, &mut Topology),
    limit: f64,
    recorded: &[u64],
) -> Result<(), Fault> {
    let own = blank.start.len() as u32;
    let spares = own..own + (SPARES * f64::from(own)).ceil() as u32;
    let (first_word, first, first_triangle) =
        (state.parted.len(), model.particle_count() as u32, model.triangles.len() as u32);
    for spare in spares.clone() {
        let word = next_word(state, recorded);
        let (particle, towards) = split_of(word);
        // One that is not used yet lies on the first particle.
        let twin = particle.min(spare - 1);
        blank.start.push(blank.start[twin as usize]);
        let Mesh { positions, material, .. } = &mut blank.rest;
        positions.push(positions[twin as usize]);
        if !material.is_empty() {
            material.push(material[twin as usize]);
        }
        if word == 0 {
            continue;
        }
        let known = particle < spare && towards < spare && particle != towards;
        let moved = if known { topology.split(particle, towards, spare, positions) } else { Vec::new() };
        if moved.is_empty() {
            let reason = format!("the state splits particle {particle} towards {towards}, which nothing can");
            return Err(Fault::new("tear", limit, reason, "go on from a state of this scene"));
        }
        let triangles = moved.into_iter().map(|t| t + first_triangle).collect();
        model.splits.push(Split { twin: particle + first, spare: spare + first, triangles });
    }
    topology.find_edges(&blank.rest.positions);
    let cloth = model.cloths.len();
    model.tearing.push(Tearing { cloth, limit, spares, first_word, topology: topology.clone() });
    Ok(())
}

/// Notes particles of a pin that breaks; those that came off as `recorded` are taken out.
pub(super) fn clip(
    model: &mut Model,
    state: &mut State,
    pin: &Pin,
    particles: &mut Vec<u32>,
    recorded: &[u64],
) {
    let Some(limit) = pin.breaks else { return };
    particles.retain(|&particle| {
        let holds = next_word(state, recorded) == 0;
        if holds {
            model.clips.push(BreakingPin { particle, limit, word: state.parted.len() - 1 });
        }
        holds
    });
}
