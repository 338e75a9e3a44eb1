//! What may touch in a model, as lists for the device: objects and what they keep between them, solids, triangles in the order of a tree.

use crate::layout::{Kept, MOST_LEVELS, Meeting, Solid, Tree};
use taffeta::collide::rigid::touch::Round;
use taffeta::collide::surface::{CollisionSurface, NO_EDGE};
use taffeta::collide::{ContactParams, Corners, bodies, contact_params, is_smooth};
use taffeta::math::DVec3;
use taffeta::model::{Form, Model, Shape};

/// Boxes below one of the next level.
const WIDE: usize = 8;
/// Triangles of cloths and of bodies are filled up to whole warps.
const WARP: usize = 32;
/// Nothing is as far away [m].
const NOWHERE: f64 = -1e300;
/// How far beside their expected way particles may end in a window before candidates are found anew, as a share of the longest edge [1].
const BESIDE: f64 = 0.1;

/// A triangle that stands for none.
const NONE: [i32; 4] = [-1, -1, -1, 0];

/// What may touch in a model.
#[derive(Debug, Clone)]
pub struct ContactPlan {
    surface: CollisionSurface,
    params: Vec<Vec<ContactParams>>,
    /// The object of every point: cloths, then bodies.
    pub object: Vec<i32>,
    /// For every two objects.
    pub kept: Vec<Kept>,
    /// For every object and solid.
    pub meetings: Vec<Meeting>,
    /// How far boxes of every object reach beyond it [m].
    pub grown: Vec<f32>,
    /// Corners, and what stands with it; first those of cloths, each filled up with those that stand for none.
    pub triangles: Vec<[i32; 4]>,
    /// How many of them are of cloths, with those that stand for none.
    pub cloth_triangles: usize,
    /// Over triangles of cloths, and of bodies.
    pub trees: [Tree; 2],
    /// Boxes of both in all.
    pub boxes: usize,
    /// Where the points begin that stitches join every point to, and these; empty without seams.
    pub sewn_from: Vec<i32>,
    /// See `sewn_from`.
    pub sewn: Vec<i32>,
    /// Whether anything is met by features, and not by particles alone.
    pub by_features: bool,
    /// How far particles may move in a window [m].
    pub reach: f64,
    /// What is further away than this beyond the distance kept is no contact [m].
    pub near: f64,
    /// How far beside their expected way points may end [m].
    pub beside: f64,
}

impl ContactPlan {
    /// Of a model in which something may touch.
    pub fn new(model: &Model) -> Self {
        let surface = CollisionSurface::new(model);
        let objects = surface.objects.len();
        let params = contact_params(model, Corners::OfSmooth);
        let longest = model.cloths.iter().map(|cloth| cloth.longest_edge).fold(0.0, f64::max);
        let thinnest = surface.objects[..model.cloths.len()].iter().map(|cloth| cloth.self_distance);
        let thinnest = thinnest.fold(f64::INFINITY, f64::min);
        let of = &model.params.collision;
        let pad = (of.pad * longest).min(of.pad_of_thickness * thinnest);
        let pairs = || (0..objects * objects).map(|k| [k / objects, k % objects]);
        let kept: Vec<Kept> = pairs().map(|pair| kept(model, &surface, pair)).collect();
        let (triangles, cloth_triangles) = triangles(&surface, model.cloths.len());
        let (cloth, next) = tree(0, cloth_triangles, triangles.len());
        let (bodies, boxes) = tree(cloth_triangles, triangles.len() - cloth_triangles, next);
        let bodies_by_features = pairs().zip(&kept).any(|([a, b], kept)| {
            a < model.cloths.len() && b >= model.cloths.len() && kept.by_particles == 0
        });
        let before = |point: u32| surface.sewn.partition_point(|[a, _]| *a < point) as i32;
        let points = if surface.sewn.is_empty() { 0 } else { surface.points as u32 + 1 };
        Self {
            sewn_from: (0..points).map(before).collect(),
            sewn: surface.sewn.iter().map(|[_, b]| *b as i32).collect(),
            object: (0..surface.points as u32).map(|p| surface.object_of_point(p) as i32).collect(),
            meetings: meetings(model, &surface, &params),
            grown: surface.objects.iter().map(|o| above(o.radius.max(0.5 * o.self_distance))).collect(),
            kept,
            triangles,
            cloth_triangles,
            trees: [cloth, bodies],
            boxes,
            by_features: model.cloth_meets_cloth || bodies_by_features,
            reach: of.window_reach * longest,
            near: of.listed * pad,
            beside: BESIDE * longest,
            params,
            surface,
        }
    }

    /// How many points bodies have.
    pub fn body_points(&self) -> usize {
        self.surface.points - self.surface.particles
    }

    /// Where they are at a time [s]; appended to `out` [m].
    pub fn place_bodies(&self, model: &Model, time: f64, out: &mut Vec<DVec3>) {
        let from = out.len();
        out.resize(from + self.body_points(), DVec3::ZERO);
        self.surface.place_bodies(model, time, &mut out[from..]);
    }

    /// All solids in a sub-step of `h` [s] from a time [s] on; appended to `out`.
    pub fn place_solids(&self, model: &Model, time: f64, h: f64, out: &mut Vec<Solid>) {
        let of_any_cloth = self.params.first().map_or(&[][..], Vec::as_slice);
        let rounds = bodies(model, time, h).zip(of_any_cloth).map(|(body, params)| Round::of(&body, params));
        out.extend(rounds.map(|round| round.map_or(nowhere(), solid)));
    }

    /// How many solids there are.
    pub fn solids(&self) -> usize {
        self.params.first().map_or(0, Vec::len)
    }

    /// Whether a particle that a hand leads to a place [m] would be in a solid there at a time [s]: on the host hands give way to it.
    pub fn is_in_solid(&self, model: &Model, particle: usize, place: DVec3, time: f64) -> bool {
        let params = &self.params[self.object[particle] as usize];
        let mut solids = bodies(model, time, 0.0).zip(params);
        solids.any(|(solid, params)| solid.contact(place, params.distance).is_some())
    }
}

/// The float above.
fn above(number: f64) -> f32 {
    (number as f32).next_up()
}

fn kept(model: &Model, surface: &CollisionSurface, [a, b]: [usize; 2]) -> Kept {
    let kept = surface.between(a, b);
    let by_particles = match (model.cloths.get(a.min(b)), surface.objects[a.max(b)].body) {
        (Some(cloth), Some(body)) => match &model.colliders[body].form {
            Form::Closed(shape) => is_smooth(shape, cloth),
            Form::Mesh(_) => false,
        },
        _ => false,
    };
    Kept {
        distance: kept.distance,
        floor: kept.floor,
        solid: kept.solid,
        friction: kept.friction as f32,
        by_particles: by_particles.into(),
        round: [a, b].iter().any(|object| !has_faces(surface, *object)).into(),
    }
}

fn has_faces(surface: &CollisionSurface, object: usize) -> bool {
    surface.objects[object].triangles.clone().any(|t| surface.owned[t].is_face)
}

/// How every object meets every solid; bodies meet none.
fn meetings(model: &Model, surface: &CollisionSurface, params: &[Vec<ContactParams>]) -> Vec<Meeting> {
    let closed = |object: &usize| {
        let body = surface.objects[*object].body.map(|b| &model.colliders[b].form);
        matches!(body, Some(Form::Closed(_)))
    };
    let solids: Vec<usize> = (0..surface.objects.len()).filter(closed).collect();
    let mut meetings = Vec::new();
    for (cloth, params) in params.iter().enumerate() {
        for (solid, params) in solids.iter().zip(params) {
            let body = surface.objects[*solid].body.map(|b| &model.colliders[b].form);
            let is_plane = body == Some(&Form::Closed(Shape::Plane));
            meetings.push(Meeting {
                distance: params.distance.max(NOWHERE),
                friction: params.friction,
                floor: if is_plane { surface.between(cloth, *solid).floor } else { NOWHERE },
            });
        }
    }
    meetings
}

fn solid(round: Round) -> Solid {
    let turn = round.turn.map(|axis| axis.to_array());
    Solid {
        origin: round.origin.to_array(),
        axis: round.axis.to_array(),
        half_length: round.half_length.unwrap_or(-1.0),
        radius: round.radius,
        shift: round.shift.to_array(),
        turn: std::array::from_fn(|k| turn[k / 3][k % 3]),
    }
}

/// A solid that features meet: no particle does.
fn nowhere() -> Solid {
    Solid {
        origin: [0.0; 3],
        axis: [0.0, 1.0, 0.0],
        half_length: 0.0,
        radius: 0.0,
        shift: [0.0; 3],
        turn: [0.0; 9],
    }
}

/// All triangles, object by object in an order in which neighbours stand side by side; and how many are of cloths.
fn triangles(surface: &CollisionSurface, cloths: usize) -> (Vec<[i32; 4]>, usize) {
    let (mut all, mut of_cloths) = (Vec::new(), 0);
    for (number, object) in surface.objects.iter().enumerate() {
        let mut order: Vec<usize> = object.triangles.clone().collect();
        let centres: Vec<DVec3> = order.iter().map(|t| centre(surface, *t)).collect();
        halve(&mut order, &|t| centres[t - object.triangles.start]);
        all.extend(order.into_iter().map(|t| triangle(surface, t)));
        if number + 1 == cloths {
            all.resize(all.len().next_multiple_of(WARP), NONE);
            of_cloths = all.len();
        }
    }
    all.resize(all.len().next_multiple_of(WARP), NONE);
    (all, of_cloths)
}

fn centre(surface: &CollisionSurface, triangle: usize) -> DVec3 {
    surface.triangles[triangle].iter().map(|p| surface.rest[*p as usize]).sum::<DVec3>() / 3.0
}

/// A triangle as kernels have it: what stands with it in the last number.
fn triangle(surface: &CollisionSurface, number: usize) -> [i32; 4] {
    let ([a, b, c], owned) = (surface.triangles[number], &surface.owned[number]);
    let mut flags = i32::from(owned.is_face) << 6;
    for k in 0..3 {
        flags |= i32::from(owned.corners[k]) << k | i32::from(owned.edges[k] != NO_EDGE) << (3 + k);
    }
    [a as i32, b as i32, c as i32, flags]
}

/// Orders things by halving along the longest side of what they fill, so that whole boxes of the tree fall on either side.
fn halve(order: &mut [usize], centre: &impl Fn(usize) -> DVec3) {
    let count = order.len();
    if count <= WIDE {
        return;
    }
    let mut unit = WIDE;
    while unit * WIDE < count {
        unit *= WIDE;
    }
    let left = (count / 2).next_multiple_of(unit).min((count - 1) / unit * unit);
    let low = order.iter().map(|t| centre(*t)).fold(DVec3::INFINITY, DVec3::min);
    let high = order.iter().map(|t| centre(*t)).fold(DVec3::NEG_INFINITY, DVec3::max);
    let side = (high - low).to_array();
    let axis = if side[0] >= side[1] && side[0] >= side[2] {
        0
    } else if side[1] >= side[2] {
        1
    } else {
        2
    };
    let key = |t: usize| centre(t).to_array()[axis];
    order.select_nth_unstable_by(left, |a, b| key(*a).total_cmp(&key(*b)).then(a.cmp(b)));
    let (first, second) = order.split_at_mut(left);
    halve(first, centre);
    halve(second, centre);
}

/// The levels over `count` triangles that stand from `first` on, with boxes above them from `next` on; and where the next boxes may stand.
fn tree(first: usize, count: usize, mut next: usize) -> (Tree, usize) {
    let mut tree = Tree::default();
    if count == 0 {
        return (tree, next);
    }
    let (mut at, mut size) = (first, count);
    for level in 0..MOST_LEVELS {
        (tree.first[level], tree.size[level]) = (at as i32, size as i32);
        tree.levels = level as i32 + 1;
        if level > 0 && size == 1 {
            break;
        }
        size = size.div_ceil(WIDE);
        at = next;
        next += size;
    }
    (tree, next)
}
