//! Limbs of a body: the axes that sleeves and legs of trousers are threaded on.

use taffeta::math::DVec3;

/// Distance of the places along a limb where its axis is known [m].
const STEP: f64 = 0.04;

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
}

impl Limb {
    /// The limb of these points, which leads in about this direction; none without points.
    pub fn new(points: &[DVec3], towards: DVec3) -> Option<Self> {
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
        let mut sums = vec![(DVec3::ZERO, 0.0); ((last - first) / STEP).ceil().max(0.0) as usize + 1];
        for p in points {
            let sum = &mut sums[((far(p) - first) / STEP).round() as usize];
            *sum = (sum.0 + *p, sum.1 + 1.0);
        }
        let middles: Vec<DVec3> = sums.iter().filter(|sum| sum.1 > 0.0).map(|(sum, n)| *sum / *n).collect();
        let across = along.cross(DVec3::Z).normalize_or_zero();
        let across = [across, across.cross(along)];
        (!points.is_empty()).then_some(Self { along, across, first, middles })
    }

    /// How far along it a place is, in steps.
    pub fn steps(&self, p: DVec3) -> f64 {
        (p.dot(self.along) - self.first) / STEP
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
