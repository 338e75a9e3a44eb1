//! Limbs of a body: the axes that sleeves and legs of trousers are threaded on.

use std::f64::consts::PI;
use taffeta::math::{DVec3, trig};

/// Distance of the places along a limb where its axis is known [m].
const STEP: f64 = 0.04;
/// Directions in which the width of a section is looked at.
const DIRECTIONS: u32 = 12;

/// By how much a hand is thicker than its wrist at least [1].
const HAND: f64 = 1.15;

/// Where a hand begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wrist {
    /// In steps along the limb.
    pub at: f64,
    /// The length of a tape around the hand beyond [m].
    pub hand: f64,
}

/// A limb: the middle of it, from the trunk to its end.
#[derive(Debug, Clone)]
pub struct Limb {
    /// The way along it, from the trunk outwards.
    along: DVec3,
    /// The ways across it: as seen from the front, then to the front.
    pub across: [DVec3; 2],
    /// How far along the first of the middles is [m].
    first: f64,
    /// Middles of it, every [`STEP`].
    middles: Vec<DVec3>,
    /// The length of a tape around it there [m].
    girths: Vec<f64>,
}

impl Limb {
    /// The limb of these points, `grain` [m] apart, which leads in about this direction; none without points.
    pub fn new(points: &[DVec3], grain: f64, towards: DVec3) -> Option<Self> {
        let middle = points.iter().sum::<DVec3>() / points.len() as f64;
        // The longest axis of inertia by power iteration.
        let mut along = towards.normalize();
        for _ in 0..20 {
            let pulled: DVec3 = points.iter().map(|p| (*p - middle).dot(along) * (*p - middle)).sum();
            along = pulled.normalize_or(along);
        }
        along *= along.dot(towards).signum();
        let far = |p: &DVec3| p.dot(along);
        let first = points.iter().map(far).fold(f64::INFINITY, f64::min);
        let last = points.iter().map(far).fold(f64::NEG_INFINITY, f64::max);
        let mut slices = vec![Vec::new(); ((last - first) / STEP).ceil().max(0.0) as usize + 1];
        points.iter().for_each(|p| slices[((far(p) - first) / STEP).round() as usize].push(*p));
        slices.retain(|slice| !slice.is_empty());
        let middles = slices.iter().map(|slice| slice.iter().sum::<DVec3>() / slice.len() as f64).collect();
        let across = along.cross(DVec3::Z).normalize_or_zero();
        let across = [across, across.cross(along)];
        let girths = slices.iter().map(|slice| girth(slice, across) + PI * grain).collect();
        (!points.is_empty()).then_some(Self { along, across, first, middles, girths })
    }

    /// How far along it a place is, in steps.
    pub fn steps(&self, p: DVec3) -> f64 {
        (p.dot(self.along) - self.first) / STEP
    }

    /// Where it is thinnest before it gets thicker again, in its outer half; none where it only gets thinner, as a leg without its foot does.
    pub fn wrist(&self) -> Option<Wrist> {
        let hand = |at: usize| self.girths[at..].iter().copied().fold(0.0, f64::max);
        let outer = self.girths.len() / 2..self.girths.len();
        let thicker = |at: &usize| hand(*at) / self.girths[*at];
        let at = outer.max_by(|a, b| thicker(a).total_cmp(&thicker(b)))?;
        (thicker(&at) > HAND).then(|| Wrist { at: at as f64, hand: hand(at) })
    }

    /// A place moved along it by so many steps.
    pub fn moved(&self, p: DVec3, steps: f64) -> DVec3 {
        p + steps * STEP * self.along
    }

    /// Its axis beside a place: a curve along the limb, straight beyond its ends.
    pub fn axis(&self, p: DVec3) -> DVec3 {
        let steps = self.steps(p);
        let last = self.middles.len() - 1;
        let within = steps.clamp(0.0, last as f64);
        let below = (within as usize).min(last.saturating_sub(1));
        let share = within - below as f64;
        let at = self.middles[below].lerp(self.middles[(below + 1).min(last)], share);
        at + (p - at).dot(self.along) * self.along
    }
}

/// The length of the convex hull of points, as seen in a plane: π times its mean width (Cauchy) [m].
fn girth(points: &[DVec3], across: [DVec3; 2]) -> f64 {
    let width = |k: u32| {
        let angle = PI * f64::from(k) / f64::from(DIRECTIONS);
        let way = trig::cos(angle) * across[0] + trig::sin(angle) * across[1];
        let (low, high) = points
            .iter()
            .map(|p| p.dot(way))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), w| (low.min(w), high.max(w)));
        high - low
    };
    PI * (0..DIRECTIONS).map(width).sum::<f64>() / f64::from(DIRECTIONS)
}
