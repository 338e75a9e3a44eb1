//! The contacts of a window: listed at its start, answered in each of its sub-steps.

use super::blocks::{BlockMotion, ContactBlocks};
use super::projection::{self, ContactMotion, Done, Ends, FeatureContact};
use super::supports::{Supports, UNSUPPORTED};
use crate::collide::broad_phase::candidates::Pair;
use crate::collide::ccd::candidate_cache::{CandidateCache, TASK, room_for};
use crate::collide::ccd::check::Hit;
use crate::collide::ccd::separating_axis_filter::SeparatingAxisFilter;
use crate::collide::ccd::tangles::Tangles;
use crate::collide::ccd::window::{CcdWindow, for_every_two};
use crate::collide::is_smooth;
use crate::collide::rigid::contacts::{Begin, RigidContacts};
use crate::collide::surface::CollisionSurface;
use crate::math::lanes::InstructionSet;
use crate::math::{DVec3, Pose, Vec4};
use crate::model::params::CollisionParams;
use crate::model::{Collider, Form, Model};
use crate::parallel;

/// Share of the way from the floor to the distance at which learned contacts end at least [1]: on the floor itself a proof would fail again.
const ABOVE_FLOOR: f64 = 0.05;

/// What is near and is pushed apart where it presses.
#[derive(Debug)]
pub struct Contacts {
    /// Between features, and what was done for each of them in this sub-step.
    list: Vec<FeatureContact>,
    done: Vec<Done>,
    /// The level of each, and all of them for sweeps of many at once; whether these have what is in the list, and whether they know more of what was done.
    level: Vec<u16>,
    blocks: ContactBlocks,
    in_blocks: bool,
    begun: bool,
    /// Whether anything was done, or weighs on anything, since they were listed or the sub-step has begun.
    any_done: bool,
    /// Those of free bodies.
    rigid_contacts: RigidContacts,
    supports: Supports,
    /// Share of the pad within which contacts are listed [1], and which edges. A method that answers what CCD finds needs fewer.
    listed: f64,
    ends: Ends,
    /// Whether friction holds nothing in the rest of this sub-step.
    slips: bool,
    /// Whether led bodies rest where they end in the rest of this sub-step.
    stopped: bool,
    /// How far led bodies move in this sub-step, on average [m].
    carried: DVec3,
    /// Points of bodies at the start and at the end of a sub-step [m], and when that is [s].
    bodies: [Vec<DVec3>; 2],
    end_of_bodies: f64,
    /// When this sub-step begins and ends [s], as long as they have not been put there: without contacts nobody asks.
    to_place: Option<[f64; 2]>,
    /// For every two objects: whether their contacts are none of features: particles keep clear of the solid on their own, or one moves freely.
    met_otherwise: Vec<bool>,
    set: InstructionSet,
    shadowed: Vec<bool>,
    levels: Vec<(u16, u32)>,
    sorted: Vec<FeatureContact>,
    /// Places of those with bodies, and of those around some particles.
    with_bodies: Vec<usize>,
    nearby: Vec<usize>,
    tasks: Vec<ListTask>,
}

/// Room for looking at some of the pairs.
#[derive(Debug, Default)]
struct ListTask {
    filter: SeparatingAxisFilter,
    contacts: Vec<FeatureContact>,
}

impl Contacts {
    /// None yet.
    pub fn new(model: &Model, window: &CcdWindow) -> Self {
        let surface = &window.surface;
        let learns = model.method.keeps_lengths();
        let mut bodies = vec![DVec3::ZERO; surface.points - surface.particles];
        surface.place_bodies(model, 0.0, &mut bodies);
        Self {
            list: Vec::new(),
            done: Vec::new(),
            level: Vec::new(),
            blocks: ContactBlocks::default(),
            in_blocks: false,
            begun: false,
            any_done: false,
            rigid_contacts: RigidContacts::new(surface, &window.free),
            supports: Supports::new(model),
            listed: if learns { window.params.listed } else { 1.0 },
            ends: if learns { Ends::OfRound } else { Ends::OfNone },
            slips: false,
            stopped: false,
            carried: DVec3::ZERO,
            to_place: None,
            bodies: [bodies.clone(), bodies],
            end_of_bodies: f64::NAN,
            met_otherwise: met_otherwise(model, surface),
            set: InstructionSet::available()[0],
            shadowed: Vec::new(),
            levels: Vec::new(),
            sorted: Vec::new(),
            with_bodies: Vec::new(),
            nearby: Vec::new(),
            tasks: Vec::new(),
        }
    }

    /// Begins a step, which is to depend on nothing that was before it but the state.
    pub fn begin_step(&mut self) {
        self.rigid_contacts.forget();
        self.supports.forget();
    }

    /// Lists the pairs that are near, or would be at the end of the window, in their order; `pad` is how much further than what they keep is near [m].
    /// Those that are shown to stay further apart no longer wait for their check.
    pub fn list(
        &mut self,
        model: &Model,
        (window, times): (&mut CcdWindow, [f64; 2]),
        found: &mut CandidateCache,
        tangles: &Tangles,
        pad: f64,
    ) {
        let (pairs, waiting) = found.waiting();
        window.widen();
        let CcdWindow { surface, start, end, inverse_mass, .. } = &*window;
        let (near, ends) = (self.listed * pad, self.ends);
        let approach = |contact: &FeatureContact| {
            let way = |k: usize| end[contact.points[k] as usize] - start[contact.points[k] as usize];
            let parting: f64 = (0..4).map(|k| contact.weights[k] * way(k).dot(contact.normal)).sum();
            near - parting.min(0.0)
        };
        let (set, wide, met_otherwise) = (self.set, window.wide(), &self.met_otherwise);
        let asked = |pair: &Pair| {
            let of_features = !met_otherwise[window.place_of_two(window.objects(pair))];
            of_features.then(|| window.kept(pair).distance + pad)
        };
        let tasks = room_for(pairs.len(), &mut self.tasks);
        parallel::each_chunk_with(waiting, TASK, tasks, |number, waiting, task| {
            let pairs = parallel::chunk(pairs, TASK, number);
            task.contacts.clear();
            let left = task.filter.undecided(set, pairs, wide, |place, pair| {
                let asked = asked(pair);
                waiting[place] = asked.is_none();
                asked
            });
            for &place in left {
                let pair = &pairs[place as usize];
                waiting[place as usize] = true;
                if !tangles.has(surface, pair) {
                    task.contacts.extend(FeatureContact::of(surface, pair, start, inverse_mass, approach, ends));
                }
            }
        });
        self.list.clear();
        tasks.iter().for_each(|task| self.list.extend(&task.contacts));
        projection::drop_shadowed(&mut self.list, &mut self.shadowed);
        let through = tangles.through().iter();
        self.list.extend(through.filter_map(|pair| FeatureContact::back(surface, pair, start, inverse_mass)));
        self.list_touches(window, pairs, tangles, near);
        self.settle(model, window, times);
    }

    /// Orders contacts from the supports upwards, and lets what lies on them stand.
    fn settle(&mut self, model: &Model, window: &CcdWindow, times: [f64; 2]) {
        let Self { list, level, levels, sorted, supports, .. } = self;
        supports.find(model, window, times, list);
        levels.clear();
        levels.extend(list.iter_mut().zip(0..).map(|(contact, k)| (supports.settle(window, contact), k)));
        levels.sort_unstable();
        sorted.clear();
        sorted.extend(levels.iter().map(|(_, k)| list[*k as usize]));
        list.copy_from_slice(sorted);
        level.clear();
        level.extend(levels.iter().map(|(level, _)| *level));
        let (list, particles) = (&self.list, window.surface.particles);
        self.with_bodies.clear();
        self.with_bodies.extend((0..list.len()).filter(|k| list[*k].meets_body(particles)));
        (self.in_blocks, self.begun, self.any_done) = (false, false, false);
        self.rigid_contacts.settle(|p, up| supports.holds(window, p, up));
        self.done.clear();
        self.done.resize(self.list.len(), Done::default());
    }

    /// Lists all that is near from now on, or what a method that answers what CCD finds needs.
    pub fn list_all_near(&mut self, all: bool, params: &CollisionParams) {
        self.listed = if all { 1.0 } else { params.listed };
        self.supports.by_touch = all;
    }

    /// Whether there are none, but for those of particles with closed-form solids.
    pub fn are_none(&self) -> bool {
        self.list.is_empty()
    }

    /// How many layers lie on what is led, at most.
    pub fn depth(&self) -> u32 {
        u32::from(self.supports.depth)
    }

    /// What weighs on particles and has not pushed them in the sub-step before [kg·m]; empty if nothing does.
    pub fn loads(&self) -> &[f64] {
        self.supports.loads()
    }

    /// Takes what would meet for a contact, with the directions that it has just before.
    pub fn learn(&mut self, model: &Model, window: &CcdWindow, pairs: &[Pair], hits: &[Hit]) {
        self.place_bodies(model, window);
        let CcdWindow { surface, start, end, inverse_mass, free, .. } = window;
        self.tell_done();
        self.in_blocks = false;
        self.rigid_contacts.begin_learning();
        for hit in hits {
            let pair = &pairs[hit.pair as usize];
            let at = pair.points.map(|p| start[p as usize].lerp(end[p as usize], hit.time));
            if window.objects(pair).into_iter().any(|object| free.of_object(object).is_some()) {
                self.rigid_contacts.learn(surface, free, inverse_mass, pair, &at);
            } else if let Some(mut contact) = FeatureContact::learn(surface, pair, &at, inverse_mass) {
                self.supports.settle(window, &mut contact);
                let parts = contact.points.iter().zip(contact.weights);
                let gap = parts.map(|(p, w)| w * start[*p as usize]).sum::<DVec3>().dot(contact.normal);
                let kept = window.kept(pair);
                contact.distance = gap.clamp(kept.floor + ABOVE_FLOOR * (kept.distance - kept.floor), contact.distance);
                if contact.meets_body(surface.particles) {
                    self.with_bodies.push(self.list.len());
                }
                self.list.push(contact);
                self.done.push(Done::default());
                // They come last, whatever they lie on.
                self.level.push(UNSUPPORTED);
            }
        }
    }

    /// The contacts of free bodies.
    fn list_touches(&mut self, window: &CcdWindow, pairs: &[Pair], tangles: &Tangles, pad: f64) {
        let CcdWindow { surface, free, start, end, inverse_mass, .. } = window;
        if free.is_empty() {
            return;
        }
        let begin = Begin { surface, bodies: free, start, end, inverse_mass, pad };
        let is_free = |object: usize| free.of_object(object).is_some();
        let of_bodies =
            |pair: &&Pair| window.objects(pair).into_iter().any(is_free) && !tangles.has(surface, pair);
        let planes = window.planes.iter().filter_map(|object| Some((*object, window.poses[*object]?[0])));
        self.rigid_contacts.list(&begin, pairs.iter().filter(of_bodies), planes);
    }

    /// Starts a sub-step `[from, until]` [s].
    pub fn begin_substep(&mut self, model: &Model, window: &CcdWindow, times: [f64; 2]) {
        (self.slips, self.stopped) = (false, false);
        self.tell_done();
        let surface = &window.surface;
        let Self { list, done, supports, rigid_contacts, .. } = self;
        supports.carry_loads(list, done, rigid_contacts.loads());
        done.iter_mut().for_each(|done| *done = Done { load: done.load, ..Done::default() });
        self.any_done = done.iter().any(|done| done.load != 0.0);
        let place = |object: usize| {
            let poses = |c: &Collider| times.map(|time| c.pose(time));
            surface.objects[object].body.map_or([Pose::IDENTITY; 2], |b| poses(&model.colliders[b]))
        };
        self.rigid_contacts.begin_substep(place);
        self.to_place = Some(times);
        if !self.list.is_empty() || !window.free.is_empty() {
            self.place_bodies(model, window);
        }
    }

    /// Puts led bodies where they are in this sub-step, unless they are there.
    fn place_bodies(&mut self, model: &Model, window: &CcdWindow) {
        let Some(times) = self.to_place.take() else { return };
        if self.end_of_bodies == times[0] {
            self.bodies.swap(0, 1);
        } else {
            window.surface.place_moving_bodies(model, times[0], &mut self.bodies[0]);
        }
        window.surface.place_moving_bodies(model, times[1], &mut self.bodies[1]);
        self.end_of_bodies = times[1];
        let led = model.colliders.iter().filter(|collider| collider.free.is_none());
        let [from, until] = times.map(|time| led.clone().map(|c| c.pose(time).position).sum::<DVec3>());
        self.carried = (until - from) / led.count().max(1) as f64;
    }

    /// Led bodies rest where they end from now on in this sub-step: what is corrected takes no time.
    pub fn stop_bodies(&mut self) {
        self.tell_done();
        self.stopped = true;
    }

    /// At which end of the sub-step led bodies start, and how far they move from there, on average [m].
    fn from(&self) -> (usize, DVec3) {
        if self.stopped { (1, DVec3::ZERO) } else { (0, self.carried) }
    }

    /// Lets all that touches slide from now on in this sub-step.
    pub fn let_slip(&mut self) {
        self.slips = true;
    }

    /// One sweep over all of them: particles were `before` [m] and are `after`, which is changed; `moved` is told who moved how far [m]. Returns
    /// whether anything moved much.
    pub fn project(
        &mut self,
        window: &CcdWindow,
        before: &[Vec4],
        after: &mut [Vec4],
        h: f64,
        mut moved: impl FnMut(usize, DVec3),
    ) -> bool {
        let moved_from = motion(window, &self.bodies, self.from(), before, (h, self.slips));
        let furthest = projection::project(&self.list, &mut self.done, &moved_from, after, &mut moved);
        let any = self.rigid_contacts.project(&window.free, &moved_from, after, moved);
        any || furthest > window.params.settled * window.thinnest
    }

    /// The same with many at once, of particles that are told when they are moved.
    pub fn project_at_once(
        &mut self,
        window: &CcdWindow,
        before: &[Vec4],
        after: &mut [Vec4],
        h: f64,
        mut touched: impl FnMut(usize),
    ) -> bool {
        let ((from, carried), particles) = (self.from(), after.len());
        let bodies = [&self.bodies[from][..], &self.bodies[1][..]];
        if !self.in_blocks {
            self.blocks.take(&self.list, &self.level, particles);
        }
        if !self.begun || !self.in_blocks {
            let done = self.any_done.then_some(&self.done[..]);
            self.blocks.begin(&self.list, done, bodies, particles);
        }
        (self.in_blocks, self.begun) = (true, true);
        let in_blocks = BlockMotion { before, h, slips: self.slips, carried, params: window.params };
        let furthest = self.blocks.project(self.set, in_blocks, after, &mut touched);
        let moved = motion(window, &self.bodies, (from, carried), before, (h, self.slips));
        let any = self.rigid_contacts.project(&window.free, &moved, after, |i, _| touched(i));
        any || furthest > window.params.settled * window.thinnest
    }

    /// Takes up those of marked particles for sweeps over them alone.
    pub fn begin_nearby(&mut self, near: &[bool]) {
        self.tell_done();
        let Self { list, nearby, .. } = self;
        let is_near = |contact: &FeatureContact| contact.points.iter().any(|p| near.get(*p as usize) == Some(&true));
        nearby.clear();
        nearby.extend((0..list.len()).filter(|k| is_near(&list[*k])));
    }

    /// One sweep over those that were taken up, one after the other. Returns how far it moved features at most [m].
    pub fn project_nearby(
        &mut self,
        window: &CcdWindow,
        before: &[Vec4],
        after: &mut [Vec4],
        h: f64,
        mut moved: impl FnMut(usize, DVec3),
    ) -> f64 {
        let motion = motion(window, &self.bodies, self.from(), before, (h, self.slips));
        let (list, done) = (&self.list, &mut self.done);
        let answer = |k: &usize| projection::project(&list[*k..=*k], &mut done[*k..=*k], &motion, after, &mut moved);
        self.nearby.iter().map(answer).fold(0.0, f64::max)
    }

    /// The same as [`Contacts::stop_approach`] for these.
    pub fn stop_approach_nearby(&mut self, window: &CcdWindow, before: &[Vec4], after: &mut [Vec4], h: f64) {
        let moved = motion(window, &self.bodies, (0, self.carried), before, (h, self.slips));
        for &k in &self.nearby {
            projection::stop_approach(&self.list[k..=k], &self.done[k..=k], &moved, after);
        }
    }

    /// Takes what was done from the blocks, if they know.
    fn tell_done(&mut self) {
        if self.begun {
            self.blocks.end(&mut self.done);
            (self.begun, self.any_done) = (false, true);
        }
    }

    /// Takes away with which velocity still comes nearer what this sub-step has pushed apart: `before` and `after` are places one sub-step apart [m].
    pub fn stop_approach(&mut self, window: &CcdWindow, before: &[Vec4], after: &mut [Vec4], h: f64) {
        self.tell_done();
        let moved = motion(window, &self.bodies, (0, self.carried), before, (h, self.slips));
        projection::stop_approach(&self.list, &self.done, &moved, after);
        self.rigid_contacts.stop_approach(&window.free, &moved, after);
    }

    /// Those of features but for particles with closed-form solids, and Σ weights x over their points of led bodies, at the start of the
    /// window and at its end [m].
    pub fn features(
        &self,
        model: &Model,
        window: &CcdWindow,
    ) -> impl Iterator<Item = (&FeatureContact, [DVec3; 2])> {
        let n = window.surface.particles;
        let is_closed = |p: u32| {
            let body = window.surface.objects[window.object_of(p)].body;
            body.is_some_and(|b| matches!(model.colliders[b].form, Form::Closed(_)))
        };
        let of_corner =
            move |c: &FeatureContact| c.weights[0] == 1.0 && c.drags[0] != 0.0 && is_closed(c.points[1]);
        self.list.iter().filter(move |contact| !of_corner(contact)).map(move |contact| {
            let led = |at: &[DVec3]| {
                let parts = contact.points.iter().zip(contact.weights);
                parts.filter(|(p, _)| **p as usize >= n).map(|(p, w)| w * at[*p as usize]).sum()
            };
            (contact, [led(&window.start), led(&window.end)])
        })
    }

    /// Tells by which impulses bodies, whose points come after so many particles, have pushed cloth along their normals in this sub-step [kg·m].
    pub fn pushes_of_bodies(&mut self, particles: usize, mut tell: impl FnMut(usize, f64)) {
        if !self.with_bodies.is_empty() {
            self.tell_done();
        }
        let pushed = self.with_bodies.iter().map(|k| (&self.list[*k], &self.done[*k]));
        for (contact, done) in pushed.filter(|(_, done)| done.push > 0.0) {
            let members = contact.points.iter().map(|p| *p as usize).zip(contact.weights);
            let felt = (done.push - done.stopped + done.load) / contact.whole_give;
            let push = felt + done.stopped / contact.give;
            members.filter(|(p, w)| *p < particles && *w != 0.0).for_each(|(p, w)| tell(p, w.abs() * push));
        }
        self.rigid_contacts.pushes().for_each(|(p, push)| tell(p as usize, push));
    }

    /// How many have pushed in this sub-step.
    pub fn touching(&mut self) -> u32 {
        self.tell_done();
        self.done.iter().filter(|done| done.push > 0.0).count() as u32 + self.rigid_contacts.touching()
    }
}

/// Where everything is in a sub-step of `h` [s], in which led bodies start at one of their ends and move on average so far [m], and whether friction holds
/// nothing.
fn motion<'a>(
    window: &CcdWindow,
    bodies: &'a [Vec<DVec3>; 2],
    (from, carried): (usize, DVec3),
    before: &'a [Vec4],
    (h, slips): (f64, bool),
) -> ContactMotion<'a> {
    let bodies = [&bodies[from][..], &bodies[1][..]];
    ContactMotion { before, bodies, from, carried, h, slips, params: window.params }
}

fn met_otherwise(model: &Model, surface: &CollisionSurface) -> Vec<bool> {
    let is_free = |o: usize| surface.objects[o].body.is_some_and(|b| model.colliders[b].free.is_some());
    // Cloths come before bodies.
    for_every_two(surface, |a, b| match (model.cloths.get(a.min(b)), surface.objects[a.max(b)].body) {
        _ if is_free(a) || is_free(b) => true,
        (Some(cloth), Some(body)) => match &model.colliders[body].form {
            Form::Closed(shape) => is_smooth(shape, cloth),
            Form::Mesh(_) => false,
        },
        _ => false,
    })
}
