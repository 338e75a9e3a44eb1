//! Contacts of features for the system of an implicit stage: cloth with cloth, and with the faces, edges and corners of bodies.

use super::contact_row::ContactPoint;
use super::particles::OrderedParticles;
use crate::collide::ContactPipeline;
use crate::collide::contact::projection::FeatureContact;
use crate::math::{DVec3, Vec4};
use crate::model::Model;

/// What the contact pipeline has found near on the way from positions `x` [m], without what particles keep clear of on their own. Where something intersects only what
/// leads it back: around it other contacts would hold both sides where they are.
pub(super) fn contacts<'a>(
    pipeline: &'a ContactPipeline,
    model: &'a Model,
    particles: &'a OrderedParticles,
    x: &'a [Vec4],
    duration: f64,
) -> impl Iterator<Item = ContactPoint> + 'a {
    let asked = |(feature, _): &(&FeatureContact, _)| feature.back || !pipeline.is_tangled();
    pipeline.features(model).filter(asked).map(move |(feature, [led_from, led_to])| {
        let own = |k: usize| particles.place.get(feature.points[k] as usize);
        let weights = std::array::from_fn(|k| own(k).map_or(0.0, |_| feature.weights[k]));
        let places: [u32; 4] = std::array::from_fn(|k| own(k).copied().unwrap_or(0));
        let point =
            places.iter().zip(weights).fold(DVec3::ZERO, |sum, (i, w)| sum + x[*i as usize].xyz() * w);
        // What is too near parts slowly, so that it does not jump.
        let parted = feature.normal.dot(point + led_from) + model.params.collision.parting_speed * duration;
        ContactPoint {
            particles: places,
            weights,
            normal: feature.normal,
            other: -led_to,
            carried: led_from - led_to,
            distance: feature.distance.min(parted),
            friction: feature.friction,
            held: DVec3::ZERO,
            pressure: 0.0,
        }
    })
}
