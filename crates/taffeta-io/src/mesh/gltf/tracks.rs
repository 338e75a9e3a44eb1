//! Clips of a file: channels of its animations, checked key by key.

use taffeta_scene::rig::{Between, Clip, Moves, Place, Track};

use super::accessor::{self, Elements, Number};
use super::document::Kind;
use super::moving::{Channel, Sampler};
use super::rig::RigReader;
use super::{DAMAGED, refuse};
use crate::mesh::{MeshFault, text};

/// An animation of the file.
pub fn clip(reader: &mut RigReader, index: usize) -> Result<Clip, MeshFault> {
    let animation = &reader.moving.animations[index];
    let mut clip = Clip { name: animation.name.clone(), tracks: Vec::new() };
    for (k, channel) in animation.channels.iter().enumerate() {
        let place = format!("animations[{index}].channels[{k}]");
        let Some(sampler) = animation.samplers.get(channel.sampler as usize) else {
            return Err(refuse(place, format!("there is no sampler {}", channel.sampler), DAMAGED));
        };
        clip.tracks.extend(track(reader, channel, sampler, &place)?);
    }
    Ok(clip)
}

/// One channel; none if it moves nothing that is followed.
fn track(
    reader: &mut RigReader,
    channel: &Channel,
    sampler: &Sampler,
    place: &str,
) -> Result<Option<Track>, MeshFault> {
    let Some(target) = channel.target.node else { return Ok(None) };
    let Some(node) = reader.number.get(target as usize).copied() else {
        return Err(refuse(place, format!("there is no node {target}"), DAMAGED));
    };
    let (moves, width) = match channel.target.path.as_str() {
        "translation" => (Moves::Shift, 3),
        "rotation" => (Moves::Turn, 4),
        "scale" => (Moves::Scale, 3),
        "weights" => (Moves::Shapes, shapes_of(reader, node)),
        other => {
            let other = text::excerpt(other.as_bytes());
            reader.notes.push(format!("{place} moves `{other}`, which is not followed"));
            return Ok(None);
        }
    };
    if width == 0 {
        return Ok(None);
    }
    if moves != Moves::Shapes && matches!(reader.rig.nodes[node as usize].place, Place::Whole(_)) {
        let reason = format!("nodes[{target}] is placed by a matrix, which cannot be animated");
        return Err(refuse(place, reason, "place it by translation, rotation and scale"));
    }
    let (between, rows) = match sampler.interpolation.as_deref() {
        None | Some("LINEAR") => (Between::Straight, 1),
        Some("STEP") => (Between::Steps, 1),
        Some("CUBICSPLINE") => (Between::Curve, 3),
        Some(other) => {
            let reason = format!("the interpolation `{}` is unknown", text::excerpt(other.as_bytes()));
            return Err(refuse(place, reason, DAMAGED));
        }
    };
    let times = times(reader, sampler.input)?;
    let values = values(reader, sampler.output, moves)?;
    if values.len() != rows * width * times.len() {
        let (have, keys) = (values.len(), times.len());
        let reason = format!("{have} numbers for {keys} keys of {width} numbers, {rows} times each");
        return Err(refuse(place, reason, DAMAGED));
    }
    Ok(Some(Track { node, moves, between, times, values }))
}

fn shapes_of(reader: &RigReader, node: u32) -> usize {
    let numbers = reader.rig.shapes.iter().filter(|shape| shape.node == node).map(|shape| shape.number);
    numbers.max().map_or(0, |last| last as usize + 1)
}

/// When keys are: from 0 on, rising.
fn times(reader: &mut RigReader, index: u32) -> Result<Vec<f64>, MeshFault> {
    let elements = reader.find(index)?;
    let fault = |reason: String| refuse(accessor::place(index), reason, DAMAGED);
    if elements.kind != Kind::Scalar || elements.number != Number::F32 || elements.count == 0 {
        return Err(fault(format!(
            "{} times of kind {:?} are no times of keys",
            elements.count, elements.kind
        )));
    }
    let mut times = vec![0.0; elements.count];
    elements.read(|k, [time]: [f64; 1]| {
        times.get_mut(k).into_iter().for_each(|to| *to = time);
        Ok(())
    })?;
    if let Some(time) = times.iter().find(|time| !(time.is_finite() && **time >= 0.0)) {
        return Err(fault(format!("a key is at {time} s")));
    }
    match times.windows(2).position(|pair| pair[0] >= pair[1]) {
        Some(k) => {
            Err(fault(format!("key {} is at {} s, not later than the one before", k + 1, times[k + 1])))
        }
        None => Ok(times),
    }
}

fn values(reader: &mut RigReader, index: u32, moves: Moves) -> Result<Vec<f64>, MeshFault> {
    let mut elements = reader.find(index)?;
    // Whole numbers always stand for parts of their largest.
    elements.normalized = elements.number != Number::F32;
    let values = match (moves, elements.kind) {
        (Moves::Shift | Moves::Scale, Kind::Vec3) => numbers::<3>(&elements)?,
        (Moves::Turn, Kind::Vec4) => numbers::<4>(&elements)?,
        (Moves::Shapes, Kind::Scalar) => numbers::<1>(&elements)?,
        (_, kind) => {
            let reason = format!("values of kind {kind:?} are none of what the channel moves");
            return Err(refuse(accessor::place(index), reason, DAMAGED));
        }
    };
    match values.iter().position(|value| !value.is_finite()) {
        Some(k) => Err(refuse(accessor::place(index), format!("number {k} is not finite"), DAMAGED)),
        None => Ok(values),
    }
}

fn numbers<const N: usize>(elements: &Elements) -> Result<Vec<f64>, MeshFault> {
    let mut rows = vec![[0.0; N]; elements.count];
    elements.read(|k, row: [f64; N]| {
        rows.get_mut(k).into_iter().for_each(|to| *to = row);
        Ok(())
    })?;
    Ok(rows.into_flattened())
}
