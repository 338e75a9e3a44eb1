//! What the impulse methods make of a model: hard and soft edges, their strips, and how stiff they are.

use crate::math::{DVec3, Vec4};
use crate::model::{ClothPiece, Environment, Model, Slider, Slides, topology};
use crate::solve::sparse::direct::LengthSystem;
use crate::solve::strips::blocks::{NO_TENSION, StripEdge, Strips, Turn};
use crate::solve::strips::extensible::BoundedStretch;
use crate::solve::strips::ladders::ladders;
use crate::solve::strips::parts::{self, EdgeStrip, StripGroup};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Hard edges: all structural ones in strips, of one edge each if `single`; with the bends along them, and the numbers of bends that no strip has.
pub fn hard(model: &Model, environment: &Environment, single: bool) -> (Strips, Vec<usize>) {
    let n = model.particle_count();
    let groups = parts::of_model(model, single);
    let link = hard_links(model, environment);
    let bends = RefCell::new(BendList::new(model));
    let edges = model.edges.len() + model.links.ends.len();
    let mut strips =
        Strips::new(&groups, edges, (n, 0), link, |points| bends.borrow_mut().take(model, points));
    strips.make_stitches(model.edges.len());
    let left = bends.into_inner().left();
    (strips, left)
}

/// Strips of a group with what a device needs of every edge and bend.
#[derive(Debug, Clone, PartialEq)]
pub struct StripCut {
    /// The particles along it.
    pub particles: Vec<u32>,
    /// The numbers of its edges.
    pub edges: Vec<u32>,
    /// Bends over its particles, one less than edges.
    pub bends: Vec<Option<Turn>>,
}

/// All that is cut of a model for devices: strips of hard edges and of diagonals in groups, and what is along them.
#[derive(Debug, Clone)]
pub struct ImpulseCut {
    /// Groups of strips of structural edges; strips of a group share no particle.
    pub hard: Vec<Vec<StripCut>>,
    /// Structural edges, then stitches.
    pub hard_edges: Vec<StripEdge>,
    /// How far every stitch opens per force [m/N]; [`NO_TENSION`] where nothing pulls.
    pub stitch_give: Vec<f64>,
    /// Groups of strips of diagonals.
    pub soft: Vec<Vec<StripCut>>,
    /// Diagonals: their ends, and what they are.
    pub soft_ends: Vec<[u32; 2]>,
    /// See `soft_ends`.
    pub soft_edges: Vec<StripEdge>,
    /// Bends that no strip has, and their particles.
    pub lone_bends: Vec<([u32; 3], Turn)>,
    /// √(m / k) of shear [s].
    pub shear_time: f64,
}

impl ImpulseCut {
    /// Cuts a model as `impulse-strips` does.
    pub fn new(model: &Model, environment: &Environment) -> Self {
        let mut bends = BendList::new(model);
        let mut strip = |strip: EdgeStrip, bent: bool| {
            let along = strip.particles.windows(3).map(|p| [p[0], p[1], p[2]]);
            let bends = along.map(|p| if bent { bends.take(model, p) } else { None }).collect();
            StripCut { particles: strip.particles, edges: strip.edges, bends }
        };
        let groups = parts::of_model(model, false).into_iter();
        let hard = groups.map(|group| group.into_iter().map(|s| strip(s, true)).collect()).collect();
        let (soft_ends, groups, links) = soft_parts(model, environment);
        let soft =
            groups.into_iter().map(|group| group.into_iter().map(|s| strip(s, false)).collect()).collect();
        let hard_link = hard_links(model, environment);
        let of_bend = |bend: usize| (model.bends.points[bend], turn(model, bend, model.bends.points[bend]));
        Self {
            hard,
            hard_edges: (0..(model.edges.len() + model.links.ends.len()) as u32).map(hard_link).collect(),
            stitch_give: give_of_stitches(model, environment),
            soft,
            soft_edges: (0..soft_ends.len() as u32).map(links).collect(),
            soft_ends,
            lone_bends: bends.left().into_iter().map(of_bend).collect(),
            shear_time: shear_time(model, environment),
        }
    }
}

/// Hard edges in one system, with tensions at the places that `strips` gave them.
pub fn direct(model: &Model, environment: &Environment, strips: &Strips) -> LengthSystem {
    let moves = |i: u32| environment.inverse_mass[i as usize] > 0.0;
    let edges = [&model.edges[..], &model.links.ends[..]].concat();
    let link = hard_links(model, environment);
    let mut system = LengthSystem::new(&edges, &model.rest_positions, moves, link, &strips.slots);
    system.make_stitches(&strips.slots[model.edges.len()..]);
    system
}

/// How far every stitch opens per force [m/N]. Nothing pulls between ends that are held.
pub fn give_of_stitches(model: &Model, environment: &Environment) -> Vec<f64> {
    let params = &model.params.impulse;
    let give = |ends: &[u32; 2]| {
        let cloths = ends.iter().filter_map(|i| model.cloth_of(*i as usize));
        let load = params.load * cloths.map(|cloth| 0.5 * weight(model, environment, cloth)).sum::<f64>();
        if moves(environment, *ends) { params.seam_tolerance / load } else { NO_TENSION }
    };
    model.links.ends.iter().map(give).collect()
}

/// Of a piece of cloth, with all free bodies that may come to lie on it [N].
fn weight(model: &Model, environment: &Environment, cloth: &ClothPiece) -> f64 {
    let bodies: f64 = model.bodies.iter().map(|body| body.mass).sum();
    model.strength_of(environment.gravity) * (cloth.mass(model) + bodies)
}

fn hard_links<'a>(model: &'a Model, environment: &'a Environment) -> impl Fn(u32) -> StripEdge + 'a {
    let compliances = Compliances::new(model, environment);
    move |edge: u32| {
        if let Some(stitch) = (edge as usize).checked_sub(model.edges.len()) {
            // Until it is set to pull.
            let moves = moves(environment, model.links.ends[stitch]);
            let compliance = if moves { 0.0 } else { NO_TENSION };
            return StripEdge { rest: model.links.start_length[stitch], compliance };
        }
        let moves = moves(environment, model.edges[edge as usize]);
        StripEdge {
            rest: model.rest_lengths[edge as usize],
            compliance: if moves { compliances.of(edge) } else { NO_TENSION },
        }
    }
}

/// How much hard edges give.
struct Compliances<'a> {
    model: &'a Model,
    /// Of every cloth [N].
    weights: Vec<f64>,
}

impl<'a> Compliances<'a> {
    fn new(model: &'a Model, environment: &Environment) -> Self {
        let weights = model.cloths.iter().map(|cloth| weight(model, environment, cloth)).collect();
        Self { model, weights }
    }

    /// Force per strain of edges that keep their length, of a cloth with a weight [N].
    fn stiffness(&self, weight: f64) -> f64 {
        let params = &self.model.params.impulse;
        let load = params.load * (params.sag_strain / self.model.tolerance).sqrt().max(1.0);
        load * weight / self.model.tolerance
    }

    /// Of an edge, if one of its ends moves [m³/N].
    fn of(&self, edge: u32) -> f64 {
        let Self { model, weights } = self;
        let (start, rest) = (model.edges[edge as usize][0] as usize, model.rest_lengths[edge as usize]);
        let cloth = model.cloths.iter().position(|c| c.particles.contains(&start));
        let least = rest.powi(3) / self.stiffness(cloth.map_or(1.0, |c| weights[c]));
        // Structural edges are the first springs.
        if model.extensible { least.max(rest * rest / model.springs.stiffness[edge as usize]) } else { least }
    }
}

/// How far edges stretch, if they are to.
pub fn stretch(model: &Model, environment: &Environment) -> Option<BoundedStretch> {
    let compliances = Compliances::new(model, environment);
    let heaviest = compliances.weights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let bound = model.params.impulse.stretch_share * model.tolerance;
    model.extensible.then(|| BoundedStretch { bound, give: 1.0 / compliances.stiffness(heaviest) })
}

/// Hard edges between a hand and a pin or another hand, and what they give once hands move [m³/N].
pub fn between_hands(model: &Model, environment: &Environment) -> Vec<(usize, f64)> {
    let compliances = Compliances::new(model, environment);
    let hands: Vec<u32> = environment
        .pins
        .iter()
        .filter(|pin| pin.yields)
        .flat_map(|pin| pin.particles.iter().copied())
        .collect();
    let is_held = |ends: &[u32; 2]| !moves(environment, *ends) && ends.iter().any(|i| hands.contains(i));
    let edges = model.edges.iter().enumerate().filter(|(_, ends)| is_held(ends));
    edges.map(|(edge, _)| (edge, compliances.of(edge as u32))).collect()
}

/// Soft edges: diagonals of quads. Their ends, and their strips with tensions after those of `hard`.
pub fn soft(model: &Model, environment: &Environment, hard: &Strips) -> (Vec<[u32; 2]>, Strips) {
    let (ends, groups, link) = soft_parts(model, environment);
    let first = (model.particle_count() + hard.idle, hard.rows);
    let strips = Strips::new(&groups, ends.len(), first, link, |_| None);
    (ends, strips)
}

/// A spring with a slider beside it, which moves its rest length towards its anchor.
#[derive(Debug)]
pub struct RubbingEdge {
    /// Its number among diagonals or structural edges, and that of the slider.
    pub edge: usize,
    pub slider: usize,
    /// Its rest length without the slider [m], and one over the stiffness of both [m/N].
    pub rest: f64,
    pub compliance: f64,
}

/// Diagonals with sliders.
pub fn rubbing_diagonals(model: &Model) -> Vec<RubbingEdge> {
    rubbing(model, diagonals(model))
}

/// Structural edges with sliders, which are the first springs.
pub fn rubbing_edges(model: &Model) -> Vec<RubbingEdge> {
    rubbing(model, (0..model.edges.len()).collect())
}

/// Springs with sliders among some.
fn rubbing(model: &Model, springs: Vec<usize>) -> Vec<RubbingEdge> {
    let edges: BTreeMap<usize, usize> = springs.into_iter().zip(0..).collect();
    let of = |(slider, of): (usize, &Slider)| {
        let Slides::Spring(s) = of.of else { return None };
        let (rest, stiffness) = (model.springs.rest_length[s as usize], model.springs.stiffness[s as usize]);
        let edge = *edges.get(&(s as usize))?;
        Some(RubbingEdge { edge, slider, rest, compliance: 1.0 / stiffness })
    };
    model.sliders.iter().enumerate().filter_map(of).collect()
}

/// The ends of diagonals, their strips in groups, and what each of them is.
fn soft_parts<'a>(
    model: &'a Model,
    environment: &'a Environment,
) -> (Vec<[u32; 2]>, Vec<StripGroup>, impl Fn(u32) -> StripEdge + 'a) {
    let springs = diagonals(model);
    let ends: Vec<[u32; 2]> = springs.iter().map(|s| sorted(model, *s)).collect();
    let straights = topology::straight_pairs(&ends, &model.rest_positions);
    let groups = parts::cut(&ends, &straights, model.particle_count());
    let link = move |edge: u32| {
        let spring = springs[edge as usize];
        let stiffness = model.springs.stiffness[spring];
        let pulls = moves(environment, model.springs.ends[spring]) && stiffness > 0.0;
        let compliance = if pulls { 1.0 / stiffness } else { NO_TENSION };
        StripEdge { rest: model.springs.rest_length[spring], compliance }
    };
    (ends, groups, link)
}

/// Twists in ladders. Over a quad from the rung p, r to the rung p', r' the first row of turns has its stiffness and what r' weighs, the second what r weighs,
/// as `solve::strips::twists` asks for.
pub fn twists(model: &Model) -> Strips {
    let twists = &model.twists;
    let groups = ladders(&twists.points, &model.rest_positions);
    let mut turns: BTreeMap<[u32; 3], Turn> = BTreeMap::new();
    for ladder in groups.iter().flatten() {
        for (quad, rungs) in ladder.edges.iter().zip(ladder.particles.windows(4).step_by(2)) {
            let (t, [p, r, p2, r2]) = (*quad as usize, [rungs[0], rungs[1], rungs[2], rungs[3]]);
            let corner = |i: u32| twists.points[t].iter().position(|own| *own == i).unwrap_or(0);
            // Of the two diagonals that of p counts as the first.
            let sign = if corner(p).is_multiple_of(2) { 1.0 } else { -1.0 };
            let weight = |i: u32| sign * twists.weights(t)[corner(i)];
            let (stiffness, damping) = (twists.stiffness[t], twists.damping[t]);
            turns.insert([p, r, p2], Turn { inverse_lengths: [weight(r2), 1.0], stiffness, damping });
            turns.insert([r, p2, r2], Turn { inverse_lengths: [-weight(r), 1.0], ..Turn::default() });
        }
    }
    let no_edge = |_| StripEdge { rest: 1.0, compliance: NO_TENSION };
    let turn = |points| turns.get(&points).copied();
    Strips::new(&groups, twists.points.len(), (model.particle_count(), 0), no_edge, turn)
}

/// √(m / k) of particles and their diagonals, on average over the cloth where it is shortest [s].
pub fn shear_time(model: &Model, environment: &Environment) -> f64 {
    let mut stiffness = vec![0.0; model.particle_count()];
    for spring in diagonals(model) {
        let share = 0.25 * model.springs.stiffness[spring];
        model.springs.ends[spring].iter().for_each(|i| stiffness[*i as usize] += share);
    }
    let mean = |cloth: &ClothPiece| {
        let all = cloth.particles.clone().map(|i| stiffness[i] * environment.inverse_mass[i]).sum::<f64>();
        all / cloth.particles.len() as f64
    };
    1.0 / model.cloths.iter().map(mean).fold(0.0, f64::max).sqrt()
}

/// √(m / k) of particles and the bends with sliders that move them, on average over the cloth where it is shortest [s]; endless without sliders.
pub fn rubbing_bend_time(model: &Model, environment: &Environment) -> f64 {
    let mut stiffness = vec![0.0; model.particle_count()];
    let bends =
        model.sliders.iter().filter(|slider| slider.stiffness > 0.0).filter_map(|slider| match slider.of {
            Slides::Bend(bend) => Some(bend as usize),
            _ => None,
        });
    for bend in bends {
        let [a, c] = model.bends.inverse_lengths[bend];
        for (i, share) in model.bends.points[bend].iter().zip([a, a + c, c]) {
            stiffness[*i as usize] += model.bends.stiffness[bend] * share * share;
        }
    }
    let mean = |cloth: &ClothPiece| {
        let all = cloth.particles.clone().map(|i| stiffness[i] * environment.inverse_mass[i]).sum::<f64>();
        all / cloth.particles.len() as f64
    };
    1.0 / model.cloths.iter().map(mean).fold(0.0, f64::max).sqrt()
}

/// BendList by their middle and ends, and which a strip has taken.
struct BendList {
    sorted: Vec<([u32; 3], usize)>,
    taken: Vec<bool>,
}

impl BendList {
    fn new(model: &Model) -> Self {
        let key = |(b, points): (usize, &[u32; 3])| (Self::key(*points), b);
        let mut sorted: Vec<([u32; 3], usize)> = model.bends.points.iter().enumerate().map(key).collect();
        sorted.sort_unstable();
        Self { taken: vec![false; sorted.len()], sorted }
    }

    fn key([a, b, c]: [u32; 3]) -> [u32; 3] {
        [b, a.min(c), a.max(c)]
    }

    fn take(&mut self, model: &Model, points: [u32; 3]) -> Option<Turn> {
        let found = self.sorted.binary_search_by_key(&Self::key(points), |(key, _)| *key).ok()?;
        let bend = self.sorted[found].1;
        self.taken[bend] = true;
        Some(turn(model, bend, points))
    }

    fn left(&self) -> Vec<usize> {
        (0..self.taken.len()).filter(|b| !self.taken[*b]).collect()
    }
}

/// A bend as seen along `points`.
fn turn(model: &Model, bend: usize, points: [u32; 3]) -> Turn {
    let bends = &model.bends;
    let [ia, ic] = bends.inverse_lengths[bend];
    let inverse_lengths = if points[0] == bends.points[bend][0] { [ia, ic] } else { [ic, ia] };
    Turn { inverse_lengths, stiffness: bends.stiffness[bend], damping: bends.damping[bend] }
}

/// One bend of a sub-step from `x` to `q`, implicit in time, as `solve::bends` has it for strips; `pull` is the moment away from straight [N·m].
pub fn bend_one(model: &Model, bend: usize, pull: DVec3, h: f64, x: &[Vec4], q: &mut [Vec4]) {
    let points = model.bends.points[bend];
    let Turn { inverse_lengths: [ia, ic], stiffness, damping } = turn(model, bend, points);
    let share = [-ia, ia + ic, -ic];
    let of = |p: &[Vec4]| points.iter().zip(share).fold(Vec4::ZERO, |sum, (i, s)| sum + p[*i as usize] * -s);
    let mobility: f64 = points.iter().zip(share).map(|(i, s)| q[*i as usize].0[3] * s * s).sum();
    let total = stiffness + damping / h;
    let mut moment = (of(q) * total - of(x) * (damping / h) - Vec4::from(pull))
        * (1.0 / (1.0 + model.params.impulse.bend_mobility * total * mobility));
    moment.0[3] = 0.0;
    for (i, s) in points.iter().zip(share) {
        let q = &mut q[*i as usize];
        *q += moment * (s * q.0[3]);
    }
}

/// Springs that are no structural edges, in the order of their ends; of several between the same ends the first.
pub fn diagonals(model: &Model) -> Vec<usize> {
    let is_edge = |s: &usize| model.edges.binary_search(&sorted(model, *s)).is_ok();
    let mut springs: Vec<usize> = (0..model.springs.ends.len()).filter(|s| !is_edge(s)).collect();
    springs.sort_by_key(|s| sorted(model, *s));
    springs.dedup_by_key(|s| sorted(model, *s));
    springs
}

fn sorted(model: &Model, spring: usize) -> [u32; 2] {
    let [a, b] = model.springs.ends[spring];
    [a.min(b), a.max(b)]
}

fn moves(environment: &Environment, ends: [u32; 2]) -> bool {
    ends.iter().any(|i| environment.inverse_mass[*i as usize] > 0.0)
}
