//! What pushes do not part is slowed down: the points of hits are joined into zones, which move together the more the longer they fail.

use super::candidate_cache::CandidateCache;
use super::check::{Hit, KEEPS};
use super::distance::closest;
use super::window::{CcdWindow, plane};
use super::zones::Zones;
use crate::collide::broad_phase::candidates::Pair;
use crate::collide::rigid::nearest::nearest;
use crate::math::{DVec3, Pose};
use crate::model::{Form, Model, PosedShape, Shape};

/// The zones of a window and their motions.
#[derive(Debug)]
pub struct ImpactZones {
    zones: Zones,
    commons: Vec<Common>,
    /// Per object: whether it is a body whose points move against each other.
    deforms: Vec<bool>,
    /// Per particle: what such bodies have led it by where it met them, as a sum [m], and how often.
    carried: Vec<(DVec3, f64)>,
    /// The ends before zones changed them [m].
    proposed: Vec<DVec3>,
}

impl ImpactZones {
    /// Room for a model.
    pub fn new(model: &Model, window: &CcdWindow) -> Self {
        let surface = &window.surface;
        let deforms = |form: &Form| matches!(form, Form::Mesh(mesh) if mesh.deforms());
        let objects = surface.objects.iter();
        Self {
            zones: Zones::new(surface.points + surface.objects.len()),
            commons: vec![Common::default(); surface.points + surface.objects.len()],
            deforms: objects.map(|o| o.body.is_some_and(|b| deforms(&model.colliders[b].form))).collect(),
            carried: vec![(DVec3::ZERO, 0.0); surface.particles],
            proposed: Vec::new(),
        }
    }

    /// No zones: every point ends where the window says.
    pub fn begin(&mut self, window: &CcdWindow) {
        self.proposed.clone_from(&window.end);
        self.zones.clear();
        self.carried.fill((DVec3::ZERO, 0.0));
    }

    /// Joins and slows the points of every hit. Returns how many pairs nothing keeps apart; these wait for their check no longer.
    pub fn slow_down(&mut self, window: &mut CcdWindow, found: &mut CandidateCache, hits: &[Hit]) -> u32 {
        let mut pinched = 0;
        let (pairs, waiting) = found.waiting();
        self.carry(window, pairs, hits);
        for hit in hits {
            let nodes = pairs[hit.pair as usize].points.map(|p| self.node(window, p));
            if !self.zones.slow(nodes) {
                waiting[hit.pair as usize] = false;
                pinched += 1;
            }
        }
        for (p, object) in below_planes(window) {
            let p = self.node(window, p as u32);
            self.zones.slow([p, p, p, window.surface.points + object]);
        }
        self.zones.close_round();
        self.find_common_motions(window);
        self.slow_particles(window);
        self.slow_bodies(window);
        pinched
    }

    /// Lets particles of zones end where what is left of their own motion brings them.
    fn slow_particles(&self, window: &mut CcdWindow) {
        let CcdWindow { cloth_particles, inverse_mass, start, end, changed, poses, .. } = window;
        for p in (0..*cloth_particles).filter(|p| inverse_mass[*p] > 0.0) {
            let (zone, share) = self.zones.of(p);
            if share < 1.0 {
                let way = match self.carried[p] {
                    (ways, times) if times > 0.0 => ways / times,
                    _ => self.commons[zone].way(poses, start[p]),
                };
                let slowed = start[p] + way + share * (self.proposed[p] - start[p] - way);
                changed[p] = slowed != end[p];
                end[p] = slowed;
            }
        }
    }

    /// The same for free bodies.
    fn slow_bodies(&self, window: &mut CcdWindow) {
        let CcdWindow { surface, free, start, end, changed, poses, .. } = window;
        for free in free.iter() {
            let (zone, share) = self.zones.of(surface.points + free.object);
            if share < 1.0 {
                for p in free.body.nodes.clone() {
                    let way = self.commons[zone].way(poses, start[p]);
                    end[p] = start[p] + way + share * (self.proposed[p] - start[p] - way);
                }
                free.keep_rigid(end);
                changed[free.points.clone()].fill(true);
            }
        }
    }

    /// Lets particles that meet a body that deforms go with the very place where they meet it: it has no motion in common with the rest of the body.
    fn carry(&mut self, window: &CcdWindow, pairs: &[Pair], hits: &[Hit]) {
        let CcdWindow { surface, start, end, .. } = window;
        for pair in hits.iter().map(|hit| &pairs[hit.pair as usize]) {
            let points = pair.points.map(|p| p as usize);
            let of_body =
                |p: usize| p >= surface.particles && self.deforms[surface.object_of_point(p as u32)];
            if !points.iter().any(|p| of_body(*p)) {
                continue;
            }
            let near = closest(pair.kind, &points.map(|p| start[p]));
            let (mut way, mut weight) = (DVec3::ZERO, 0.0);
            for k in (0..4).filter(|k| of_body(points[*k])) {
                way += near.weights[k].abs() * (end[points[k]] - start[points[k]]);
                weight += near.weights[k].abs();
            }
            for p in points.into_iter().filter(|p| weight > 0.0 && *p < surface.particles) {
                let (ways, times) = &mut self.carried[p];
                (*ways, *times) = (*ways + way / weight, *times + 1.0);
            }
        }
    }

    /// The node of a point in [`Zones`]: its own, or that of its body.
    fn node(&self, window: &CcdWindow, point: u32) -> usize {
        let object = window.surface.object_of_point(point);
        let own = (point as usize) < window.surface.particles || self.deforms[object];
        if own { point as usize } else { window.surface.points + object }
    }

    /// The common motion of every zone: of the body in it, of a pin, or the mean.
    fn find_common_motions(&mut self, window: &CcdWindow) {
        let CcdWindow { surface, free, inverse_mass, start, .. } = window;
        self.commons.fill(Common::default());
        // Points of bodies that deform are nodes of their own, led like pins.
        for p in 0..surface.points {
            let (zone, share) = self.zones.of(p);
            if share < 1.0 {
                let (way, w) = (self.proposed[p] - start[p], inverse_mass[p]);
                self.commons[zone].add(way, if w > 0.0 { 1.0 / w } else { f64::INFINITY });
            }
        }
        for object in 0..surface.objects.len() {
            let (zone, share) = self.zones.of(surface.points + object);
            if share < 1.0 {
                match free.of_object(object).map(|number| &free.get(number).body) {
                    Some(body) => {
                        let ways = body.nodes.clone().map(|p| self.proposed[p] - start[p]);
                        self.commons[zone].add(0.25 * ways.sum::<DVec3>(), body.mass);
                    }
                    None => {
                        self.commons[zone].body.get_or_insert(object);
                    }
                }
            }
        }
    }
}

/// Points that end in a half-space, with its object.
fn below_planes(window: &CcdWindow) -> Vec<(usize, usize)> {
    let CcdWindow { surface, free, cloth_particles, inverse_mass, end, poses, .. } = window;
    let mut below = Vec::new();
    for &object in &window.planes {
        let Some(after) = plane(poses, object) else { continue };
        let of_cloths = (0..*cloth_particles).filter(|p| inverse_mass[*p] > 0.0);
        for p in of_cloths.chain(free.iter().flat_map(|free| free.points.clone())) {
            let floor = KEEPS * surface.between(surface.object_of_point(p as u32), object).floor;
            if nearest(&after, end[p], floor).is_some() {
                below.push((p, object));
            }
        }
    }
    below
}

/// Points that a window takes into a half-space: what starts in one has nothing to keep.
pub fn sunk(window: &CcdWindow) -> usize {
    let CcdWindow { surface, start, poses, .. } = window;
    let starts_above = |(p, object): &(usize, usize)| {
        let before = poses[*object].map(|[pose, _]| PosedShape { shape: Shape::Plane, pose });
        let floor = KEEPS * surface.between(surface.object_of_point(*p as u32), *object).floor;
        before.is_none_or(|plane| nearest(&plane, start[*p], floor).is_none())
    };
    below_planes(window).iter().filter(|below| starts_above(below)).count()
}

/// The motion that a zone has in common.
#[derive(Debug, Clone, Copy, Default)]
struct Common {
    /// The object that leads it, if one does.
    body: Option<usize>,
    /// Mass [kg] and mass times way [kg·m] of its particles; of pins their number and ways.
    mass: f64,
    ways: DVec3,
    pins: f64,
    pin_ways: DVec3,
}

impl Common {
    fn add(&mut self, way: DVec3, mass: f64) {
        if mass.is_finite() {
            (self.mass, self.ways) = (self.mass + mass, self.ways + mass * way);
        } else {
            (self.pins, self.pin_ways) = (self.pins + 1.0, self.pin_ways + way);
        }
    }

    /// How far it takes a point at `x` [m].
    fn way(&self, poses: &[Option<[Pose; 2]>], x: DVec3) -> DVec3 {
        match self.body.and_then(|object| poses[object]) {
            Some([before, after]) => after.to_world(before.to_local(x)) - x,
            None if self.pins > 0.0 => self.pin_ways / self.pins,
            None => self.ways / self.mass,
        }
    }
}
