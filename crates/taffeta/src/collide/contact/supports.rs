//! What lies on what. Through a heap a push goes contact by contact, and a heavy thing on light ones moves them all before it feels the ground. Shock propagation
//! (Guendelman, Bridson and Fedkiw 2003, §8.2) answers contacts from the supports upwards, and lets the lower side of each stand.
//!
//! Here only what is held against the very direction of a push stands, and only against that: along the contact both sides move by their masses. What the lower side
//! does not feel of the pushes is its load, summed up from the top downwards; friction counts with it.

use super::projection::{Done, FeatureContact, Side};
use crate::collide::ccd::window::CcdWindow;
use crate::collide::rigid::nearest::nearest;
use crate::collide::{ContactParams, Corners, contact_params};
use crate::math::DVec3;
use crate::model::{Model, PosedShape};

/// The level of what no support holds.
pub const UNSUPPORTED: u16 = u16::MAX;
/// Cosine of the angle between a push and the direction of what holds against it.
const AGAINST: f64 = 0.7;
/// A corner with less weight than this need not be supported [1].
const LIGHT: f64 = 0.05;

/// How many contacts particles are away from what is led, and what weighs on them.
#[derive(Debug)]
pub struct Supports {
    /// How every cloth meets every closed-form solid.
    solids: Vec<Vec<ContactParams>>,
    /// The solids at the start and at the end of the window.
    posed: Vec<[PosedShape; 2]>,
    /// Whether only contacts that touch as the window begins hold something up, not all that are listed. Where all that is near is listed, what is at the rim of
    /// that would else be held up in every second step, and fall in between.
    pub by_touch: bool,
    /// The highest level of a contact.
    pub depth: u16,
    /// Per particle its level, and the direction away from what it lies on.
    level: Vec<u16>,
    up: Vec<DVec3>,
    /// Per particle the impulse that the sub-step before has not put on it [kg·m], and what held it up against that.
    loads: Vec<f64>,
    held: Vec<f64>,
    /// Contacts that have stopped an upper side.
    stopping: Vec<usize>,
    /// Whether there are any.
    is_loaded: bool,
}

impl Supports {
    /// Room for a model.
    pub fn new(model: &Model) -> Self {
        let n = model.particle_count();
        Self {
            solids: contact_params(model, Corners::OfSmooth),
            posed: Vec::with_capacity(model.colliders.len()),
            by_touch: false,
            depth: 0,
            level: vec![UNSUPPORTED; n],
            up: vec![DVec3::ZERO; n],
            loads: vec![0.0; n],
            held: vec![0.0; n],
            stopping: Vec::new(),
            is_loaded: false,
        }
    }

    /// Nothing weighs on anything.
    pub fn forget(&mut self) {
        self.loads.fill(0.0);
        (self.is_loaded, self.depth) = (false, 0);
    }

    /// Finds the levels of the particles of `contacts` in a window `[from, until]` [s].
    pub fn find(&mut self, model: &Model, window: &CcdWindow, times: [f64; 2], contacts: &[FeatureContact]) {
        self.level.fill(UNSUPPORTED);
        self.stand_on_solids(model, window, times, contacts);
        let mut any = true;
        while any {
            any = contacts.iter().fold(false, |any, contact| any | self.rise(window, contact));
        }
        self.depth = self.level.iter().copied().filter(|level| *level != UNSUPPORTED).max().unwrap_or(0);
    }

    /// Particles that touch a solid, or will, lie on it.
    fn stand_on_solids(
        &mut self,
        model: &Model,
        window: &CcdWindow,
        [from, until]: [f64; 2],
        contacts: &[FeatureContact],
    ) {
        let CcdWindow { start, end, inverse_mass, params, .. } = window;
        let Self { posed, level, up, solids, .. } = self;
        posed.clear();
        posed.extend(model.colliders.iter().filter_map(|c| Some([c.at(from)?, c.at(until)?])));
        for p in contacts.iter().flat_map(|contact| contact.points).map(|p| p as usize) {
            if p >= level.len() || level[p] != UNSUPPORTED {
                continue;
            }
            if inverse_mass[p] == 0.0 {
                level[p] = 0;
                continue;
            }
            // Cloths are the first objects.
            for ([before, after], with) in posed.iter().zip(&solids[window.object_of(p as u32)]) {
                let near = nearest(before, start[p], params.hovers * with.distance)
                    .or_else(|| nearest(after, end[p], with.distance));
                if let Some(near) = near {
                    (level[p], up[p]) = (1, near.normal);
                }
            }
        }
    }

    /// Lets the upper side of a contact lie on the lower one, if that is supported; whether this is new.
    fn rise(&mut self, window: &CcdWindow, contact: &FeatureContact) -> bool {
        let (mut any, n) = (false, self.level.len());
        if self.by_touch && !touches(window, contact) {
            return false;
        }
        for upper in [Side::First, Side::Second] {
            let height = self.height(window, contact, upper);
            for p in contact.of_side(upper).map(|(p, _)| p as usize).filter(|p| *p < n) {
                if height < UNSUPPORTED - 1 && self.level[p] > height + 1 {
                    (self.level[p], self.up[p]) = (height + 1, upper.sign() * contact.normal);
                    any = true;
                }
            }
        }
        any
    }

    /// The level of what is below the `upper` side of a contact, if all of it holds against a push from there.
    fn height(&self, window: &CcdWindow, contact: &FeatureContact, upper: Side) -> u16 {
        let up = upper.sign() * contact.normal;
        contact.of_side(upper.other()).filter(|(_, w)| w.abs() >= LIGHT).map(|(p, _)| self.holds(window, p, up)).max().unwrap_or(0)
    }

    /// The level of a point, [`UNSUPPORTED`] if nothing holds it against a push along -`up`.
    pub fn holds(&self, window: &CcdWindow, point: u32, up: DVec3) -> u16 {
        let p = point as usize;
        match self.level.get(p) {
            _ if window.inverse_mass[p] == 0.0 => 0,
            Some(level) if self.up[p].dot(up) >= AGAINST => *level,
            _ => UNSUPPORTED,
        }
    }

    /// Lets the lower side of a contact stand, if one does; returns the level of the contact.
    pub fn settle(&self, window: &CcdWindow, contact: &mut FeatureContact) -> u16 {
        for upper in [Side::First, Side::Second] {
            let height = self.height(window, contact, upper);
            let is_above = |(p, _): (u32, f64)| self.level.get(p as usize).is_some_and(|level| *level > height);
            if height < UNSUPPORTED && contact.of_side(upper).all(is_above) {
                contact.stand(upper, &window.inverse_mass);
                contact.slowness = slowness(height);
                return height;
            }
        }
        UNSUPPORTED
    }
}

/// Whether the features of a contact touch as the window begins.
fn touches(window: &CcdWindow, contact: &FeatureContact) -> bool {
    let parts = contact.points.iter().zip(contact.weights);
    let gap = parts.map(|(p, w)| w * window.start[*p as usize].dot(contact.normal)).sum::<f64>();
    gap < window.params.hovers * contact.distance
}

/// Share of the speed at which what is too near parts, where the lower side has a level [1]: all that lies above goes along, and is not to take off.
pub fn slowness(level: u16) -> f64 {
    f64::from(level.max(1)).powi(-2)
}

impl Supports {
    /// What weighs on every particle but did not push it in the sub-step before [kg·m]; empty if nothing does.
    pub fn loads(&self) -> &[f64] {
        if self.is_loaded { &self.loads } else { &[] }
    }

    /// Sums up from the top downwards what the pushes of a sub-step have not put on the lower sides: `contacts` are sorted by level, `rigid` are the impulses of free
    /// bodies on particles that stand.
    pub fn carry_loads(
        &mut self,
        contacts: &[FeatureContact],
        done: &mut [Done],
        rigid: impl Iterator<Item = (u32, f64)>,
    ) {
        // What is zero still need not be made so in every sub-step.
        if self.is_loaded {
            self.loads.fill(0.0);
        }
        if !self.stopping.is_empty() {
            self.held.fill(0.0);
        }
        self.is_loaded = false;
        for (p, load) in rigid {
            self.loads[p as usize] += load;
            self.is_loaded = true;
        }
        let n = self.loads.len();
        done.iter_mut().for_each(|done| done.load = 0.0);
        // Most contacts stop nothing, and need not be looked at.
        let stops = |k: &usize| done[*k].stopped > 0.0;
        self.stopping.clear();
        self.stopping.extend((0..contacts.len()).filter(stops));
        for &k in &self.stopping {
            let (contact, push) = (&contacts[k], done[k].stopped / contacts[k].give);
            let upper = contact.upper.into_iter().flat_map(|upper| contact.of_side(upper));
            upper.for_each(|(p, w)| self.held[p as usize] += w.abs() * push);
        }
        self.is_loaded |= !self.stopping.is_empty();
        for &k in self.stopping.iter().rev() {
            let contact = &contacts[k];
            let Some(upper) = contact.upper else { continue };
            let push = done[k].stopped / contact.give;
            let share = |(p, w): (u32, f64)| {
                let (load, held) = (self.loads[p as usize], self.held[p as usize]);
                if held > 0.0 { load * w.abs() * push / held } else { 0.0 }
            };
            let load: f64 = contact.of_side(upper).map(share).sum();
            done[k].load = load * contact.whole_give;
            for (p, w) in contact.of_side(upper.other()).filter(|(p, _)| (*p as usize) < n) {
                self.loads[p as usize] += w.abs() * (push + load);
            }
        }
    }
}
