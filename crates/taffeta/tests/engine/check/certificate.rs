//! The certificate judged by integers, by brute force, by symmetry, by meshes made with or published with their crossings, and by sampling.

use super::reference;
use taffeta::check::{
    Surface, against_body, intersections_between, intersections_between_brute_force, self_intersections,
    self_intersections_brute_force, strain,
};
use taffeta::math::random::Random;
use taffeta::math::{DVec3, Pose};
use taffeta::model::collider::{PosedShape, Shape};

type Triangles = Vec<[u32; 3]>;

fn v(x: f64, y: f64, z: f64) -> DVec3 {
    DVec3::new(x, y, z)
}

/// Both ways must agree; this is what they found.
fn pairs(positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let slow = self_intersections_brute_force(positions, triangles);
    assert_eq!(self_intersections(positions, triangles), slow);
    slow
}

/// A lattice point: of a cube of the given half size or, with a frame, of a plane through the origin.
fn lattice_point(random: &mut Random, half: i128, frame: &Option<[reference::V; 2]>) -> reference::V {
    let mut number = || random.below(2 * half as usize + 1) as i128 - half;
    match frame {
        None => [number(), number(), number()],
        Some([e, f]) => {
            let (s, t) = (number(), number());
            [0, 1, 2].map(|k| s * e[k] + t * f[k])
        }
    }
}

fn as_float(p: reference::V) -> DVec3 {
    v(p[0] as f64, p[1] as f64, p[2] as f64)
}

#[test]
fn triangle_test_agrees_with_integer_arithmetic() {
    let mut random = Random::new(7);
    // Per number of shared particles: pairs apart, pairs that intersect.
    let mut seen = [[0; 2]; 3];
    for round in 0..150_000 {
        let half = [1, 1, 2, 3, 8, 1 << 11][round % 6];
        let shared = round / 6 % 3;
        let planar = round % 4 == 0;
        let frame = planar.then(|| [(); 2].map(|_| lattice_point(&mut random, half.min(4), &None)));
        let points: Vec<_> = (0..6 - shared).map(|_| lattice_point(&mut random, half, &frame)).collect();
        let a = [0, 1, 2];
        let b = [[3, 4, 5], [0, 3, 4], [0, 1, 3]][shared];
        let (s, t) = (a.map(|c| points[c]), b.map(|c| points[c]));
        let want = match shared {
            0 => reference::meet(s, t),
            1 => reference::meet_beyond_point(s, t),
            _ => reference::meet_beyond_edge(s, t),
        };
        seen[shared][usize::from(want)] += 1;
        // Neither the order of corners nor an exact change of scale and place may matter.
        let (turn, scale) = (random.below(3), 0.5f64.powi(random.below(40) as i32));
        let triangles = [b, a].map(|t| [t[turn], t[(turn + 2) % 3], t[(turn + 1) % 3]].map(|c| c as u32));
        let shift = v(1e6, -2e6, 3e6);
        let positions: Vec<DVec3> = points.iter().map(|&p| scale * (as_float(p) + shift)).collect();
        let found = pairs(&positions, &triangles);
        assert_eq!(found.len() == 1, want, "{s:?} {t:?}, {shared} shared");
    }
    assert!(seen.iter().flatten().all(|&n| n > 2000), "one-sided sample: {seen:?}");
}

#[test]
fn every_clause_of_the_definition() {
    let (o, x, y, z) = (v(0., 0., 0.), v(1., 0., 0.), v(0., 1., 0.), v(0., 0., 1.));
    let apart = |t: [DVec3; 3]| pairs(&[o, 4. * x, 4. * y, t[0], t[1], t[2]], &[[0, 1, 2], [3, 4, 5]]).len();
    assert_eq!(apart([x + y, x + y + z, x + z]), 1, "corner touches the inside");
    assert_eq!(apart([o, z - x, z - y]), 1, "corner touches a corner");
    assert_eq!(apart([x - y, x + y, x + z]), 1, "edge crosses an edge");
    assert_eq!(apart([x - z, x + z, x - y]), 1, "edge touches an edge");
    assert_eq!(apart([x + y - z, x + y + z, x - y]), 1, "pierces");
    assert_eq!(apart([x, 2. * x, 2. * x - y]), 1, "coplanar, edges overlap");
    assert_eq!(apart([x + y, x - y, 2. * x - y]), 1, "coplanar overlap");
    assert_eq!(apart([x + y, 1.5 * x + y, x + 1.5 * y]), 1, "coplanar, inside the other");
    assert_eq!(apart([4. * x + y, 5. * x, 5. * x + y]), 0, "coplanar, apart");
    assert_eq!(apart([3. * (x + y), 3. * x + 2. * y, 4. * (x + y)]), 0, "coplanar, boxes overlap");
    assert_eq!(apart([z, x + z, y + z]), 0, "parallel");
    assert_eq!(apart([3. * (x + y) - z, 3. * (x + y) + z, 5. * x]), 0, "crosses the plane only");
    assert_eq!(apart([x + y; 3]), 1, "point inside");
    assert_eq!(apart([x + y + z; 3]), 0, "point above");
    assert_eq!(apart([x + y - z, x + y + z, x + y]), 1, "segment pierces");
    assert_eq!(apart([x - y, 2. * x + 2. * y, 1.5 * x + 0.5 * y]), 1, "coplanar segment crosses");
    assert_eq!(apart([3. * (x + y) - z, 3. * (x + y), 3. * (x + y) + z]), 0, "segment passes by");

    let corner = |b: DVec3, c: DVec3| pairs(&[o, 4. * x, 4. * y, b, c], &[[0, 1, 2], [4, 0, 3]]).len();
    assert_eq!(corner(z - x, z - y), 0, "only the shared particle");
    assert_eq!(corner(x + y - z, x + y + z), 1, "shared particle and a crossing");
    assert_eq!(corner(x + y, z), 1, "edge along the inside");
    assert_eq!(corner(9. * x, z), 1, "edge along an edge");
    assert_eq!(corner(-x, -x - y), 0, "coplanar, back to back");
    assert_eq!(corner(x + y, x - y), 1, "coplanar, overlapping");
    assert_eq!(corner(o, o), 0, "all in the shared particle");
    assert_eq!(corner(o, x), 1, "segment along an edge");
    assert_eq!(corner(z, -z), 0, "segment through the shared particle");
    assert_eq!(corner(x + y, -x - y), 1, "segment through the shared particle, in the plane");

    let edge = |d: DVec3| pairs(&[o, 4. * x, 4. * y, d], &[[0, 1, 2], [1, 0, 3]]).len();
    assert_eq!(edge(-y), 0, "flat");
    assert_eq!(edge(z), 0, "bent");
    assert_eq!(edge(y + 1e-300 * z), 1, "folded flat; the height is read as zero");
    assert_eq!(edge(9. * x + y), 1, "folded flat, neither apex in the other");
    assert_eq!(edge(y + 1e-80 * z), 0, "folded almost flat");
    assert_eq!(edge(2. * x), 0, "nothing but the edge");
    assert_eq!(edge(9. * x), 0, "a segment that sticks out");
    let line = [o, x, 3. * x, 2. * x, -x];
    assert_eq!(pairs(&line, &[[0, 1, 2], [0, 1, 3]]), [[0, 1]], "segments that stick out alike");
    assert_eq!(pairs(&line, &[[0, 1, 2], [0, 1, 4]]).len(), 0, "segments that stick out oppositely");

    assert_eq!(pairs(&[o, x, y], &[[0, 1, 2], [2, 1, 0]]), [[0, 1]], "duplicate");
    assert_eq!(pairs(&[o, x, y], &[[0, 1, 2], [0, 0, 1], [2, 2, 2]]).len(), 0, "repeated particles");
    assert_eq!(pairs(&[o, x, y], &[[0, 0, 1], [0, 1, 2]]).len(), 0, "repeated particles first");
    assert_eq!(pairs(&[o, x, y, x], &[[0, 1, 2], [0, 3, 3]]), [[0, 1]], "another particle at the same place");
}

#[test]
fn one_unit_in_the_last_place_decides() {
    let mut random = Random::new(3);
    let mut tried = 0;
    while tried < 2000 {
        // Few enough bits that every sum below is exact; the middle is inside.
        let mut number = || 1.0 + random.below(1 << 20) as f64 / (1 << 20) as f64;
        let [a, b, inside] = [(); 3].map(|_| v(number(), number(), number()));
        let c = 3.0 * inside - a - b;
        let axis = random.below(3);
        let normal = (b - a).cross(c - a);
        if normal[axis] == 0.0 {
            continue;
        }
        tried += 1;
        let out = DVec3::AXES[axis];
        let nudge = |to: fn(f64) -> f64| {
            let mut x = inside;
            x[axis] = to(x[axis]);
            x
        };
        let (above, below) = (nudge(f64::next_up), nudge(f64::next_down));
        let beside = 0.25 * (b - a);
        let wing = [inside + out + beside, inside + out - beside];
        let touching = |tip| pairs(&[a, b, c, tip, wing[0], wing[1]], &[[0, 1, 2], [3, 4, 5]]).len();
        assert_eq!([inside, below, above].map(touching), [1, 1, 0]);
        let folded = |tip| pairs(&[a, b, c, tip], &[[0, 1, 2], [0, 1, 3]]).len();
        assert_eq!([inside, below, above].map(folded), [1, 0, 0]);
        let hinged = |tip| pairs(&[a, b, c, tip, wing[0]], &[[0, 1, 2], [0, 3, 4]]).len();
        assert_eq!([inside, below, above].map(hinged), [1, 1, 0]);
        // Straight above the middle the quick test by projections has only rounding to see.
        let up = normal * normal[axis].signum();
        let upright = |tip| {
            let wing = [inside + up + beside, inside + up - beside];
            pairs(&[a, b, c, tip, wing[0], wing[1]], &[[0, 1, 2], [3, 4, 5]]).len()
        };
        assert_eq!([inside, below, above].map(upright), [1, 1, 0]);
        let seam = [a, b, c, inside, 2.0 * inside - a + up];
        assert_eq!(pairs(&seam, &[[0, 1, 2], [0, 3, 4]]).len(), 1);
    }
}

/// Separate triangles of about the given size in the unit cube; a lattice makes them touch.
fn soup(random: &mut Random, count: usize, size: f64, lattice: Option<f64>) -> (Vec<DVec3>, Triangles) {
    let mut positions = Vec::new();
    for _ in 0..count {
        let middle = v(random.unit(), random.unit(), random.unit());
        for _ in 0..3 {
            let mut number = || random.between(-size, size);
            let p = middle + v(number(), number(), number());
            positions.push(lattice.map_or(p, |cells| (p * cells).round()));
        }
    }
    let triangles = (0..count as u32).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
    (positions, triangles)
}

/// A square sheet of n x n cells, over which `place` puts the particles.
fn sheet(n: u32, place: impl Fn(f64, f64) -> DVec3) -> (Vec<DVec3>, Triangles) {
    let cell = |k| (k % (n + 1), k / (n + 1));
    let positions = (0..(n + 1) * (n + 1)).map(|k| place(cell(k).0 as f64, cell(k).1 as f64)).collect();
    let corners = (0..(n + 1) * n).filter(|&k| cell(k).0 < n);
    let triangles = corners.flat_map(|k| [[k, k + 1, k + n + 2], [k, k + n + 2, k + n + 1]]).collect();
    (positions, triangles)
}

/// A sheet folded every `width` cells, layers a distance `gap` apart.
fn folded(n: u32, width: u32, gap: f64) -> (Vec<DVec3>, Triangles) {
    sheet(n, |s, t| {
        let (layer, along) = ((s / width as f64).floor(), s % width as f64);
        v(if layer % 2.0 == 0.0 { along } else { width as f64 - along }, gap * s, t)
    })
}

#[test]
fn tree_finds_what_brute_force_finds() {
    let mut random = Random::new(11);
    let mut total = 0;
    for round in 0..300 {
        let count = 1 + random.below(120);
        let size = [0.02, 0.1, 0.4][round % 3];
        let lattice = [None, Some(4.0), Some(12.0)][round / 3 % 3];
        let (mut positions, mut triangles) = soup(&mut random, count, size, lattice);
        match round % 5 {
            // Shared particles, repeated ones included.
            1 => triangles.iter_mut().flatten().for_each(|c| *c %= 1 + count as u32),
            // Sizes from a millionth to a million, far from the origin.
            2 => (0..count).for_each(|k| {
                let scale = 2f64.powi(random.below(41) as i32 - 20);
                positions[3 * k..3 * k + 3].iter_mut().for_each(|p| *p = *p * scale + 1e7 * DVec3::X);
            }),
            3 => {
                positions.iter_mut().for_each(|p| *p *= 1e97);
                positions[count] = [DVec3::NAN, DVec3::INFINITY, v(0., 2e100, 0.)][round % 3];
                triangles[0][2] = u32::MAX;
            }
            _ => {}
        }
        total += pairs(&positions, &triangles).len();
        let (a, b) = triangles.split_at(random.below(count));
        let (a, b) = (
            Surface { positions: &positions, triangles: a },
            Surface { positions: &positions, triangles: b },
        );
        let slow = intersections_between_brute_force(a, b);
        assert_eq!(intersections_between(a, b), slow);
        total += slow.len();
    }
    assert!(total > 20_000, "too few intersections to tell: {total}");
}

/// `count` triangles around particle 0, each beginning where the one before ends; the last ends where the first begins if it is a ring.
fn fan(count: u32, is_ring: bool) -> Triangles {
    (1..=count).map(|k| [0, k, if is_ring && k == count { 1 } else { k + 1 }]).collect()
}

#[test]
fn fans_around_a_particle() {
    let mut random = Random::new(13);
    // Fans whose triangles share no more than their particles, and others.
    let mut seen = [0; 2];
    for round in 0..60_000 {
        let (count, is_ring) = (1 + random.below(9) as u32, round % 3 > 0);
        let turns = [1.0, 1.0, 0.9, 2.0][round / 3 % 4] * std::f64::consts::TAU;
        let bend = [0.0, 0.2, 1.0][round / 12 % 3];
        // Whole numbers make spokes that lie on one another, on edges, and in one plane.
        let lattice = [None, Some(2.0), Some(5.0)][round / 36 % 3];
        let spoke = |k: u32, random: &mut Random| {
            let angle = (f64::from(k) + random.between(-0.3, 0.3)) * turns / f64::from(count);
            let size = random.between(0.3, 1.5);
            let place = size * v(angle.cos(), bend * random.between(-1.0, 1.0), angle.sin());
            lattice.map_or(place, |cells: f64| (cells * place).round())
        };
        let mut positions = vec![DVec3::ZERO];
        positions.extend((0..=count).map(|k| spoke(k, &mut random)));
        let turned = |p: &DVec3| p.x * v(1., 2., 2.) + p.y * v(2., 1., -2.) + p.z * v(2., -2., 1.);
        if round % 2 == 0 {
            positions = positions.iter().map(turned).collect();
        }
        let mut triangles = fan(count, is_ring);
        (1..triangles.len()).for_each(|k| triangles.swap(k, random.below(k + 1)));
        match round % 50 {
            // One the other way round, twice, or with a particle that another has, too.
            7 => triangles[0].swap(1, 2),
            8 => triangles.push(triangles[0]),
            9 => triangles[0][1] = 1 + random.below(count as usize) as u32,
            _ => {}
        }
        let found = pairs(&positions, &triangles).len();
        seen[usize::from(found > 0)] += 1;
    }
    assert!(seen.iter().all(|&n| n > 10_000), "one-sided sample: {seen:?}");
    // Twice around: each of six triangles lies on another. The same once around, and its half.
    let around = |turns: f64, ring: bool| {
        let angle = |k: u32| turns * std::f64::consts::TAU * f64::from(k) / 6.0;
        let spokes = (0..7).map(|k| v(angle(k).cos(), 0.0, angle(k).sin()));
        let positions: Vec<DVec3> = [DVec3::ZERO].into_iter().chain(spokes).collect();
        pairs(&positions, &fan(6, ring)).len()
    };
    assert!(around(2.0, true) >= 3);
    assert_eq!(around(1.0, true), 0);
    assert_eq!(around(0.5, false), 0);
}

#[test]
fn sheets_in_all_shapes_and_places() {
    let mut random = Random::new(17);
    let mut seen = [0; 2];
    for round in 0..120 {
        let waves = [0.0, 0.4, 1.5][round % 3];
        // Whole cells make layers that touch.
        let lattice = [None, Some(2.0)][round / 3 % 2];
        let [a, b, c, d] = [(); 4].map(|_| random.between(-0.6, 0.6));
        let (mut positions, mut triangles) = sheet(14, |s, t| {
            let place = v(
                s + waves * (a * t).sin(),
                waves * (2.0 * (b * s + c * t).cos()),
                t + waves * (d * s).cos() * s,
            );
            lattice.map_or(place, |cells: f64| (cells * place).round())
        });
        let far = [0.0, 1e3, 1e9, 1e45][round / 6 % 4];
        let size = [1.0, 1e-3, 1e-20, 1e30][round / 24 % 4];
        positions.iter_mut().for_each(|p| *p = size * *p + far * v(1.0, -2.0, 3.0));
        // Two sheets without a common particle, one of them moved; and a few triangles the other way round.
        if round % 5 == 0 {
            let shift = size * v(random.unit(), 0.2 * random.unit(), random.unit());
            let count = positions.len() as u32;
            positions.extend(positions.clone().iter().map(|p| *p + shift));
            triangles.extend(triangles.clone().iter().map(|t| t.map(|c| c + count)));
        }
        if round % 7 == 0 {
            triangles.iter_mut().step_by(9).for_each(|t| t.swap(0, 1));
        }
        let found = pairs(&positions, &triangles).len();
        seen[usize::from(found > 0)] += 1;
        let (a, b) = triangles.split_at(3 * triangles.len() / 4);
        let [a, b] = [a, b].map(|triangles| Surface { positions: &positions, triangles });
        assert_eq!(intersections_between(a, b), intersections_between_brute_force(a, b));
    }
    assert!(seen.iter().all(|&n| n > 20), "one-sided sample: {seen:?}");
}

#[test]
fn sheets_intersect_where_they_are_pushed_through() {
    let (positions, triangles) = sheet(40, |s, t| v(s, 0.5 * (0.3 * s * t).sin(), t));
    assert_eq!(pairs(&positions, &triangles).len(), 0);
    for turn in [DVec3::ZERO, v(20., 30., 40.)] {
        let pose = Pose::from_degrees(v(1., 2., 3.), turn);
        let (positions, triangles) = folded(40, 8, 0.01);
        let mut positions: Vec<DVec3> = positions.iter().map(|&p| pose.to_world(p)).collect();
        assert_eq!(pairs(&positions, &triangles).len(), 0);
        // The sheet rises by 0.08 a layer; half as much again reaches past the next one.
        let moved = 41 * 20 + 12;
        positions[moved] += pose.rotation * v(0., 0.12, 0.);
        let found = pairs(&positions, &triangles);
        assert!(!found.is_empty());
        let at_moved = |t: &u32| triangles[*t as usize].contains(&(moved as u32));
        assert!(found.iter().all(|pair| pair.iter().any(at_moved)));
    }
    // Folded flat: every triangle lies on those of all other layers.
    let (positions, triangles) = folded(12, 4, 0.0);
    assert!(pairs(&positions, &triangles).len() > triangles.len());
}

#[test]
fn numbering_axes_scale_and_threads_do_not_matter() {
    let mut random = Random::new(5);
    for round in 0..60 {
        let lattice = [Some(6.0), None][round % 2];
        let (positions, mut triangles) = soup(&mut random, 150, 0.2, lattice);
        triangles.iter_mut().flatten().for_each(|c| *c %= 200);
        let want = pairs(&positions, &triangles);
        assert!(want.len() > 100);

        let mut order: Vec<u32> = (0..triangles.len() as u32).collect();
        (1..order.len()).for_each(|k| order.swap(k, random.below(k + 1)));
        let shuffled: Triangles = order.iter().map(|&k| triangles[k as usize]).collect();
        // Particle c becomes the last but c, too.
        let last = positions.len() as u32 - 1;
        let renumbered: Triangles = shuffled.iter().map(|t| t.map(|c| last - c)).collect();
        let backwards: Vec<DVec3> = positions.iter().rev().copied().collect();
        let mut found = pairs(&backwards, &renumbered);
        found.iter_mut().for_each(|pair| *pair = pair.map(|k| order[k as usize]));
        found.iter_mut().for_each(|pair| pair.sort());
        found.sort();
        assert_eq!(found, want);

        let changes: [&dyn Fn(DVec3) -> DVec3; 5] =
            [&|p| v(p.y, p.z, p.x), &|p| v(p.x, p.z, p.y), &|p| -p, &|p| 2f64.powi(-60) * p, &|p| {
                2f64.powi(80) * p
            }];
        for change in changes {
            let changed: Vec<DVec3> = positions.iter().map(|&p| change(p)).collect();
            assert_eq!(self_intersections(&changed, &triangles), want);
        }
        if lattice.is_some() {
            let moved: Vec<DVec3> = positions.iter().map(|&p| p + v(1e15, -1e12, 3.0)).collect();
            assert_eq!(self_intersections(&moved, &triangles), want);
        }
    }
    let (positions, triangles) = soup(&mut random, 5000, 0.05, None);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| self_intersections(&positions, &triangles))
    };
    assert_eq!(with(1), with(2));
    assert_eq!(with(1), with(7));
}

/// Positions and triangles of a shared Wavefront file, or none if the shared data is not there.
fn shared_mesh(name: &str) -> Option<(Vec<DVec3>, Triangles)> {
    let text =
        std::fs::read_to_string(testing::reference_data(&format!("collision-meshes/{name}.obj"))?).unwrap();
    let rows = |kind: &'static str| {
        let lines = text.lines().filter_map(move |line| line.strip_prefix(kind));
        lines.map(|line| line.split_whitespace().collect::<Vec<_>>())
    };
    let number = |word: &str| word.parse::<f64>().unwrap();
    let positions = rows("v ").map(|r| v(number(r[0]), number(r[1]), number(r[2]))).collect();
    let triangles = rows("f ").map(|r| [0, 1, 2].map(|k| r[k].parse::<u32>().unwrap() - 1)).collect();
    Some((positions, triangles))
}

/// How many edges a mesh has, and how many pairs of an edge and a triangle without a common particle cross or touch. An edge is a triangle without area,
/// so the certificate counts the same pairs.
fn crossings_of_edges(positions: &[DVec3], triangles: &[[u32; 3]]) -> (usize, usize) {
    let sides = |t: &[u32; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
    let mut edges: Vec<[u32; 2]> = triangles.iter().flat_map(sides).collect();
    edges.iter_mut().for_each(|edge| edge.sort());
    edges.sort();
    edges.dedup();
    let thin: Triangles = edges.iter().map(|e| [e[0], e[1], e[1]]).collect();
    let [a, b] = [&thin[..], triangles].map(|t| Surface { positions, triangles: t });
    let met = intersections_between(a, b);
    // All pairs of large meshes are for long runs.
    if edges.len() * triangles.len() < 1_000_000 || testing::long() {
        assert_eq!(met, intersections_between_brute_force(a, b));
    }
    let apart = |pair: &&[u32; 2]| {
        let (edge, triangle) = (edges[pair[0] as usize], triangles[pair[1] as usize]);
        !edge.iter().any(|c| triangle.contains(c))
    };
    (edges.len(), met.iter().filter(apart).count())
}

/// How a needle, a triangle that stands on its tip, meets a sheet of square cells with diagonals.
#[derive(Clone, Copy)]
enum Needle {
    /// Its tip is below the middle of a triangle: two of its edges go through.
    Through,
    /// The same over a diagonal: two of its edges go through a triangle each, and the diagonal through the needle.
    Across,
    /// Its tip is on the middle of a triangle: its two edges touch.
    Touches,
    /// Its tip is just above.
    Above,
}

/// A sheet of n x n cells that lies level, with needles in cells of their own. All numbers are multiples of 1/256 and have few bits.
fn pincushion(n: u32, needles: &[Needle]) -> (Vec<DVec3>, Triangles) {
    let (mut positions, mut triangles) = sheet(n, |s, t| v(s, 0.0, t));
    for (k, needle) in (0..).zip(needles) {
        let (tip, at) = match needle {
            Needle::Through => (-1.0, (0.75, 0.25)),
            Needle::Across => (-1.0, (0.5, 0.5)),
            Needle::Touches => (0.0, (0.75, 0.25)),
            Needle::Above => (1.0 / 256.0, (0.75, 0.25)),
        };
        // Cells are used from the first on; the needle stands across the diagonals, and is a sixteenth wide.
        let foot = v(f64::from(k % n) + at.0, 0.0, f64::from(k / n) + at.1);
        let first = positions.len() as u32;
        let aside = v(1.0, 0.0, -1.0) / 32.0;
        positions.extend([foot + tip * DVec3::Y, foot + DVec3::Y + aside, foot + DVec3::Y - aside]);
        triangles.push([first, first + 1, first + 2]);
    }
    (positions, triangles)
}

#[test]
fn made_meshes_have_the_crossings_that_they_were_made_with() {
    use Needle::*;
    let n = 12;
    let mixed: Vec<Needle> = (0..96).map(|k| [Through, Across, Above, Touches][k % 4]).collect();
    // Needles; pairs of an edge and a triangle; pairs of triangles.
    let made = [
        (vec![], 0, 0),
        (vec![Above; 100], 0, 0),
        (vec![Through; 100], 200, 100),
        (vec![Across; 100], 300, 200),
        (vec![Touches; 100], 200, 100),
        (mixed, 24 * (2 + 3 + 2), 24 * (1 + 2 + 1)),
    ];
    for (case, (needles, crossings, intersecting)) in made.into_iter().enumerate() {
        let (positions, triangles) = pincushion(n, &needles);
        // Axes of length 3 at right angles in whole numbers: nothing is rounded.
        let turned =
            |p: &DVec3| p.x * v(1., 2., 2.) + p.y * v(2., 1., -2.) + p.z * v(2., -2., 1.) + v(5., -7., 64.);
        let askew: Vec<DVec3> = positions.iter().map(turned).collect();
        for positions in [positions, askew] {
            let edges = (2 * n * (n + 1) + n * n) as usize + 3 * needles.len();
            assert_eq!(crossings_of_edges(&positions, &triangles), (edges, crossings), "case {case}");
            assert_eq!(pairs(&positions, &triangles).len(), intersecting, "case {case}");
        }
    }
}

#[test]
fn published_meshes_have_their_published_crossings() {
    // One figure differs: the height field is published with two pairs touching to 113 bits; in rational arithmetic all its pairs are apart.
    let published = [
        ("cube", 18, 0),
        ("two-cubes-far", 720, 0),
        ("two-cubes-close", 720, 0),
        ("two-cubes-intersecting", 720, 96),
        ("height-field", 7443, 0),
        ("thick-cloth/t0", 634, 0),
        ("thick-cloth/t1", 634, 34 + 16),
    ];
    for (name, edge_count, crossings) in published {
        let Some((positions, triangles)) = shared_mesh(name) else { return };
        assert_eq!(crossings_of_edges(&positions, &triangles), (edge_count, crossings), "{name}");
        // Triangles intersect exactly in the meshes in which an edge meets a triangle it does not touch.
        assert_eq!(self_intersections(&positions, &triangles).is_empty(), crossings == 0, "{name}");
    }
}

/// Signed distance of a local point, written down anew.
fn distance_field(shape: Shape, p: DVec3) -> f64 {
    match shape {
        Shape::Plane => p.y,
        Shape::Sphere { radius } => p.dot(p).sqrt() - radius,
        Shape::Capsule { radius, half_length: h } => {
            let ends = (p - h * DVec3::Y).length().min((p + h * DVec3::Y).length());
            (if p.y.abs() <= h { p.x.hypot(p.z) } else { ends }) - radius
        }
        Shape::Box { half_size: h } if p.abs().cmple(h).all() => -(h - p.abs()).min_element(),
        Shape::Box { half_size: h } => p.distance(p.max(-h).min(h)),
    }
}

/// The least value of a convex function over a triangle: the best of a grid, then finer grids around the best.
fn least_by_sampling([a, b, c]: [DVec3; 3], field: impl Fn(DVec3) -> f64) -> f64 {
    let (mut best, mut at, mut width) = (f64::INFINITY, (0.0, 0.0), 1.0);
    let cells = 24;
    while width > 1e-9 {
        let middle = at;
        for k in 0..(cells + 1) * (cells + 1) {
            let step = |k: usize, from: f64| from + width * (2.0 * k as f64 / cells as f64 - 1.0);
            let (s, t) = (step(k % (cells + 1), middle.0).max(0.0), step(k / (cells + 1), middle.1).max(0.0));
            let (s, t) = if s + t > 1.0 { (s / (s + t), t / (s + t)) } else { (s, t) };
            let value = field(a + s * (b - a) + t * (c - a));
            if value < best {
                (best, at) = (value, (s, t));
            }
        }
        width *= 0.5;
    }
    best
}

#[test]
fn gaps_to_solids_are_those_of_dense_samples() {
    let mut random = Random::new(23);
    let shapes = [
        Shape::Plane,
        Shape::Sphere { radius: 0.7 },
        Shape::Capsule { radius: 0.3, half_length: 0.5 },
        Shape::Capsule { radius: 0.4, half_length: 0.0 },
        Shape::Box { half_size: v(0.5, 0.3, 0.8) },
        Shape::Box { half_size: v(0.6, 0.0, 0.6) },
    ];
    for round in 0..600 {
        let shape = shapes[round % shapes.len()];
        let mut triple = |size: f64| {
            v(random.between(-size, size), random.between(-size, size), random.between(-size, size))
        };
        let pose = Pose::from_degrees(triple(3.0), triple(180.0));
        let (middle, size) = (triple(1.2), [0.1, 1.0, 3.0][round / 6 % 3]);
        let mut local = [(); 3].map(|_| middle + triple(size));
        if round % 7 == 0 {
            local[2] = 0.5 * (local[0] + local[1]);
        }
        let positions = local.map(|p| pose.to_world(p));
        let found = against_body(&positions, &[[0, 1, 2]], &PosedShape { shape, pose });
        let sampled = least_by_sampling(positions, |p| distance_field(shape, pose.to_local(p)));
        assert!(found.min_gap <= sampled + 1e-12, "{shape:?} {local:?}: {} above {sampled}", found.min_gap);
        assert!(found.min_gap >= sampled - 1e-6, "{shape:?} {local:?}: {} below {sampled}", found.min_gap);
        assert_eq!(found.intersecting.len(), usize::from(found.min_gap <= 0.0));
    }
}

#[test]
fn a_sheet_over_solids_is_measured_triangle_by_triangle() {
    let (positions, triangles) = sheet(30, |s, t| v(0.1 * s - 1.5, 0.4 + 0.1 * (s + t).cos(), 0.1 * t - 1.5));
    for shape in [Shape::Plane, Shape::Sphere { radius: 0.42 }, Shape::Box { half_size: v(0.5, 0.35, 0.2) }] {
        for height in [-3.0, -0.5, -0.1, 0.0, 0.1, 2.0] {
            let body =
                PosedShape { shape, pose: Pose::from_degrees(v(0.0, height, 0.0), v(10.0, 20.0, 30.0)) };
            let all = against_body(&positions, &triangles, &body);
            let each = |t: &[u32; 3]| against_body(&positions, &[*t], &body);
            let alone: Vec<_> = triangles.iter().map(each).collect();
            let cut =
                (0..).zip(&alone).filter(|(_, c)| c.min_gap <= 0.0).map(|(k, _)| k).collect::<Vec<u32>>();
            assert_eq!(all.intersecting, cut);
            assert_eq!(all.min_gap, alone.iter().map(|c| c.min_gap).fold(f64::INFINITY, f64::min));
        }
    }
}

#[test]
fn what_is_not_finite_never_passes() {
    let body = PosedShape { shape: Shape::Sphere { radius: 1.0 }, pose: Pose::IDENTITY };
    let good = [v(3., 0., 0.), v(4., 0., 0.), v(4., 1., 0.), v(3., 1., 0.)];
    let two = [[0, 1, 2], [1, 2, 3]];
    assert_eq!(against_body(&good, &two, &body).min_gap, 2.0);
    assert_eq!(against_body(&good, &[], &body).min_gap, f64::INFINITY);
    assert_eq!(against_body(&good, &[[0, 1, 9]], &body).min_gap, f64::NEG_INFINITY);
    assert_eq!(pairs(&good, &[[0, 1, 9], [0, 1, 2]]), [[0; 2]; 0]);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e200] {
        let mut positions = good;
        positions[1].y = bad;
        let found = against_body(&positions, &two, &body);
        assert_eq!((found.min_gap, found.intersecting.len()), (f64::NEG_INFINITY, 0));
        assert_eq!(pairs(&positions, &two), [[0; 2]; 0]);
        assert!(strain(&positions, &[[0, 1]], &[1.0]).max >= 1e199);
    }
    let shapes = [
        Shape::Sphere { radius: f64::NAN },
        Shape::Capsule { radius: 1.0, half_length: f64::NAN },
        Shape::Box { half_size: v(1.0, f64::NAN, 1.0) },
    ];
    for shape in shapes {
        let found = against_body(&good, &two, &PosedShape { shape, ..body });
        assert_eq!((found.min_gap, found.intersecting.len()), (f64::NEG_INFINITY, 0));
    }
    let pose = Pose { position: v(0., f64::NAN, 0.), ..Pose::IDENTITY };
    assert_eq!(against_body(&good, &two, &PosedShape { pose, ..body }).min_gap, f64::NEG_INFINITY);
}
