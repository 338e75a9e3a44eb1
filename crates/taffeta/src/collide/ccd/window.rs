//! A window of time as the contact pipeline sees it: what there is, and every point on its straight way from the start to the end.

use crate::collide::broad_phase::candidates::Pair;
use crate::collide::rigid::free::FreeBodies;
use crate::collide::surface::{CollisionSurface, Kept};
use crate::math::{DVec3, Pose, Vec4};
use crate::model::params::CollisionParams;
use crate::model::{Environment, Form, Model, PosedShape, Shape};
use crate::parallel;

/// Points that a thread looks after in a row, at least.
pub const POINTS: usize = 1024;

/// All that can touch, and how it moves.
#[derive(Debug)]
pub struct CcdWindow {
    pub surface: CollisionSurface,
    pub free: FreeBodies,
    /// Particles of cloths; those of free bodies follow.
    pub cloth_particles: usize,
    /// One over the mass of every point, 0 for what is led [1/kg].
    pub inverse_mass: Vec<f64>,
    /// All points at the start and at the end; bodies after the particles [m].
    pub start: Vec<DVec3>,
    pub end: Vec<DVec3>,
    /// Per point: whether the last round of checks moved its end.
    pub changed: Vec<bool>,
    /// Half-spaces, as numbers of objects.
    pub planes: Vec<usize>,
    /// Per object the pose of its collider at the start and at the end.
    pub poses: Vec<Option<[Pose; 2]>>,
    /// Whether cloth lies in bodies, and how far what does in a half-space comes out of it [m].
    pub any_inside: bool,
    pub parting: f64,
    /// Start and end once more, for many pairs at a time [m].
    wide: [Vec<Vec4>; 2],
    /// The object of every point, and for every two objects what they keep between them.
    object: Vec<u32>,
    kept: Vec<Kept>,
    /// The tuned numbers.
    pub params: CollisionParams,
    /// The thickness of the thinnest cloth [m].
    pub thinnest: f64,
    /// How far particles may move against each other [m], and by how many times that most of cloth may [1].
    reach: f64,
    further: f64,
    /// Squares of how far they would [m²].
    squares: Vec<f64>,
}

impl CcdWindow {
    /// Room for a model.
    pub fn new(model: &Model, environment: &Environment, longest_edge: f64) -> Self {
        let surface = CollisionSurface::new(model);
        let mut inverse_mass = environment.inverse_mass.clone();
        inverse_mass.resize(surface.points, 0.0);
        let is_plane = |o: &usize| {
            surface.objects[*o].body.is_some_and(|b| model.colliders[b].form == Form::Closed(Shape::Plane))
        };
        Self {
            free: FreeBodies::new(model, &surface),
            cloth_particles: model.cloth_particle_count(),
            inverse_mass,
            start: vec![DVec3::ZERO; surface.points],
            end: vec![DVec3::ZERO; surface.points],
            changed: vec![false; surface.points],
            planes: (0..surface.objects.len()).filter(is_plane).collect(),
            poses: vec![None; surface.objects.len()],
            any_inside: false,
            parting: 0.0,
            wide: [(); 2].map(|_| vec![Vec4::ZERO; surface.points]),
            object: (0..surface.points as u32).map(|p| surface.object_of_point(p) as u32).collect(),
            kept: for_every_two(&surface, |a, b| surface.between(a, b)),
            params: model.params.collision,
            reach: model.params.collision.window_reach * longest_edge,
            further: if is_for_long_windows(model) { model.params.collision.learners_further } else { 1.0 },
            thinnest: thinnest(&surface),
            squares: Vec::new(),
            surface,
        }
    }

    /// How many sub-steps it may have if particles would move by `ways` in each [m]: no more than in which what touches changes.
    pub fn substeps(&mut self, ways: &[DVec3], in_heap: bool) -> u32 {
        let [reach, further] = match in_heap {
            true => [(self.params.heap_reach * self.thinnest).min(self.reach), 1.0],
            false => [self.reach, self.further],
        };
        self.substeps_within(ways, reach, further)
    }

    /// How many it may have if particles may move by a `reach` [m], and most of cloth by so many times that.
    fn substeps_within(&mut self, ways: &[DVec3], reach: f64, further: f64) -> u32 {
        let n = self.surface.particles;
        let mean = ways.iter().sum::<DVec3>() / n.max(1) as f64;
        if n == 0 {
            return 1;
        }
        let faster = self.params.few_faster;
        self.squares.resize(ways.len(), 0.0);
        parallel::each(&mut self.squares, POINTS, |i, square| *square = ways[i].distance_squared(mean));
        let (_, fast, fastest) = self.squares.select_nth_unstable_by(n - 1 - n / self.params.few_particles as usize, f64::total_cmp);
        let longest = fastest.iter().fold(*fast / (further * further), |a, b| a.max(b / (faster * faster)));
        // Bodies have few particles and much to meet.
        let of_bodies = ways[self.cloth_particles..].iter().map(|way| way.distance_squared(mean));
        let longest = of_bodies.fold(longest, f64::max).sqrt();
        (reach / longest.max(f64::MIN_POSITIVE)).clamp(1.0, 1e6) as u32
    }

    /// The same where nothing is near: `None` unless a method answers what is missed at its end, and nothing moves freely.
    pub fn substeps_if_free(&mut self, ways: &[DVec3]) -> Option<u32> {
        let further = self.further * self.params.free_further;
        (self.further > 1.0).then(|| self.substeps_within(ways, self.reach, further))
    }

    /// How far what comes near one another may move against each other [m]: as far as the few particles that are faster than the others.
    pub fn fastest(&self) -> f64 {
        self.params.few_faster * self.reach
    }

    /// Whether a point of a led body moves further than that.
    pub fn has_fast_bodies(&self) -> bool {
        let of_bodies = self.surface.particles..self.surface.points;
        let ways = self.start[of_bodies.clone()].iter().zip(&self.end[of_bodies]);
        ways.map(|(start, end)| start.distance_squared(*end)).any(|square| square > self.fastest() * self.fastest())
    }

    /// How far the points of one of `pairs` with a led body move against each other at most [m].
    pub fn way_of_bodies(&self, pairs: &[Pair]) -> f64 {
        let is_led = |p: &u32| *p as usize >= self.surface.particles;
        let way = |p: u32| self.end[p as usize] - self.start[p as usize];
        let with_bodies = pairs.iter().map(|pair| [pair.points[0], pair.points[3]]).filter(|ends| ends.iter().any(is_led));
        with_bodies.map(|[a, b]| (way(a) - way(b)).length_squared()).fold(0.0, f64::max).sqrt()
    }

    /// Places everything at the start and the end of `[from, until]` [s]; a particle goes from its `position` by its `way` [m].
    pub fn place(
        &mut self,
        model: &Model,
        [from, until]: [f64; 2],
        position: impl Fn(usize) -> DVec3 + Sync,
        way: impl Fn(usize) -> DVec3 + Sync,
    ) {
        let n = self.surface.particles;
        self.parting = self.params.parting_speed * (until - from);
        parallel::each_two(&mut self.start[..n], &mut self.end[..n], POINTS, |i, start, end| {
            *start = position(i);
            *end = *start + way(i);
        });
        self.surface.place_bodies(model, from, &mut self.start[n..]);
        self.surface.place_bodies(model, until, &mut self.end[n..]);
        self.free.place(&mut self.start);
        self.free.place(&mut self.end);
        for (poses, object) in self.poses.iter_mut().zip(&self.surface.objects) {
            *poses = object.body.map(|b| [from, until].map(|time| model.colliders[b].pose(time)));
        }
    }

    /// Lets particles end elsewhere [m].
    pub fn end_at(&mut self, place: impl Fn(usize) -> DVec3 + Sync) {
        parallel::each(&mut self.end[..self.surface.particles], POINTS, |i, end| *end = place(i));
        self.free.place(&mut self.end);
    }

    /// Brings what [`CcdWindow::wide`] tells up to date.
    pub fn widen(&mut self) {
        for (wide, points) in self.wide.iter_mut().zip([&self.start, &self.end]) {
            parallel::each(wide, POINTS, |p, wide| *wide = Vec4::from(points[p]));
        }
    }

    /// Start and end for many pairs at a time [m].
    pub fn wide(&self) -> [&[Vec4]; 2] {
        [&self.wide[0], &self.wide[1]]
    }

    /// The objects of the two features of a pair: its first point belongs to one, its last to the other.
    pub fn objects(&self, pair: &Pair) -> [usize; 2] {
        [pair.points[0], pair.points[3]].map(|p| self.object_of(p))
    }

    /// The object that a point belongs to.
    pub fn object_of(&self, point: u32) -> usize {
        self.object[point as usize] as usize
    }

    /// Where two objects stand in a list [`for_every_two`].
    pub fn place_of_two(&self, [a, b]: [usize; 2]) -> usize {
        a * self.surface.objects.len() + b
    }

    /// What the features of a pair keep between them.
    pub fn kept(&self, pair: &Pair) -> &Kept {
        self.kept_by(self.objects(pair))
    }

    /// What two objects keep between them.
    pub fn kept_by(&self, objects: [usize; 2]) -> &Kept {
        &self.kept[self.place_of_two(objects)]
    }
}

/// Whether most of cloth may go further in a window: what is missed then is found at its end and answered, but contacts with what moves freely are those of its start.
fn is_for_long_windows(model: &Model) -> bool {
    model.method.keeps_lengths() && model.colliders.iter().all(|collider| collider.free.is_none())
}

/// The thinnest of all cloths [m].
fn thinnest(surface: &CollisionSurface) -> f64 {
    let cloths = surface.objects.iter().filter(|object| object.body.is_none());
    cloths.map(|cloth| cloth.self_distance).fold(f64::INFINITY, f64::min)
}

/// A half-space at the end of the window.
pub fn plane(poses: &[Option<[Pose; 2]>], object: usize) -> Option<PosedShape> {
    plane_at_both_ends(poses, object).map(|[_, after]| after)
}

/// A half-space at the start and at the end of the window.
pub fn plane_at_both_ends(poses: &[Option<[Pose; 2]>], object: usize) -> Option<[PosedShape; 2]> {
    poses[object].map(|poses| poses.map(|pose| PosedShape { shape: Shape::Plane, pose }))
}

/// Something of every two objects, those of the first side by side.
pub fn for_every_two<T>(surface: &CollisionSurface, of: impl Fn(usize, usize) -> T) -> Vec<T> {
    let count = surface.objects.len();
    (0..count * count).map(|k| of(k / count, k % count)).collect()
}
