//! Tubes around limbs: panels of sleeves are laid around arms, and sleeves and legs of trousers are kept around the axes of their limbs.

use super::cloth::{BastedCloth, Tie};
use super::field::DistanceField;
use super::limbs::{Limb, Wrist};
use super::{join, root};
use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::ops::Range;
use taffeta::math::DVec3;

/// Cloth that reaches less far across a limb is one side of a tube alone [m].
const THIN: f64 = 0.01;

/// How far cloth reaches across a limb, slice by slice, each a step along it.
struct Slices {
    /// The first slice, in steps along the limb.
    least: f64,
    /// Empty ones are infinitely narrow [m].
    sides: Vec<[f64; 2]>,
}

impl Slices {
    /// Places belong to all slices that `slices` names for their distance from the first [steps].
    fn new<const N: usize>(
        limb: &Limb,
        across: DVec3,
        places: impl Iterator<Item = DVec3> + Clone,
        slices: fn(f64) -> [f64; N],
    ) -> Self {
        let steps = places.clone().map(|x| limb.steps(x));
        let least = steps.clone().fold(f64::INFINITY, f64::min).floor();
        let most = steps.fold(f64::NEG_INFINITY, f64::max).ceil();
        let mut sides = vec![[f64::INFINITY, f64::NEG_INFINITY]; (most - least).max(0.0) as usize + 1];
        for x in places {
            let off = (x - limb.axis(x)).dot(across);
            for slice in slices(limb.steps(x) - least) {
                let [low, high] = &mut sides[slice as usize];
                (*low, *high) = (low.min(off), high.max(off));
            }
        }
        Self { least, sides }
    }

    fn width(&self, slice: usize) -> f64 {
        self.sides[slice][1] - self.sides[slice][0]
    }

    /// Those that are no rim of a panel.
    fn whole(&self) -> impl DoubleEndedIterator<Item = usize> {
        (0..self.sides.len()).filter(|slice| self.width(*slice) > THIN)
    }

    /// Both sides at a place along the limb, in steps from the first slice [m].
    fn at(&self, steps: f64) -> Option<[f64; 2]> {
        let above = self.whole().find(|k| *k as f64 >= steps).or_else(|| self.whole().next_back())?;
        let below = self.whole().rfind(|k| *k as f64 <= steps).unwrap_or(above);
        let share = if above > below { (steps - below as f64) / (above - below) as f64 } else { 0.0 };
        Some([0, 1].map(|side| (1.0 - share) * self.sides[below][side] + share * self.sides[above][side]))
    }
}

impl BastedCloth {
    /// Lays a flat panel, its particles `own`, around half of a limb: on a half cylinder that is as long around as the panel is wide there. What is further in than
    /// where it is widest is the cap of a sleeve, and goes on as it is there.
    pub fn wrap(&mut self, own: Range<usize>, limb: &Limb) {
        let x = &mut self.x[own];
        let slices = Slices::new(limb, limb.across[0], x.iter().copied(), |at| [at.floor(), at.ceil()]);
        let widest = slices.whole().max_by(|a, b| slices.width(*a).total_cmp(&slices.width(*b)));
        let front = x.iter().map(|x| (*x - limb.axis(*x)).dot(limb.across[1])).sum::<f64>().signum();
        for x in x {
            let at = (limb.steps(*x) - slices.least).max(widest.unwrap_or(0) as f64);
            let Some([low, high]) = slices.at(at) else { continue };
            let (off, radius) = ((*x - limb.axis(*x)).dot(limb.across[0]), (high - low) / PI);
            let angle = (off - 0.5 * (low + high)) / radius;
            *x = limb.axis(*x)
                + radius * (angle.sin() * limb.across[0] + front * angle.cos() * limb.across[1]);
        }
    }

    /// Draws tubes up to the wrist whose far end is too narrow for the hand: cuffs. They are held back there from here on, else the sleeve would push them over
    /// the slim hand, which then grows in them. Sewn particles are of one of `groups`.
    pub fn draw_up(&mut self, limbs: &[&Limb], groups: &[usize]) {
        self.ends = vec![f64::INFINITY; limbs.len()];
        let rims = self.rims(groups);
        for (number, limb) in limbs.iter().enumerate() {
            let Some(Wrist { at: wrist, hand }) = limb.wrist() else { continue };
            let Some([last, around]) = self.far_end(&rims, groups, number as u8, limb) else { continue };
            if around >= hand {
                continue;
            }
            let own: Vec<usize> = (0..self.x.len()).filter(|i| self.limb[*i] == Some(number as u8)).collect();
            let steps: Vec<f64> = own.iter().map(|i| limb.steps(self.x[*i])).collect();
            let first = steps.iter().copied().fold(last, f64::min);
            let drawn = if last > wrist { ((wrist - first) / (last - first)).max(0.0) } else { 1.0 };
            for (i, at) in own.iter().zip(&steps) {
                self.x[*i] = limb.moved(self.x[*i], (drawn - 1.0) * (at - first));
            }
            // A rim may lie aslant.
            self.ends[number] = wrist + drawn * (steps.into_iter().fold(last, f64::max) - last);
        }
    }

    /// Edges that nothing is sewn to, with their lengths at rest [m].
    fn rims(&self, groups: &[usize]) -> Vec<Tie> {
        let lengths: BTreeMap<[usize; 2], f64> = self.ties().map(|(ends, length)| (*ends, *length)).collect();
        let mut sides: BTreeMap<[usize; 2], Vec<[usize; 2]>> = BTreeMap::new();
        for t in &self.triangles {
            let [a, b, c] = t.map(|i| i as usize);
            for [a, b] in [[a, b], [b, c], [c, a]] {
                let sewn = [groups[a].min(groups[b]), groups[a].max(groups[b])];
                sides.entry(sewn).or_default().push([a.min(b), a.max(b)]);
            }
        }
        let single = sides.into_values().filter_map(|of| (of.len() == 1).then(|| of[0]));
        single.filter_map(|ends| Some((ends, *lengths.get(&ends)?))).collect()
    }

    /// The furthest of the rims of the tube on a limb: how far out it is on average, in steps, and its length [m].
    fn far_end(&self, rims: &[Tie], groups: &[usize], number: u8, limb: &Limb) -> Option<[f64; 2]> {
        let own = || rims.iter().filter(|(ends, _)| ends.iter().all(|i| self.limb[*i] == Some(number)));
        let mut least: Vec<usize> = (0..groups.len()).collect();
        own().for_each(|([a, b], _)| join(&mut least, groups[*a], groups[*b]));
        let mut rings: BTreeMap<usize, [f64; 2]> = BTreeMap::new();
        for ([a, b], length) in own() {
            let [far, around] = rings.entry(root(&mut least, groups[*a])).or_default();
            *far += length * limb.steps(0.5 * (self.x[*a] + self.x[*b]));
            *around += length;
        }
        let rings = rings.into_values().map(|[far, around]| [far / around, around]);
        rings.max_by(|a, b| a[0].total_cmp(&b[0]))
    }

    /// Moves what is further out on a limb than its tube may reach back.
    pub fn hold_back(&mut self, field: &DistanceField) {
        for (x, number) in self.x.iter_mut().zip(&self.limb) {
            let Some(number) = number else { continue };
            let (limb, end) = (field.limb(*number), self.ends.get(usize::from(*number)));
            let beyond = limb.steps(*x) - end.copied().unwrap_or(f64::INFINITY);
            if beyond > 0.0 {
                *x = limb.moved(*x, -beyond);
            }
        }
    }

    /// Moves and tilts tubes until the axes of their limbs are as far within them as `room` says, or as they are wide [m], by this share of the way. What is further
    /// out counts for more: the other end is sewn to the rest.
    pub fn thread(&mut self, limbs: &[&Limb], room: f64, share: f64) {
        for (number, limb) in limbs.iter().enumerate() {
            let own: Vec<usize> = (0..self.x.len()).filter(|i| self.limb[*i] == Some(number as u8)).collect();
            for across in limb.across.into_iter().filter(|_| !own.is_empty()) {
                let slices = Slices::new(limb, across, own.iter().map(|i| self.x[*i]), |at| [at.round()]);
                let [off, tilt] = fitted(slices.whole().map(|k| {
                    let ([low, high], out) = (slices.sides[k], k as f64 + 1.0);
                    let room = room.min(0.5 * (high - low));
                    [out * out, k as f64, (low + room).max(0.0) + (high - room).min(0.0)]
                }));
                for i in &own {
                    let steps = limb.steps(self.x[*i]) - slices.least;
                    self.x[*i] -= share * (off + tilt * steps) * across;
                }
            }
        }
    }
}

/// The straight line a + b s through weights, places s and values: a and b.
fn fitted(points: impl Iterator<Item = [f64; 3]>) -> [f64; 2] {
    let mut sums = [0.0; 5];
    for [w, s, v] in points {
        for (sum, term) in sums.iter_mut().zip([w, w * s, w * s * s, w * v, w * s * v]) {
            *sum += term;
        }
    }
    let [w, ws, wss, wv, wsv] = sums;
    if w == 0.0 {
        return [0.0; 2];
    }
    let spread = wss - ws * ws / w;
    let tilt = if spread > 1e-9 * w { (wsv - ws * wv / w) / spread } else { 0.0 };
    [(wv - tilt * ws) / w, tilt]
}
