//! Pins that name what is not there, follow nothing, or pull at the same particle.

use crate::rules::sense::{MOST_PARTICLES, value_of};
use crate::rules::{Faults, Rule, short, suggestion, written};
use crate::scene::place::Place;
use crate::scene::{Cloth, Collider, Pin};
use std::collections::BTreeSet;

pub(super) fn check_pin(cloth: &Cloth, shape: &str, pin: &Pin, place: Place, faults: &mut Faults) {
    if !pin.names_any() && (pin.on.is_none() || pin.within.is_none()) {
        let remedy = "name `corners`, `sides` or `vertices`, or take the pin out";
        faults.report(Rule::PinsNothing, place, "", "", remedy);
    }
    let (corners, sides, vertices) = (place.key("corners"), place.key("sides"), place.key("vertices"));
    for (index, corner) in pin.corners.iter().enumerate().filter(|_| !cloth.has_corners()) {
        let remedy = "only a sheet and a strip have corners; name `sides` or `vertices`";
        let detail = format!(": a {shape}");
        faults.report(Rule::NoCorners, corners.item(index), value_of(corner), &detail, remedy);
    }
    for (index, side) in pin.sides.iter().enumerate().filter(|(_, side)| !cloth.has_side(**side)) {
        let remedy = match shape {
            "tube" => "a tube has `upper`, `lower` and `rim`".to_string(),
            _ => format!("a {shape} has only its `rim`"),
        };
        let detail = format!(": a {shape}");
        faults.report(Rule::NoSuchSide, sides.item(index), value_of(side), &detail, remedy);
    }
    let count = cloth.particle_count().unwrap_or(u64::MAX);
    for (index, vertex) in pin.vertices.iter().enumerate().filter(|(_, vertex)| u64::from(**vertex) >= count)
    {
        let remedy = format!("write a number from 0 to {}", count.saturating_sub(1));
        let detail = format!(" of {count}");
        faults.report(Rule::NoSuchParticle, vertices.item(index), vertex, &detail, remedy);
    }
}

/// A pin on a body names one that exists, and is led by nothing else.
pub(super) fn check_seat(pin: &Pin, colliders: &[Collider], place: Place, faults: &mut Faults) {
    match (&pin.on, pin.within) {
        (None, Some(within)) => {
            let remedy = "name the collider that they follow with `on`";
            faults.report(Rule::NearNothing, place.key("within"), short(within), "", remedy);
        }
        (Some(on), _) if !colliders.iter().any(|collider| !on.is_empty() && collider.name == *on) => {
            let names: Vec<&str> =
                colliders.iter().map(|c| c.name.as_str()).filter(|name| !name.is_empty()).collect();
            let remedy = if names.is_empty() {
                "give the collider a `name`".into()
            } else {
                suggestion(on, &names, "the names of colliders are")
            };
            faults.report(Rule::UnknownCollider, place.key("on"), written(&on.as_str().into()), "", remedy);
        }
        (Some(on), _) if !pin.keyframe.is_empty() => {
            let remedy = "leave out `on` or the keyframes";
            faults.report(Rule::LedTwice, place.key("on"), written(&on.as_str().into()), "", remedy);
        }
        _ => {}
    }
}

/// A particle cannot be moved by one pin and held or moved by another; two pins that both rest agree.
pub(super) fn check_pinned_once(cloth: &Cloth, pins: Place, faults: &mut Faults) {
    let moves = |pin: usize| cloth.pin.get(pin).is_some_and(Pin::moves);
    let too_large = cloth.particle_count().is_some_and(|count| count > MOST_PARTICLES);
    if too_large || cloth.pin.len() < 2 || !(0..cloth.pin.len()).any(moves) {
        return;
    }
    let mut held: Vec<(u32, usize)> = Vec::new();
    for (index, pin) in cloth.pin.iter().enumerate() {
        // Which of them are near a body shows when the model is built.
        let named = if pin.within.is_some() { Vec::new() } else { cloth.pinned(pin) };
        held.extend(named.into_iter().map(|particle| (particle, index)));
    }
    held.sort_unstable();
    let mut told = BTreeSet::new();
    for same in held.chunk_by(|a, b| a.0 == b.0) {
        let Some(&(particle, mover)) = same.iter().find(|(_, pin)| moves(*pin)) else { continue };
        for &(_, other) in same.iter().filter(|(_, pin)| *pin != mover) {
            let (first, second) = (mover.min(other), mover.max(other));
            // Pins that share a side are one mistake, not one for each particle.
            if told.insert((first, second)) {
                let detail = format!(": particle {particle} of `pin[{first}]`");
                let remedy = "leave it to one of them, or let neither move";
                faults.report(Rule::PinnedTwice, pins.item(second), "", &detail, remedy);
            }
        }
    }
}
