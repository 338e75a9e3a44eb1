//! A model as lists for the device: strips in lanes, edges around particles, pins. It depends on the model alone, and so do the bits that come out.

use crate::contact_plan::ContactPlan;
use crate::error::CudaError;
use std::collections::BTreeSet;
use taffeta::model::{Environment, Model};
use taffeta::solve::strips::blocks::{NO_TENSION, StripEdge, Turn};
use taffeta::step::device::{ImpulseCut, StripCut};

/// Positions of a lane at most.
const LONGEST_LANE: usize = 4096;
/// Threads of a block at most: more would leave too few registers for each.
const MOST_THREADS: usize = 512;

/// How lanes are dealt out to threads: `each` positions for every one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Threads of a team, whole warps of 32.
    pub threads: usize,
    /// Positions for each of them.
    pub each: usize,
}

impl Shape {
    /// For strips of up to so many particles; none if they are too long.
    pub fn of(longest: usize) -> Option<Self> {
        let each = longest.div_ceil(32).next_power_of_two().min(4);
        let threads = longest.div_ceil(each).next_power_of_two().clamp(32, MOST_THREADS);
        let each = longest.div_ceil(threads).next_power_of_two().max(each);
        (threads * each <= LONGEST_LANE).then_some(Self { threads, each })
    }

    /// Positions of a lane.
    pub fn lane(&self) -> usize {
        self.threads * self.each
    }
}

/// Strips of one group, one after the other in lanes.
#[derive(Debug, Clone, PartialEq)]
pub struct Lanes {
    /// The particle at every position, -1 where there is none.
    pub particle: Vec<i32>,
    /// From every position to the next: the square of the rest length [m²] and the compliance; zeros where there is no edge.
    pub edge: Vec<[f32; 2]>,
    /// Over every position: the ratio of lengths, stiffness [N/m], damping [N·s/m], nothing. Empty where nothing bends.
    pub bend: Vec<[f32; 4]>,
    /// The place of its first tension.
    pub first: usize,
    /// How many lanes there are.
    pub count: usize,
}

/// Bends that no strip has and that share no particle.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoneBends {
    /// Their particles, and nothing.
    pub points: Vec<[i32; 4]>,
    /// As in [`Lanes`].
    pub turns: Vec<[f32; 4]>,
}

/// A stitch of a seam where it stands: in a group of structural edges, at a position of its lanes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StitchPlace {
    /// The group.
    pub group: usize,
    /// The position.
    pub position: usize,
    /// How far it opens per force; infinite where nothing pulls [m/N].
    pub give: f64,
}

/// All lists of a model.
#[derive(Debug, Clone)]
pub struct Plan {
    /// How lanes are dealt out to threads.
    pub shape: Shape,
    /// Structural edges; lanes of the first group have every particle.
    pub hard: Vec<Lanes>,
    /// Diagonals.
    pub soft: Vec<Lanes>,
    /// Bends that no strip has, group by group.
    pub lone: Vec<LoneBends>,
    /// Places of tensions in all.
    pub tensions: usize,
    /// The place of the tension of every structural edge, then of every diagonal.
    pub places: Vec<i32>,
    /// Stitches of seams.
    pub stitches: Vec<StitchPlace>,
    /// Where the edges around every particle start, and of each the other end and the place of its tension.
    pub around_from: Vec<i32>,
    /// See `around_from`.
    pub around: Vec<[i32; 2]>,
    /// One over the mass, 0 for those that are held [1/kg]; and the mass [kg].
    pub mass: Vec<[f32; 2]>,
    /// The number of every particle among those that pins hold, -1 for others.
    pub pin: Vec<i32>,
    /// How many pins hold, points of bodies among them.
    pub pins: usize,
    /// What may touch, if anything may: points of bodies come after all particles, led as pins are.
    pub contact: Option<ContactPlan>,
    /// The largest stiffness and damping of a bend times the inverse masses that it turns: over their product with a squared sub-step bends are stiff [1/s², 1/s].
    pub stiffest: [f64; 2],
    /// √(m / k) of shear [s].
    pub shear_time: f64,
}

impl Plan {
    /// Makes the lists of a model that is not refused.
    pub fn new(model: &Model, environment: &Environment) -> Result<Self, CudaError> {
        Self::in_lanes(model, environment, Shape::of, LONGEST_LANE, |_| 0)
    }

    /// The same with lanes of the shape that is found for the longest strip, where it is no longer than `most`; so many places of tensions stay empty after each.
    pub(crate) fn in_lanes(
        model: &Model,
        environment: &Environment,
        shape: impl Fn(usize) -> Option<Shape>,
        most: usize,
        pad: impl Fn(Shape) -> usize,
    ) -> Result<Self, CudaError> {
        let cut = ImpulseCut::new(model, environment);
        let groups = || cut.hard.iter().chain(&cut.soft).flatten();
        let longest = groups().map(|strip| strip.particles.len()).max().unwrap_or(1);
        let shape = shape(longest).ok_or(CudaError::LongStrip { longest, most })?;
        let n = model.particle_count();
        let mut packer = Packer { shape, pad: pad(shape), tensions: 0 };
        let (mut hard_places, mut soft_places) =
            (vec![0; cut.hard_edges.len()], vec![0; cut.soft_ends.len()]);
        let mut hard = Vec::new();
        for (number, group) in cut.hard.iter().enumerate() {
            let alone = if number == 0 { alone(group, n) } else { Vec::new() };
            let strips = group.iter().chain(&alone);
            hard.push(packer.lanes(strips, &cut.hard_edges, &mut hard_places));
        }
        let soft: Vec<Lanes> = cut
            .soft
            .iter()
            .map(|group| packer.lanes(group.iter(), &cut.soft_edges, &mut soft_places))
            .collect();
        let stitch_places = hard_places.split_off(model.edges.len());
        let stitches = stitch_places.iter().zip(&cut.stitch_give).map(|(place, give)| {
            let place = *place as usize;
            let group = hard.iter().rposition(|lanes: &Lanes| lanes.first <= place).unwrap_or(0);
            let give = if *give < NO_TENSION { *give } else { f64::INFINITY };
            StitchPlace { group, position: place - hard[group].first, give }
        });
        let stitches = stitches.collect();
        let places = [hard_places, soft_places].concat();
        let ends = || model.edges.iter().chain(&cut.soft_ends);
        let (mut around_from, around) = around(n, ends().copied().zip(&places));
        let mut pin = vec![-1; n];
        let held = environment.pins().iter().flat_map(|pin| &pin.particles);
        let held_by_pins = held.clone().count();
        held.zip(0..).for_each(|(particle, number)| pin[*particle as usize] = number);
        let contact = model.touches().then(|| ContactPlan::new(model));
        let body_points = contact.as_ref().map_or(0, ContactPlan::body_points);
        let masses = environment.inverse_mass().iter().zip(&model.mass);
        let mut mass: Vec<_> = masses.map(|(w, m)| [*w as f32, *m as f32]).collect();
        mass.resize(n + body_points, [0.0; 2]);
        pin.extend((held_by_pins..held_by_pins + body_points).map(|number| number as i32));
        around_from.resize(n + body_points + 1, around.len() as i32);
        Ok(Self {
            shape,
            hard,
            soft,
            lone: lone(&cut.lone_bends),
            tensions: packer.tensions,
            places,
            stitches,
            around_from,
            around,
            mass,
            pin,
            pins: held_by_pins + body_points,
            contact,
            stiffest: stiffest(cut.hard.iter().flatten(), environment.inverse_mass()),
            shear_time: cut.shear_time,
        })
    }
}

/// Strips without edges for particles that no strip of a group has.
fn alone(group: &[StripCut], particles: usize) -> Vec<StripCut> {
    let mut taken = vec![false; particles];
    group.iter().flat_map(|strip| &strip.particles).for_each(|i| taken[*i as usize] = true);
    let free = (0..particles).filter(|i| !taken[*i]);
    free.map(|i| StripCut { particles: vec![i as u32], edges: Vec::new(), bends: Vec::new() }).collect()
}

struct Packer {
    shape: Shape,
    /// Places of tensions that stay empty after a lane.
    pad: usize,
    tensions: usize,
}

impl Packer {
    /// Puts strips into lanes, longest first, each into the first lane with room; and notes the places of tensions.
    fn lanes<'a>(
        &mut self,
        strips: impl Iterator<Item = &'a StripCut>,
        edges: &[StripEdge],
        places: &mut [i32],
    ) -> Lanes {
        let length = self.shape.lane();
        let (mut lanes, mut first_open): (Vec<(usize, Vec<&StripCut>)>, usize) = (Vec::new(), 0);
        for strip in strips {
            let needs = strip.particles.len();
            while lanes.get(first_open).is_some_and(|(used, _)| *used == length) {
                first_open += 1;
            }
            match lanes[first_open..].iter_mut().find(|(used, _)| used + needs <= length) {
                Some((used, lane)) => {
                    *used += needs;
                    lane.push(strip);
                }
                None => lanes.push((needs, vec![strip])),
            }
        }
        let (count, first) = (lanes.len(), self.tensions);
        let mut packed = Lanes {
            particle: vec![-1; count * length],
            edge: vec![[0.0; 2]; count * length],
            bend: vec![[0.0; 4]; count * length],
            first,
            count,
        };
        let mut bends = false;
        for (number, (_, lane)) in lanes.iter().enumerate() {
            let mut at = number * length;
            for strip in lane {
                for (k, particle) in strip.particles.iter().enumerate() {
                    packed.particle[at + k] = *particle as i32;
                }
                for (k, edge) in strip.edges.iter().enumerate() {
                    places[*edge as usize] = (first + number * self.pad + at + k) as i32;
                    let StripEdge { rest, compliance } = edges[*edge as usize];
                    if compliance < NO_TENSION {
                        packed.edge[at + k] = [(rest * rest) as f32, compliance as f32];
                    }
                }
                for (k, turn) in strip.bends.iter().enumerate() {
                    if let Some(turn) = turn.filter(|turn| turn.stiffness > 0.0 || turn.damping > 0.0) {
                        packed.bend[at + k + 1] = turned(&turn);
                        bends = true;
                    }
                }
                at += strip.particles.len();
            }
        }
        if !bends {
            packed.bend.clear();
        }
        self.tensions += count * (length + self.pad);
        packed
    }
}

/// A bend as the way over its second edge less `ratio` times that over its first.
fn turned(turn: &Turn) -> [f32; 4] {
    let [before, after] = turn.inverse_lengths;
    let squared = after * after;
    [(before / after) as f32, (turn.stiffness * squared) as f32, (turn.damping * squared) as f32, 0.0]
}

fn around<'a>(
    particles: usize,
    edges: impl Iterator<Item = ([u32; 2], &'a i32)>,
) -> (Vec<i32>, Vec<[i32; 2]>) {
    let mut of: Vec<Vec<[i32; 2]>> = vec![Vec::new(); particles];
    for ([a, b], place) in edges {
        of[a as usize].push([b as i32, *place]);
        of[b as usize].push([a as i32, *place]);
    }
    let (mut from, mut all) = (Vec::with_capacity(particles + 1), Vec::new());
    for edges in of {
        from.push(all.len() as i32);
        all.extend(edges);
    }
    from.push(all.len() as i32);
    (from, all)
}

/// Bends in groups that share no particle, each in the first that it fits into.
fn lone(bends: &[([u32; 3], Turn)]) -> Vec<LoneBends> {
    let mut groups: Vec<(LoneBends, BTreeSet<u32>)> = Vec::new();
    for (points, turn) in bends.iter().filter(|(_, turn)| turn.stiffness > 0.0 || turn.damping > 0.0) {
        let apart = |(_, taken): &(LoneBends, BTreeSet<u32>)| points.iter().all(|i| !taken.contains(i));
        let number = groups.iter().position(apart).unwrap_or(groups.len());
        if number == groups.len() {
            groups.push(Default::default());
        }
        let (group, taken) = &mut groups[number];
        taken.extend(points);
        let [a, b, c] = points.map(|i| i as i32);
        group.points.push([a, b, c, 0]);
        group.turns.push(turned(turn));
    }
    groups.into_iter().map(|(group, _)| group).collect()
}

/// See [`Plan::stiffest`].
fn stiffest<'a>(strips: impl Iterator<Item = &'a StripCut>, inverse_mass: &[f64]) -> [f64; 2] {
    let mut most = [0.0_f64; 2];
    for strip in strips {
        for (points, turn) in strip.particles.windows(3).zip(&strip.bends) {
            let Some(turn) = turn else { continue };
            let [before, after] = turn.inverse_lengths;
            let ratio = before / after;
            let w = |k: usize| inverse_mass[points[k] as usize];
            let mobility = ratio * ratio * w(0) + (1.0 + ratio) * (1.0 + ratio) * w(1) + w(2);
            let per = mobility * after * after;
            most = [most[0].max(per * turn.stiffness), most[1].max(per * turn.damping)];
        }
    }
    most
}
