//! The contact pipeline: no motion is accepted unless every pair of features was shown apart along all of it.
//!
//! A method takes a window of time at once: one or more of its sub-steps. [`ContactPipeline::begin`] finds what may touch on the way, the method
//! answers these contacts as it goes, and [`ContactPipeline::resolve`] proves the straight motion from the start of the window to its end, or changes the end
//! until the proof holds: a few rounds of pushes, then zones that move together. No property of a method is used.

use super::broad_phase::candidates::Pair;
use super::ccd::candidate_cache::CandidateCache;
use super::ccd::check::CcdCheck;
use super::ccd::impact_zones::{ImpactZones, sunk};
use super::ccd::push::{lift, push};
use super::ccd::tangles::Tangles;
use super::ccd::window::{CcdWindow, POINTS};
use super::contact::contacts::Contacts;
use super::contact::projection::FeatureContact;
use super::contact::through::Crossing;
use crate::math::{DVec3, Vec4};
use crate::model::params::CollisionParams;
use crate::model::{Environment, Model};
use crate::parallel;
use std::ops::AddAssign;

/// What was shown apart at its start, by the pad more than is kept, still is where both ends have moved by this share of the pad: half of it, but for
/// roundings.
const SHOWN: f64 = 0.49;

/// Watches over a model. All of it is scratch: what it does depends on the positions alone.
#[derive(Debug)]
pub struct ContactPipeline {
    params: CollisionParams,
    window: CcdWindow,
    found: CandidateCache,
    contacts: Contacts,
    tangles: Tangles,
    check: CcdCheck,
    impact_zones: ImpactZones,
    /// The ends that were last checked [m].
    checked: Vec<DVec3>,
    /// How far pairs reach beyond the distances that are kept [m]: the further the more seldom they are found, and the more there are.
    pad: f64,
    /// How far led bodies have moved against what they came near in a sub-step of the window before [m].
    body_way: f64,
}

/// What the end of a window took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CcdStats {
    /// Pairs that would have met.
    pub hits: u32,
    /// Rounds in which the method answered what would have met.
    #[cfg_attr(feature = "serde", serde(default))]
    pub learned: u32,
    /// Rounds of checks after these.
    pub rounds: u32,
    /// Rounds in which particles had to move together.
    pub slowed: u32,
    /// Pairs that led things press through one another: no motion of the cloth keeps them apart.
    pub pinched: u32,
}

impl AddAssign for CcdStats {
    fn add_assign(&mut self, other: Self) {
        self.hits += other.hits;
        self.learned += other.learned;
        self.rounds += other.rounds;
        self.slowed += other.slowed;
        self.pinched += other.pinched;
    }
}

impl ContactPipeline {
    /// Room for a model; `None` if nothing in it can touch.
    pub fn new(model: &Model, environment: &Environment) -> Option<Self> {
        if !model.cloth_meets_cloth && model.colliders.is_empty() {
            return None;
        }
        let longest_edge = model.cloths.iter().map(|c| c.longest_edge).fold(0.0, f64::max);
        let window = CcdWindow::new(model, environment, longest_edge);
        let pad = model.params.collision.pad * longest_edge;
        // Between thin layers much is near. A method that answers what CCD finds need not look so far ahead.
        let thin = model.params.collision.pad_of_thickness * window.thinnest;
        Some(Self {
            found: CandidateCache::new(&window),
            contacts: Contacts::new(model, &window),
            tangles: Tangles::default(),
            check: CcdCheck::new(),
            impact_zones: ImpactZones::new(model, &window),
            checked: Vec::new(),
            pad: if model.method.keeps_lengths() { pad.min(thin) } else { pad },
            params: model.params.collision,
            window,
            body_way: 0.0,
        })
    }

    /// Tells what intersects now: pairs of cloth triangles, and cloth triangles that cut into a body, which do not block one another; and what has gone through
    /// the surface of a collider: contacts lead it back.
    pub fn tangle(
        &mut self,
        cloth_cloth: &[[u32; 2]],
        in_bodies: impl Iterator<Item = u32>,
        through: impl Iterator<Item = (usize, Crossing)>,
    ) {
        self.tangles.set(&self.window.surface, cloth_cloth, in_bodies, through);
        self.window.any_inside = self.tangles.any_in_bodies();
    }

    /// Whether something intersected when [`ContactPipeline::tangle`] was last called.
    pub fn is_tangled(&self) -> bool {
        !self.tangles.is_empty()
    }

    /// What intersects.
    pub(crate) fn tangles(&self) -> &Tangles {
        &self.tangles
    }

    /// Begins a step, which is to depend on nothing that was before it but the state.
    pub fn begin_step(&mut self) {
        self.contacts.begin_step();
        self.body_way = 0.0;
    }

    /// By how much led bodies would move further against what they come near than they should within a sub-step, in a motion from every `position` by its `way` [m] and as long
    /// as `times` say [s]: 1 or less if they do not.
    pub fn haste_of_bodies(
        &mut self,
        model: &Model,
        times: [f64; 2],
        position: impl Fn(usize) -> DVec3 + Sync,
        way: impl Fn(usize) -> DVec3 + Sync,
    ) -> f64 {
        self.place(model, times, position, way);
        if !self.window.has_fast_bodies() {
            return 0.0;
        }
        self.found.find(&self.window, self.pad);
        self.window.way_of_bodies(self.found.pairs()) / self.window.fastest()
    }

    /// How many sub-steps the window may have beside led bodies that are as fast as in the one before.
    pub fn substeps_beside_bodies(&self) -> Option<u32> {
        let fastest = self.window.fastest();
        (self.body_way > 0.0).then(|| (fastest / self.body_way).clamp(1.0, 1e6) as u32)
    }

    /// The same, now that the window has begun with `substeps`.
    pub fn substeps_beside_bodies_now(&mut self, substeps: u32) -> Option<u32> {
        let is_fast = self.window.has_fast_bodies() || self.body_way > 0.0;
        let way = if is_fast { self.window.way_of_bodies(self.found.pairs()) } else { 0.0 };
        self.body_way = way / f64::from(substeps);
        self.substeps_beside_bodies()
    }

    /// Whether all that is near becomes a contact at the start of a window, or only what is nearest, for methods that answer what CCD finds later.
    pub fn list_all_near(&mut self, all: bool) {
        self.contacts.list_all_near(all, &self.params);
    }

    /// How many sub-steps a window may have in which particles would move by `ways` each [m]: no more than in which what touches changes.
    pub fn substeps(&mut self, ways: &[DVec3]) -> u32 {
        self.window.substeps(ways, false)
    }

    /// The same in a heap, if the window has begun with one: there contacts change within a thickness.
    pub fn substeps_in_heap(&mut self, ways: &[DVec3]) -> Option<u32> {
        (self.contacts.depth() >= self.params.heap_depth).then(|| self.window.substeps(ways, true))
    }

    /// Starts a window of time `[from, until]` [s] at clean positions, from which every particle would move by its `way` [m], and finds what may touch.
    pub fn begin(
        &mut self,
        model: &Model,
        times: [f64; 2],
        position: impl Fn(usize) -> DVec3 + Sync,
        way: impl Fn(usize) -> DVec3 + Sync,
    ) {
        // What is listed depends a little on what was found: on nothing from before, or an interruption would show.
        self.found.forget();
        self.begin_shorter(model, times, position, way);
    }

    /// The same, now that the window has begun, if nothing is near and the method answers what is found at its end.
    pub fn substeps_if_free(&mut self, ways: &[DVec3]) -> Option<u32> {
        self.contacts.are_none().then(|| self.window.substeps_if_free(ways)).flatten()
    }

    /// Lets the window that has just begun, in which nothing is near, end later. What was found is for its first end: whoever ends elsewhere is seen by
    /// [`ContactPipeline::end`].
    pub fn end_later(
        &mut self,
        model: &Model,
        times: [f64; 2],
        position: impl Fn(usize) -> DVec3 + Sync,
        way: impl Fn(usize) -> DVec3 + Sync,
    ) {
        self.window.place(model, times, position, way);
    }

    /// Starts the window that has just begun once more, as a shorter one: what was found for the longer serves.
    pub fn begin_shorter(
        &mut self,
        model: &Model,
        times: [f64; 2],
        position: impl Fn(usize) -> DVec3 + Sync,
        way: impl Fn(usize) -> DVec3 + Sync,
    ) {
        self.window.place(model, times, position, way);
        self.found.begin(&self.window, self.params.foresight * self.pad, self.pad);
        self.contacts.list(model, (&mut self.window, times), &mut self.found, &self.tangles, self.pad);
    }

    /// The same for a window in which no contacts are answered.
    pub fn place(
        &mut self,
        model: &Model,
        times: [f64; 2],
        position: impl Fn(usize) -> DVec3 + Sync,
        way: impl Fn(usize) -> DVec3 + Sync,
    ) {
        self.found.forget();
        self.window.place(model, times, position, way);
    }

    /// Starts a sub-step `[from, until]` [s] of the window.
    pub fn begin_substep(&mut self, model: &Model, times: [f64; 2]) {
        self.contacts.begin_substep(model, &self.window, times);
    }

    /// Led bodies rest where they end in the rest of the sub-step: what is corrected takes no time.
    pub fn stop_bodies(&mut self) {
        self.contacts.stop_bodies();
    }

    /// Lets all that touches slide in the rest of the sub-step: contacts only push.
    pub fn let_slip(&mut self) {
        self.contacts.let_slip();
    }

    /// One sweep over the contacts: particles were `before` [m] and are `after`, which is changed; `moved` is told who moved how far [m]. Returns
    /// whether anything moved.
    pub fn project_contacts(
        &mut self,
        before: &[Vec4],
        after: &mut [Vec4],
        h: f64,
        moved: impl FnMut(usize, DVec3),
    ) -> bool {
        self.contacts.project(&self.window, before, after, h, moved)
    }

    /// The same with many contacts at once: `touched` is told who was moved.
    pub fn project_contacts_at_once(
        &mut self,
        before: &[Vec4],
        after: &mut [Vec4],
        h: f64,
        touched: impl FnMut(usize),
    ) -> bool {
        self.contacts.project_at_once(&self.window, before, after, h, touched)
    }

    /// Takes away with which velocity still comes nearer what contacts have pushed apart: `before` and `after` are places one sub-step of `h` [s] apart [m].
    pub fn stop_approach(&mut self, before: &[Vec4], after: &mut [Vec4], h: f64) {
        self.contacts.stop_approach(&self.window, before, after, h);
    }

    /// What weighs on particles and has not pushed them in the sub-step before [kg·m]; empty if nothing does.
    pub fn loads(&self) -> &[f64] {
        self.contacts.loads()
    }

    /// Tells by which impulses bodies have pushed particles of cloth along their normals in this sub-step, with what lies on these [kg·m]; not those of
    /// particles with closed-form solids.
    pub fn pushes_of_bodies(&mut self, tell: impl FnMut(usize, f64)) {
        self.contacts.pushes_of_bodies(self.window.surface.particles, tell);
    }

    /// The contacts of the window but for those of particles with closed-form solids, and Σ weights x over their points of led bodies, at its
    /// start and at its end [m].
    pub fn features(&self, model: &Model) -> impl Iterator<Item = (&FeatureContact, [DVec3; 2])> {
        self.contacts.features(model, &self.window)
    }

    /// How many contacts have pushed in this sub-step.
    pub fn touching(&mut self) -> u32 {
        self.contacts.touching()
    }

    /// Ends the window: the method brought every particle to its `place` [m]. Returns how many pairs would meet; none if the motion is proven.
    pub fn end(&mut self, place: impl Fn(usize) -> DVec3 + Sync) -> usize {
        self.window.end_at(place);
        lift(&mut self.window);
        self.found.ensure_valid(&self.window, self.pad);
        self.found.tell_changed(&mut self.window, SHOWN * self.pad);
        self.check.run(&mut self.window, &mut self.found, &self.tangles);
        self.check.hits.len()
    }

    /// Takes what would meet for contacts of the window: the method may answer them and end it again.
    pub fn learn(&mut self, model: &Model) {
        self.contacts.learn(model, &self.window, self.found.pairs(), &self.check.hits);
    }

    /// Marks the particles of what would meet, if that is at most so many pairs and no body that moves freely is among them; whether it is.
    pub fn mark_hits(&self, most: usize, near: &mut [bool]) -> bool {
        let CcdWindow { free, surface, .. } = &self.window;
        let pairs = || self.check.hits.iter().map(|hit| &self.found.pairs()[hit.pair as usize]);
        let is_free = |pair: &Pair| self.window.objects(pair).into_iter().any(|object| free.of_object(object).is_some());
        if self.check.hits.len() > most || pairs().any(is_free) {
            return false;
        }
        let particles = pairs().flat_map(|pair| pair.points).filter(|p| (*p as usize) < surface.particles);
        particles.for_each(|p| near[p as usize] = true);
        true
    }

    /// Takes up the contacts of marked particles for sweeps over them alone.
    pub fn begin_nearby(&mut self, near: &[bool]) {
        self.contacts.begin_nearby(near);
    }

    /// The same as [`ContactPipeline::project_contacts`] for these contacts alone; returns how far they moved features at most [m].
    pub fn project_nearby(
        &mut self,
        before: &[Vec4],
        after: &mut [Vec4],
        h: f64,
        moved: impl FnMut(usize, DVec3),
    ) -> f64 {
        self.contacts.project_nearby(&self.window, before, after, h, moved)
    }

    /// The same as [`ContactPipeline::stop_approach`] for these contacts alone.
    pub fn stop_approach_nearby(&mut self, before: &[Vec4], after: &mut [Vec4], h: f64) {
        self.contacts.stop_approach_nearby(&self.window, before, after, h);
    }

    /// Ends the window elsewhere.
    pub fn end_again(&mut self, place: impl Fn(usize) -> DVec3 + Sync) -> usize {
        let pad = self.pad;
        let Self { window, found, check, .. } = self;
        self.checked.clone_from(&window.end);
        window.end_at(place);
        lift(window);
        found.ensure_valid(window, pad);
        let (ends, checked) = (&window.end, &self.checked);
        parallel::each(&mut window.changed, POINTS, |p, changed| *changed = ends[p] != checked[p]);
        check.run(window, found, &self.tangles);
        check.hits.len()
    }

    /// Changes the end of the window until the proof holds: a few rounds of pushes, then zones that move together. Read the accepted ends from
    /// [`ContactPipeline::ends`].
    pub fn resolve(&mut self) -> CcdStats {
        let pad = self.pad;
        let Self { window, found, check, impact_zones, .. } = self;
        let mut settled = CcdStats::default();
        for round in 0..self.params.rounds {
            if round > 0 {
                check.run(window, found, &self.tangles);
            }
            settled.rounds = round + 1;
            settled.hits = settled.hits.max(check.hits.len() as u32);
            settled.slowed += u32::from(round > self.params.pushes);
            // Pushes lift what is below a plane; zones may lower it again.
            if check.hits.is_empty() && (round <= self.params.pushes || sunk(window) == 0) {
                break;
            }
            window.changed.fill(false);
            if round < self.params.pushes {
                push(window, found.pairs(), &check.hits);
                lift(window);
            } else {
                if round == self.params.pushes {
                    impact_zones.begin(window);
                }
                settled.pinched += impact_zones.slow_down(window, found, &check.hits);
            }
            found.ensure_valid(window, pad);
        }
        if settled.rounds == self.params.rounds {
            settled.pinched += (check.hits.len() + sunk(window)) as u32;
        }
        debug_assert!(settled.pinched > 0 || self.is_proven(), "a motion was accepted without its proof: {settled:?}");
        settled
    }

    /// Whether every pair of the window is shown apart along all of it, whatever was shown before, and nothing has sunk into a plane.
    fn is_proven(&mut self) -> bool {
        self.forget_shown();
        self.check.run(&mut self.window, &mut self.found, &self.tangles);
        self.check.hits.is_empty() && sunk(&self.window) == 0
    }

    /// How far pairs reach beyond the distances that are kept [m].
    pub fn pad(&self) -> f64 {
        self.pad
    }

    /// How many pairs of the window have been shown apart: after [`ContactPipeline::begin`], at its start.
    pub fn shown(&self) -> usize {
        self.found.shown()
    }

    /// Lets every pair of the window wait for its check again: [`ContactPipeline::resolve`] then shows all of it.
    pub fn forget_shown(&mut self) {
        self.found.waiting().1.fill(true);
    }

    /// The accepted ends of the particles [m].
    pub fn ends(&self) -> &[DVec3] {
        &self.window.end[..self.window.surface.particles]
    }
}
