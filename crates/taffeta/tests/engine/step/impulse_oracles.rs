//! Ways to keep lengths against one another and against slow twins: edges, strips, one system, P1's tree; every instruction set.

use crate::common::{free_sheet, simulation};
use taffeta::math::lanes::{InstructionSet, LANES, Lanes};
use taffeta::math::{DMat3, DVec3, Vec4, random::Random};
use taffeta::model::Environment;
use taffeta::model::topology::straight_pairs;
use taffeta::parallel;
use taffeta::solve::sparse::direct::LengthSystem;
use taffeta::solve::strips::bends::{self, Fold};
use taffeta::solve::strips::blocks::{StripEdge, Strips, Turn};
use taffeta::solve::strips::ladders::ladders;
use taffeta::solve::strips::parts::{EdgeStrip, cut};
use taffeta::solve::strips::predict::{self, PredictInputs, Predictor};
use taffeta::solve::strips::tridiagonal::{self, Limits, Start, StripRow};
use taffeta::solve::strips::twists::{self, RowTwist, Rung};
use taffeta_scene::{Method, Scene};

/// A small net of edges with lengths to keep.
struct Net {
    edges: Vec<[u32; 2]>,
    rest: Vec<DVec3>,
    lengths: Vec<f64>,
    /// Where particles are, with mobilities; a pinned one has 0.
    q: Vec<Vec4>,
}

impl Net {
    /// A crooked grid of random size, masses and pins, each particle out of place by up to `out` of an edge.
    fn random(random: &mut Random, out: f64) -> Self {
        let size = [2 + random.below(4), 2 + random.below(4)];
        Self::of_size(random, size, out)
    }

    fn of_size(random: &mut Random, [columns, rows]: [usize; 2], out: f64) -> Self {
        let mut edges = Vec::new();
        let number = |c: usize, r: usize| (r * columns + c) as u32;
        for (r, c) in (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))) {
            let ends = [(c + 1 < columns, c + 1, r), (r + 1 < rows, c, r + 1)];
            edges.extend(ends.iter().filter(|e| e.0).map(|(_, c2, r2)| [number(c, r), number(*c2, *r2)]));
        }
        edges.sort_unstable();
        let around = |random: &mut Random, by: f64| {
            DVec3::from_array(std::array::from_fn(|_| random.between(-by, by)))
        };
        let place = |i: usize| DVec3::new((i % columns) as f64, 0.0, (i / columns) as f64);
        let rest: Vec<DVec3> = (0..columns * rows).map(|i| place(i) + around(random, 0.2)).collect();
        let lengths = edges.iter().map(|[a, b]| rest[*a as usize].distance(rest[*b as usize])).collect();
        let pinned = random.below(2 * rest.len());
        let q = rest.iter().enumerate().map(|(i, x)| {
            let x = *x + around(random, out);
            let mobility = random.between(0.5, 2.0);
            Vec4([x.x, x.y, x.z, if i == pinned { 0.0 } else { mobility }])
        });
        Self { q: q.collect(), edges, rest, lengths }
    }

    fn link(&self, give: f64) -> impl Fn(u32) -> StripEdge {
        move |e| StripEdge { rest: self.lengths[e as usize], compliance: give }
    }

    fn worst(&self, q: &[Vec4]) -> f64 {
        let strain = |([a, b], rest): (&[u32; 2], &f64)| {
            (q[*a as usize].xyz().distance(q[*b as usize].xyz()) / rest - 1.0).abs()
        };
        self.edges.iter().zip(&self.lengths).map(strain).fold(0.0, f64::max)
    }

    /// Sums of mass times position: impulses between particles change none.
    fn centre(&self, q: &[Vec4]) -> DVec3 {
        q.iter().zip(&self.q).map(|(q, start)| q.xyz() / start.0[3]).sum()
    }

    fn along(&self) -> Vec<Vec4> {
        self.rest.iter().map(|x| Vec4::from(*x)).collect()
    }
}

/// Sweeps over strips.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Sweeps {
    /// With impulses along the edges at rest.
    Frozen,
    /// Along the edges as they come to be.
    Following,
    /// The same over-relaxed.
    Relaxed,
}

/// Sweeps over strips, of single edges if `single`, until the lengths are met.
fn by_strips(net: &Net, single: bool, set: InstructionSet, sweeps: Sweeps) -> Vec<Vec4> {
    sweeps_over_strips(net, single, set, sweeps).0
}

/// The same, and how many there were.
fn sweeps_over_strips(net: &Net, single: bool, set: InstructionSet, sweeps: Sweeps) -> (Vec<Vec4>, u32) {
    // A limit that is out of reach: limits are for sweeps that follow one another.
    let (most_give, beyond) = if sweeps == Sweeps::Relaxed { (1e9, 1.6) } else { (f64::INFINITY, 1.0) };
    let limits = Limits { most_give, over_relaxation: beyond, ..Limits::NONE };
    let n = net.rest.len();
    let straights = if single { Vec::new() } else { straight_pairs(&net.edges, &net.rest) };
    let groups = cut(&net.edges, &straights, n);
    let packed = Strips::new(&groups, net.edges.len(), (n, 0), net.link(0.0), |_| None);
    let room = |list: &[Vec4]| {
        let mut room = list.to_vec();
        room.extend((0..packed.idle).map(|i| Vec4([(i % 2) as f64, 0.0, 0.0, 0.0])));
        room
    };
    let (mut q, along) = (room(&net.q), room(&net.along()));
    let mut tension = vec![Lanes::ZERO; packed.rows];
    let mut scratch = vec![vec![StripRow::default(); packed.longest]];
    let mut count = 0;
    while count < 20_000 && net.worst(&q) >= 1e-14 {
        count += 1;
        let start = if sweeps == Sweeps::Frozen { Start::Directions(&along[..]) } else { Start::Unused };
        packed.sweep(&mut q, &mut tension, &mut scratch, |q, tension, rows| {
            tridiagonal::hard(set, q, start, tension, rows, limits);
        });
    }
    q.truncate(n);
    (q, count)
}

fn by_system(net: &Net, frozen: bool) -> Vec<Vec4> {
    let slots: Vec<u32> = (0..net.edges.len() as u32).collect();
    let moves = |i: u32| net.q[i as usize].0[3] > 0.0;
    let mut direct = LengthSystem::new(&net.edges, &net.rest, moves, net.link(0.0), &slots);
    let (mut q, mut tension) = (net.q.clone(), vec![0.0; net.edges.len()]);
    let along = net.along();
    for _ in 0..500 {
        let start = if frozen { Start::Directions(&along[..]) } else { Start::Unused };
        direct.correct(&mut q, start, &mut tension, (Limits::NONE, None));
        if net.worst(&q) < 1e-14 {
            break;
        }
    }
    assert_eq!(direct.redundant(&q), 0);
    q
}

/// P1 Alg. 1 and 2: H = [[M, -Cᵀ], [-C, 0]] = L D Lᵀ on trees, children before parents; one forest after the other until the lengths are met.
fn by_trees(net: &Net) -> Vec<Vec4> {
    let mut left: Vec<usize> = (0..net.edges.len()).collect();
    let mut forests = Vec::new();
    while !left.is_empty() {
        let (forest, rest) = forest(net, &left);
        forests.push(forest);
        left = rest;
    }
    assert!(forests.len() <= 3, "a planar graph has at most three forests");
    let mut q = net.q.clone();
    for _ in 0..5_000 {
        forests.iter().for_each(|forest| forest.correct(net, &mut q));
        if net.worst(&q) < 1e-14 {
            break;
        }
    }
    q
}

/// Trees that span what they can of `edges`, pinned particles as roots; and the edges that are not in it.
fn forest(net: &Net, edges: &[usize]) -> (Forest, Vec<usize>) {
    let n = net.q.len();
    let (mut seen, mut used) = (vec![false; n], vec![false; net.edges.len()]);
    let mut found = Forest { order: Vec::new(), parent: vec![None; n] };
    let mut roots: Vec<usize> = (0..n).collect();
    roots.sort_by(|a, b| net.q[*a].0[3].total_cmp(&net.q[*b].0[3]));
    for root in roots {
        let mut open = if seen[root] { Vec::new() } else { vec![root] };
        while let Some(i) = open.pop() {
            (seen[i], _) = (true, found.order.push(i));
            for &e in edges {
                let [a, b] = net.edges[e].map(|i| i as usize);
                let other = if a == i { b } else { a };
                if (a == i || b == i) && !seen[other] && found.parent[other].is_none() {
                    (found.parent[other], used[e]) = (Some((i, e)), true);
                    open.push(other);
                }
            }
        }
    }
    (found, edges.iter().copied().filter(|e| !used[*e]).collect())
}

struct Forest {
    /// StripParticles, parents before children.
    order: Vec<usize>,
    /// The parent of a particle and the edge to it.
    parent: Vec<Option<(usize, usize)>>,
}

impl Forest {
    fn correct(&self, net: &Net, q: &mut [Vec4]) {
        let n = net.q.len();
        // From the parent to the child, along which the edge acts; its error, as `strips` counts it.
        let edge = |i: usize, j: usize, e: usize| {
            let d = net.rest[i] - net.rest[j];
            (d, d.length() * (net.lengths[e] - q[i].xyz().distance(q[j].xyz())))
        };
        let mass = |i: usize| DMat3::from_diagonal(DVec3::splat(1.0 / net.q[i].0[3]));
        let pinned = |i: usize| net.q[i].0[3] == 0.0;
        let mut block: Vec<DMat3> =
            (0..n).map(|i| if pinned(i) { DMat3::IDENTITY } else { mass(i) }).collect();
        let (mut rhs, mut pivot, mut share) = (vec![DVec3::ZERO; n], vec![0.0; n], vec![0.0; n]);
        for &i in self.order.iter().rev() {
            if let Some((j, e)) = self.parent[i] {
                let (d, error) = edge(i, j, e);
                let inverse = block[i].inverse();
                pivot[i] = d.dot(inverse * d);
                share[i] = error - d.dot(inverse * rhs[i]);
                block[j] += DMat3::from_cols(d * d.x, d * d.y, d * d.z) * (1.0 / pivot[i]);
                rhs[j] += -d * (share[i] / pivot[i]);
            }
        }
        let mut moved = vec![DVec3::ZERO; n];
        for &i in &self.order {
            let mut pull = rhs[i];
            if let Some((j, e)) = self.parent[i] {
                let (d, _) = edge(i, j, e);
                pull += d * ((share[i] + d.dot(moved[j])) / pivot[i]);
            }
            moved[i] = if pinned(i) { DVec3::ZERO } else { block[i].inverse() * pull };
        }
        q.iter_mut().zip(moved).for_each(|(q, by)| *q += Vec4::from(by));
    }
}

fn furthest(a: &[Vec4], b: &[Vec4]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.xyz().distance(b.xyz())).fold(0.0, f64::max)
}

#[test]
fn edges_strips_trees_and_one_system_find_the_same_impulses() {
    // Along directions that do not change there is one solution.
    let mut random = Random::new(5);
    let set = InstructionSet::available()[0];
    for round in 0..40 {
        let net = Net::random(&mut random, 0.1);
        let found = by_system(&net, true);
        let [strips, edges] = [false, true].map(|single| by_strips(&net, single, set, Sweeps::Frozen));
        let others = [strips, edges, by_trees(&net)];
        for (other, name) in others.iter().zip(["strips", "edges", "trees"]) {
            assert!(net.worst(other) < 1e-11, "round {round}, {name}: strain {}", net.worst(other));
            assert!(furthest(other, &found) < 1e-9, "round {round}, {name}: {}", furthest(other, &found));
        }
    }
}

#[test]
fn over_relaxed_sweeps_get_there_sooner() {
    // On nets of some 5 × 5 they take as many or more.
    let net = Net::of_size(&mut Random::new(9), [20, 20], 0.1);
    let set = InstructionSet::available()[0];
    let [plain, relaxed] =
        [Sweeps::Following, Sweeps::Relaxed].map(|sweeps| sweeps_over_strips(&net, false, set, sweeps).1);
    assert!(2 * relaxed < plain, "{relaxed} over-relaxed, {plain} plain");
}

#[test]
fn no_impulse_changes_the_momentum() {
    let mut random = Random::new(6);
    let set = InstructionSet::available()[0];
    let mut free = 0;
    while free < 10 {
        let net = Net::random(&mut random, 0.2);
        if net.q.iter().all(|q| q.0[3] > 0.0) {
            free += 1;
            let ways = [
                by_system(&net, false),
                by_strips(&net, false, set, Sweeps::Following),
                by_strips(&net, true, set, Sweeps::Following),
                by_strips(&net, false, set, Sweeps::Relaxed),
            ];
            for (q, name) in ways.iter().zip(["system", "strips", "edges", "relaxed"]) {
                assert!(net.worst(q) < 1e-11, "{name}: {}", net.worst(q));
                let moved = (net.centre(q) - net.centre(&net.q)).length();
                assert!(moved < 1e-13 * net.q.len() as f64, "{name}: {moved}");
            }
        }
    }
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    let mut random = Random::new(7);
    for _ in 0..20 {
        let net = Net::random(&mut random, 0.1);
        for sweeps in [Sweeps::Frozen, Sweeps::Following, Sweeps::Relaxed] {
            let [first, others @ ..] = InstructionSet::available() else { panic!("there is always one") };
            let found = by_strips(&net, false, *first, sweeps);
            for other in others {
                assert_eq!(by_strips(&net, false, *other, sweeps), found, "{other:?}");
            }
        }
        let sets = InstructionSet::available().iter().map(|set| soft_bend_and_level(&net, *set));
        let all: Vec<Vec<Vec4>> = sets.collect();
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]));
    }
}

/// One sweep of every other kernel.
fn soft_bend_and_level(net: &Net, set: InstructionSet) -> Vec<Vec4> {
    let n = net.rest.len();
    let groups = cut(&net.edges, &straight_pairs(&net.edges, &net.rest), n);
    let turn = Turn { inverse_lengths: [1.0, 1.1], stiffness: 0.3, damping: 0.01 };
    let mut packed = Strips::new(&groups, net.edges.len(), (n, 0), net.link(0.2), |_| Some(turn));
    packed.pace_bends(0.01);
    let mut q = net.q.clone();
    q.extend((0..packed.idle).map(|i| Vec4([(i % 2) as f64, 0.0, 0.0, 0.0])));
    let (x, mut y) = (q.clone(), q.clone());
    y.iter_mut().zip(&net.rest).for_each(|(y, rest)| y.0[0] += rest.z);
    let mut tension = vec![Lanes([0.1; LANES]); packed.rows];
    let mut rows = [vec![StripRow::default(); packed.longest]];
    let mut folds = [vec![Fold::default(); packed.longest]];
    packed.sweep(&mut q, &mut tension, &mut folds, |mut q, _, folds| bends::bend(set, &x, &mut q, folds));
    packed.sweep(&mut q, &mut tension, &mut rows, |q, tension, rows| {
        tridiagonal::soft(set, q, tension, rows, 0.7);
    });
    let limits = Limits { most_give: 1e-3, ..Limits::NONE };
    for start in [Start::Unused, Start::Errors(&x[..], 0.5)] {
        packed.sweep(&mut q, &mut tension, &mut rows, |q, tension, rows| {
            tridiagonal::hard(set, q, start, tension, rows, limits);
        });
    }
    packed.sweep(&mut y, &mut tension, &mut rows, |y, _, rows| {
        tridiagonal::project_velocities(set, &q, y, rows);
    });
    q.extend(y);
    q
}

#[test]
fn particles_are_pulled_by_the_sum_over_their_edges() {
    let scene = Scene { gravity: [0.3, -9.81, 0.1], ..free_sheet(Method::ImpulseStrips, 7) };
    let simulation = simulation(&scene);
    let (model, mut random, h) = (simulation.model(), Random::new(5), 0.002);
    let n = model.particle_count();
    let mut near = |x: &DVec3| {
        let [a, b, c] = std::array::from_fn(|_| random.between(-0.01, 0.01));
        Vec4([x.x + a, x.y + b, x.z + c, 1.0])
    };
    let x: Vec<Vec4> = model.rest_positions.iter().map(&mut near).collect();
    let y: Vec<Vec4> = model.rest_positions.iter().map(&mut near).collect();
    // From so slack that nothing is heavier to so tight that all are.
    let tension: Vec<f64> = model.edges.iter().map(|_| 10f64.powf(random.between(-3.0, 4.0))).collect();
    let share: Vec<f64> = (0..n).map(|_| random.between(0.5, 1.0)).collect();
    let held: Vec<Vec4> = (0..n).map(|i| Vec4([0.01 * i as f64, 0.0, -0.02, 0.0])).collect();
    let pull = Predictor::new(n, model.edges.iter().copied().zip(0..));
    let kept = 0.7;
    let environment = Environment::new(model);
    let now = PredictInputs {
        mass: &model.mass,
        inverse_mass: environment.inverse_mass(),
        gravity: model.gravity,
        h,
        x: &x,
        y: &y,
        held: &held,
        tension: &tension,
        warm_start: kept,
        share: &share,
        drift: DVec3::ZERO,
    };
    let with = |set: &InstructionSet| {
        let mut q = vec![Vec4::ZERO; n];
        let sums = predict::apply(*set, &pull, 0..n, &now, &mut q);
        (q, [sums.moving, sums.added])
    };
    let all: Vec<(Vec<Vec4>, [f64; 2])> = InstructionSet::available().iter().map(with).collect();
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]));
    let (q, sums) = &all[0];
    let mut expected = [0.0; 2];
    for i in 0..n {
        let (mut force, mut tight) = (held[i].xyz(), 0.0);
        for ([a, b], t) in model.edges.iter().zip(&tension) {
            let other = if *a as usize == i { *b } else { *a } as usize;
            if *a as usize == i || *b as usize == i {
                force += kept * t * (y[other].xyz() - y[i].xyz());
                tight += kept * t;
            }
        }
        let w = environment.inverse_mass()[i];
        let heavier = (2.0 * h * h * share[i] * w * tight).max(1.0);
        let by = h * h * share[i] / heavier;
        let end = y[i].xyz() + by * (w * force + model.gravity);
        assert!(q[i].xyz().distance(end) < 1e-14, "particle {i}: {:?} is not {end:?}", q[i]);
        assert!((q[i].0[3] - by * w).abs() < 1e-14 * by * w, "mobility of {i}");
        let moving = model.mass[i] * (y[i] - x[i]).xyz().length_squared() / (h * h);
        expected = [expected[0] + moving, expected[1] + moving * (heavier - 1.0)];
    }
    for (sum, expected) in sums.iter().zip(expected) {
        assert!((sum / expected - 1.0).abs() < 1e-12, "{sum} is not {expected}");
    }
}

fn in_a_cube(random: &mut Random) -> DVec3 {
    DVec3::new(random.between(-1.0, 1.0), random.between(-1.0, 1.0), random.between(-1.0, 1.0))
}

#[test]
fn moments_along_a_strip_are_those_of_its_end() {
    let mut random = Random::new(11);
    for case in 0..40 {
        let count = 3 + case % 9;
        let rest: Vec<DVec3> = (0..count).map(|i| DVec3::new(i as f64, 0.0, 0.0)).collect();
        let x: Vec<DVec3> = (0..count).map(|_| in_a_cube(&mut random)).collect();
        let free: Vec<DVec3> = (0..count).map(|_| in_a_cube(&mut random)).collect();
        let mobility: Vec<f64> =
            (0..count).map(|i| if i == 1 { 0.0 } else { random.between(0.1, 2.0) }).collect();
        let turns: Vec<Turn> = (2..count)
            .map(|i| Turn {
                inverse_lengths: [random.between(0.5, 2.0), random.between(0.5, 2.0)],
                // One does not bend at all, the others from softly to stiffly.
                stiffness: if i == 4 { 0.0 } else { 10f64.powf(random.between(-3.0, 5.0)) },
                damping: if i == 4 { 0.0 } else { 10f64.powf(random.between(-5.0, 3.0)) },
            })
            .collect();
        let edges: Vec<[u32; 2]> = (1..count as u32).map(|i| [i - 1, i]).collect();
        let groups = cut(&edges, &straight_pairs(&edges, &rest), count);
        let link = |_| StripEdge { rest: 1.0, compliance: 1.0 };
        let turn = |points: [u32; 3]| {
            let Turn { inverse_lengths: [a, c], .. } = turns[points[0].min(points[2]) as usize];
            let inverse_lengths = if points[0] < points[2] { [a, c] } else { [c, a] };
            Some(Turn { inverse_lengths, ..turns[points[0].min(points[2]) as usize] })
        };
        let mut packed = Strips::new(&groups, edges.len(), (count, 0), link, turn);
        let idle = (0..packed.idle).map(|i| Vec4([(i % 2) as f64, 0.0, 0.0, 0.0]));
        let padded = |list: &[DVec3]| -> Vec<Vec4> {
            let own = list.iter().zip(&mobility).map(|(p, b)| Vec4([p.x, p.y, p.z, *b]));
            own.chain(idle.clone()).collect()
        };
        let (from, mut q) = (padded(&x), padded(&free));
        let (h, mut folds) = (0.01, [vec![Fold::default(); packed.longest]]);
        packed.pace_bends(h);
        // In every second case some are pulled away from straight.
        let mut pulls = vec![DVec3::ZERO; turns.len()];
        let places: Vec<_> = packed.bend_places().filter(|_| case % 2 == 1).collect();
        for (points, at) in places {
            let bend = points[0].min(points[2]) as usize;
            pulls[bend] = in_a_cube(&mut random) * turns[bend].stiffness;
            let [ia, ic] = turns[bend].inverse_lengths;
            packed.set_pull(at, pulls[bend] * if points[0] < points[2] { ic } else { ia });
        }
        let (set, mut tension) = (InstructionSet::available()[0], vec![Lanes::ZERO; packed.rows]);
        packed.sweep(&mut q, &mut tension, &mut folds, |mut q, _, folds| {
            bends::bend(set, &from, &mut q, folds)
        });
        // What the moments at the end would do from where nothing bends is where the end is.
        let mut moved = free.clone();
        let mut most: f64 = 0.0;
        for (i, turn) in turns.iter().enumerate() {
            let [ia, ic] = turn.inverse_lengths;
            let of = |p: &dyn Fn(usize) -> DVec3| ic * (p(i + 2) - p(i + 1)) - ia * (p(i + 1) - p(i));
            let (end, before) = (of(&|k| q[k].xyz()), of(&|k| x[k]));
            let moment = turn.stiffness * end + turn.damping / h * (end - before) - pulls[i];
            most = most.max(turn.stiffness + turn.damping / h);
            for (k, share) in [ia, -ia - ic, ic].into_iter().enumerate() {
                moved[i + k] -= mobility[i + k] * share * moment;
            }
        }
        for (k, moved) in moved.iter().enumerate() {
            let off = (*moved - q[k].xyz()).length();
            // A moment is a difference of turns times a stiffness: that much of their rounding is in it.
            assert!(off < 1e-13 * most.max(1.0), "case {case}, particle {k}: {off} of {most}");
        }
    }
}

#[test]
fn every_quad_of_a_grid_is_in_one_of_two_groups_of_ladders() {
    let (columns, rows) = (7_u32, 5_u32);
    let corner = |r: u32, c: u32| r * columns + c;
    // Each named from another of its corners on.
    let quad = |r: u32, c: u32| {
        let mut quad = [corner(r, c), corner(r, c + 1), corner(r + 1, c + 1), corner(r + 1, c)];
        quad.rotate_left(((r + c) % 4) as usize);
        quad
    };
    let quads: Vec<[u32; 4]> =
        (0..rows - 1).flat_map(|r| (0..columns - 1).map(move |c| (r, c))).map(|(r, c)| quad(r, c)).collect();
    let groups = ladders(&quads, &vec![DVec3::ZERO; (columns * rows) as usize]);
    assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
    let mut found = vec![0; quads.len()];
    for ladder in groups.iter().flatten() {
        assert_eq!((ladder.edges.len(), ladder.particles.len()), (6, 14));
        for (quad, rungs) in ladder.edges.iter().zip(ladder.particles.windows(4).step_by(2)) {
            found[*quad as usize] += 1;
            let mut own = quads[*quad as usize];
            // Rungs lead the same way: the first corner has its neighbours in the second and the third.
            let at = own.iter().position(|i| *i == rungs[0]).unwrap();
            own.rotate_left(at);
            assert!(
                own == [rungs[0], rungs[2], rungs[3], rungs[1]]
                    || own == [rungs[0], rungs[1], rungs[3], rungs[2]]
            );
        }
    }
    assert!(found.iter().all(|n| *n == 1));
}

#[test]
fn forces_along_a_ladder_are_those_of_its_end() {
    let mut random = Random::new(12);
    for case in 0..40 {
        let quads = 1 + case % 7;
        let count = 2 * (quads + 1);
        let mut place =
            |_| DVec3::new(random.between(-1.0, 1.0), random.between(-1.0, 1.0), random.between(-1.0, 1.0));
        let x: Vec<DVec3> = (0..count).map(&mut place).collect();
        let free: Vec<DVec3> = (0..count).map(&mut place).collect();
        let mobility: Vec<f64> =
            (0..count).map(|i| if i == 1 { 0.0 } else { random.between(0.1, 2.0) }).collect();
        // What the last and the second corner weigh, stiffness and damping; one quad resists nothing.
        let mut of_quad = |i: usize| {
            let soft = i == 2;
            let weights = [random.between(0.4, 1.6), random.between(0.4, 1.6)];
            let [k, c] = [10f64.powf(random.between(-3.0, 5.0)), 10f64.powf(random.between(-5.0, 3.0))];
            (weights, if soft { [0.0; 2] } else { [k, c] })
        };
        let own: Vec<([f64; 2], [f64; 2])> = (0..quads).map(&mut of_quad).collect();
        let strip = EdgeStrip { particles: (0..count as u32).collect(), edges: (0..quads as u32).collect() };
        let turn = |points: [u32; 3]| {
            let ([s, t], [stiffness, damping]) = own[points[0] as usize / 2];
            Some(match points[0] % 2 {
                0 => Turn { inverse_lengths: [s, 1.0], stiffness, damping },
                _ => Turn { inverse_lengths: [t, 1.0], ..Turn::default() },
            })
        };
        let edge = |_| StripEdge { rest: 1.0, compliance: 1.0 };
        let mut packed = Strips::new(&[vec![strip]], quads, (count, 0), edge, turn);
        let padded = |list: &[DVec3]| -> Vec<Vec4> {
            let own = list.iter().zip(&mobility).map(|(p, b)| Vec4([p.x, p.y, p.z, *b]));
            own.chain((0..packed.idle).map(|i| Vec4([(i % 2) as f64, 0.0, 0.0, 0.0]))).collect()
        };
        let (from, start, h) = (padded(&x), padded(&free), 0.01);
        packed.pace_bends(h);
        let mut left = Vec::new();
        let ends = InstructionSet::available().iter().map(|set| {
            let (mut q, mut from) = (start.clone(), from.clone());
            let mut rungs = [vec![Rung::default(); packed.longest]];
            left = vec![RowTwist::default(); packed.rows];
            packed.sweep(&mut from, &mut left, &mut rungs, |x, own, _| twists::measure(*set, &x, own));
            packed.sweep(&mut q, &mut left, &mut rungs, |mut q, own, rungs| {
                twists::twist(*set, &mut q, own, rungs)
            });
            q
        });
        let ends: Vec<Vec<Vec4>> = ends.collect();
        let bits = |q: &[Vec4]| q.iter().map(|q| q.0.map(f64::to_bits)).collect::<Vec<_>>();
        assert!(ends.iter().all(|q| bits(q) == bits(&ends[0])), "case {case}: every instruction set");
        let q = &ends[0];
        // What the forces at the end would do from where nothing twists is where the end is.
        let mut moved = free.clone();
        let mut most: f64 = 0.0;
        for (i, ([s, t], [stiffness, damping])) in own.iter().enumerate() {
            let weights = [2.0 - s, -t, t - 2.0, *s];
            let of = |p: &dyn Fn(usize) -> DVec3| {
                weights.iter().enumerate().fold(DVec3::ZERO, |sum, (k, w)| sum + *w * p(2 * i + k))
            };
            let (end, before) = (of(&|k| q[k].xyz()), of(&|k| x[k]));
            let force = *stiffness * end + damping / h * (end - before);
            let kept = DVec3::from_array([0, 1, 2].map(|axis| left[2 * i][axis].0[0]));
            assert!(i == 2 || (kept - end).length() < 1e-9, "case {case}, quad {i}: {kept} {end}");
            most = most.max(stiffness + damping / h);
            for (k, w) in weights.into_iter().enumerate() {
                moved[2 * i + k] -= mobility[2 * i + k] * w * force;
            }
        }
        for (k, moved) in moved.iter().enumerate() {
            let off = (*moved - q[k].xyz()).length();
            assert!(off < 1e-13 * most.max(1.0), "case {case}, particle {k}: {off} of {most}");
        }
    }
}

/// Strips through `particles`, all in one group, of particles 0 to 4.
fn one_group(particles: &[&[u32]]) -> Strips {
    let strip = |list: &&[u32]| EdgeStrip {
        particles: list.to_vec(),
        edges: (1..list.len() as u32).map(|i| i - 1).collect(),
    };
    let group = particles.iter().map(strip).collect();
    Strips::new(&[group], 4, (5, 0), |_| StripEdge { rest: 1.0, compliance: 0.0 }, |_| None)
}

#[test]
#[should_panic(expected = "particle 2 comes twice in one group of strips")]
fn strips_of_one_group_that_share_a_particle_are_refused() {
    one_group(&[&[0, 1, 2], &[2, 3]]);
}

#[test]
#[should_panic(expected = "particle 5 of a strip is not there")]
fn strips_through_a_particle_that_is_not_there_are_refused() {
    one_group(&[&[0, 1], &[4, 5]]);
}

#[test]
fn an_edge_that_gives_otherwise_is_alone_with_it() {
    // Edges of a grid are kept by kinds: to change one of them is as to make it so.
    let (set, mut net) = (InstructionSet::available()[0], Net::of_size(&mut Random::new(8), [9, 9], 0.1));
    net.lengths.fill(1.0);
    let n = net.rest.len();
    let groups = cut(&net.edges, &straight_pairs(&net.edges, &net.rest), n);
    let soft = [7, 8, 100];
    let made =
        |link: &dyn Fn(u32) -> StripEdge| Strips::new(&groups, net.edges.len(), (n, 0), link, |_| None);
    let mut changed = made(&net.link(1e-6));
    soft.iter().for_each(|edge| changed.set_compliance(*edge, 0.3));
    let as_made = made(&|edge| {
        let compliance = if soft.contains(&(edge as usize)) { 0.3 } else { 1e-6 };
        StripEdge { compliance, ..net.link(0.0)(edge) }
    });
    let swept = |strips: &Strips| {
        let mut q = net.q.clone();
        q.extend((0..strips.idle).map(|i| Vec4([(i % 2) as f64, 0.0, 0.0, 0.0])));
        let mut tension = vec![Lanes::ZERO; strips.rows];
        strips.sweep(
            &mut q,
            &mut tension,
            &mut [vec![StripRow::default(); strips.longest]],
            |q, tension, rows| {
                tridiagonal::hard(set, q, Start::Unused, tension, rows, Limits::NONE);
            },
        );
        (q, tension)
    };
    assert!(swept(&changed) == swept(&as_made));
    assert!(swept(&changed) != swept(&made(&net.link(1e-6))));
}

#[test]
fn what_strips_name_must_be_there() {
    let packed = one_group(&[&[0, 1, 2], &[3, 4]]);
    let set = InstructionSet::available()[0];
    let sweep = |particles: usize, start: usize| {
        let (mut q, start) = (vec![Vec4::ZERO; particles], vec![Vec4::ZERO; start]);
        let mut tension = vec![Lanes::ZERO; packed.rows];
        packed.sweep(&mut q, &mut tension, &mut [vec![StripRow::default(); packed.longest]], |q, t, rows| {
            tridiagonal::hard(set, q, Start::Errors(&start, 0.5), t, rows, Limits::NONE);
        });
    };
    let refuses = |particles: usize, start: usize| {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| sweep(particles, start))).is_err()
    };
    let all = 5 + packed.idle;
    assert!(!refuses(all, all), "all there");
    assert!(refuses(all - 1, all), "particles");
    assert!(refuses(all, all - 1), "where they were");
    let block = &packed.groups().next().unwrap()[0];
    let extent = || tridiagonal::extent(set, block, &vec![Vec4::ZERO; all - 1]);
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(extent)).is_err(), "those it measures");
}

#[test]
fn blocks_on_several_threads_give_the_bits_of_one() {
    let net = Net::of_size(&mut Random::new(3), [40, 60], 0.05);
    let (n, set) = (net.rest.len(), InstructionSet::available()[0]);
    let groups = cut(&net.edges, &straight_pairs(&net.edges, &net.rest), n);
    let packed = Strips::new(&groups, net.edges.len(), (n, 0), net.link(1e-6), |_| None);
    let swept = || {
        let mut q = net.q.clone();
        q.extend((0..packed.idle).map(|i| Vec4([(i % 2) as f64, 0.0, 0.0, 0.0])));
        let mut tension = vec![Lanes::ZERO; packed.rows];
        let mut scratch = vec![vec![StripRow::default(); packed.longest]; parallel::members()];
        for _ in 0..20 {
            packed.sweep(&mut q, &mut tension, &mut scratch, |q, tension, rows| {
                tridiagonal::hard(set, q, Start::Unused, tension, rows, Limits::NONE);
            });
        }
        (q, tension)
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let by_team = pool.install(|| parallel::together(swept));
    assert!(packed.groups().flatten().count() > 8 && swept() == by_team);
}

#[test]
fn predictions_refuse_lists_that_are_too_short() {
    let simulation = simulation(&free_sheet(Method::ImpulseStrips, 3));
    let (model, set) = (simulation.model(), InstructionSet::available()[0]);
    let (n, edges) = (model.particle_count(), model.edges.len());
    let pull = Predictor::new(n, model.edges.iter().copied().zip(0..));
    let refuses = |points: usize, tensions: usize, particles: usize| {
        let (at, tension, share) = (vec![Vec4::ZERO; points], vec![0.0; tensions], vec![1.0; n]);
        let now = PredictInputs {
            mass: &model.mass,
            inverse_mass: simulation.environment().inverse_mass(),
            gravity: model.gravity,
            h: 0.01,
            x: &at,
            y: &at,
            held: &[],
            tension: &tension,
            warm_start: 1.0,
            share: &share,
            drift: DVec3::ZERO,
        };
        let apply = || predict::apply(set, &pull, 0..particles, &now, &mut vec![Vec4::ZERO; particles]);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(apply)).is_err()
    };
    assert!(!refuses(n, edges, n), "all there");
    assert!(refuses(n - 1, edges, 1), "ends of edges");
    assert!(refuses(n, edges - 1, 1), "tensions");
    assert!(refuses(n + 1, edges, n + 1), "particles of the model");
}

#[test]
fn redundant_edges_are_counted() {
    // A straight row between two pins has one edge too many, a bent one has not.
    let edges = [[0, 1], [1, 2], [2, 3], [3, 4]];
    for (sag, redundant) in [(0.0, 1), (0.2, 0)] {
        let place = |i: u32| DVec3::new(f64::from(i), if i == 2 { -sag } else { 0.0 }, 0.0);
        let rest: Vec<DVec3> = (0..5).map(place).collect();
        let free = |i: usize| f64::from(u8::from((1..4).contains(&i)));
        let q: Vec<Vec4> = rest.iter().enumerate().map(|(i, x)| Vec4([x.x, x.y, x.z, free(i)])).collect();
        let link = |_| StripEdge { rest: 1.0, compliance: 1e-9 };
        let mut direct = LengthSystem::new(&edges, &rest, |i| (1..4).contains(&i), link, &[0, 1, 2, 3]);
        assert_eq!(direct.redundant(&q), redundant, "sag {sag}");
    }
}

#[test]
fn velocity_impulses_leave_no_velocity_along_edges() {
    let mut random = Random::new(8);
    for _ in 0..10 {
        let net = Net::random(&mut random, 0.1);
        let slots: Vec<u32> = (0..net.edges.len() as u32).collect();
        let moves = |i: u32| net.q[i as usize].0[3] > 0.0;
        let mut direct = LengthSystem::new(&net.edges, &net.rest, moves, net.link(0.0), &slots);
        let mut y = net.q.clone();
        for y in y.iter_mut().filter(|y| y.0[3] > 0.0) {
            *y +=
                Vec4([random.between(-0.1, 0.1), random.between(-0.1, 0.1), random.between(-0.1, 0.1), 0.0]);
        }
        direct.level(&net.q, &mut y);
        for &[a, b] in &net.edges {
            let (a, b) = (a as usize, b as usize);
            let d = net.q[b].xyz() - net.q[a].xyz();
            let change = y[b].xyz() - y[a].xyz() - d;
            assert!(d.dot(change).abs() < 1e-12, "{}", d.dot(change));
        }
    }
}
