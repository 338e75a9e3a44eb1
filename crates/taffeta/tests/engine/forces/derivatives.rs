//! One list of elements, one list of laws: every force against differences of its energy, every derivative against differences of its force.
//!
//! A new element joins by a line in `every_element_obeys_every_law` and a function that makes it.

use taffeta::forces::baraff_witkin::MembraneTriangle;
use taffeta::forces::choi_ko::{Buckle, Damper, Stretch};
use taffeta::forces::element::{Blocks, Element};
use taffeta::forces::spring::DampedSpring;
use taffeta::forces::strain_barrier::StrainBarrier;
use taffeta::forces::{air, bend, plate, spring, twist};
use taffeta::math::{DMat3, DQuat, DVec3, random::Random, trig};
use taffeta::model::{PlatePatch, Twists};
use taffeta_scene::{Air, Cloth, ClothModel, FabricChange, Mesh, MeshShape, Method, Scene, Solver};

#[test]
fn every_element_obeys_every_law() {
    check("spring", spring_case);
    check("spring by length", damped_spring_case);
    check("bound of strain", strain_barrier_case);
    check("bend", bend_case);
    check("stretch of Choi & Ko", stretch_case);
    check("buckling of Choi & Ko", buckle_case);
    check("buckling damped as P3 prints it", buckle_as_printed_case);
    check("triangle of Baraff & Witkin", triangle_case);
    check("plate", plate_case);
    check("twist", twist_case);
}

/// An element and shapes to try it on.
struct Case<E, const N: usize> {
    element: E,
    /// Shapes around which the force has derivatives.
    smooth: Vec<[DVec3; N]>,
    /// Shapes where it has none: it must still be finite and keep momentum.
    rough: Vec<[DVec3; N]>,
    /// The shape without force.
    rest: [DVec3; N],
    /// Whether damping resists a rigid turn.
    brakes_turns: bool,
}

fn check<const N: usize, E: Element<N>>(name: &str, make: fn(&mut Random) -> Case<E, N>) {
    let mut random = Random::new(1);
    for round in 0..200 {
        let case = make(&mut random);
        let e = &case.element;
        for x in &case.smooth {
            force_is_the_slope_of_the_energy(name, e, x);
            derivative_is_that_of_the_force(name, e, x);
            rigid_motion_changes_nothing(name, e, x, &mut random);
        }
        for x in case.smooth.iter().chain(&case.rough).chain([&case.rest]) {
            forces_keep_momentum(name, e, x);
            matrix_only_resists(name, &e.safe_derivative(x));
            damping_only_takes(name, e, x, case.brakes_turns, &mut random);
        }
        rests_without_force(name, e, &case.rest);
        assert!(!case.smooth.is_empty(), "{name}, round {round}");
    }
}

fn force_is_the_slope_of_the_energy<const N: usize, E: Element<N>>(name: &str, e: &E, x: &[DVec3; N]) {
    let forces = e.forces(x);
    let scale = largest(&forces) + 1e-3 * size(&e.derivative(x));
    for (i, axis) in coordinates::<N>() {
        let slope = difference(|s| e.energy(&moved(x, i, axis * s)));
        assert!(
            (forces[i].dot(axis) + slope).abs() <= 1e-7 * scale,
            "{name}: {} {slope}",
            forces[i].dot(axis)
        );
    }
}

fn derivative_is_that_of_the_force<const N: usize, E: Element<N>>(name: &str, e: &E, x: &[DVec3; N]) {
    let blocks = e.derivative(x);
    let scale = size(&blocks);
    for (j, axis) in coordinates::<N>() {
        for (i, row) in blocks.iter().enumerate() {
            let slope = difference(|s| e.forces(&moved(x, j, axis * s))[i]);
            assert!((row[j] * axis - slope).length() <= 1e-7 * scale, "{name}: {i} by {j}");
            assert!(far(row[j], blocks[j][i].transpose()) <= 1e-12 * scale, "{name}: not symmetric");
        }
    }
}

fn rigid_motion_changes_nothing<const N: usize, E: Element<N>>(
    name: &str,
    e: &E,
    x: &[DVec3; N],
    random: &mut Random,
) {
    let (turn, shift) = (any_turn(random), vector(random));
    let there = x.map(|p| turn * p + shift);
    let scale = size(&e.derivative(x));
    assert!((e.energy(&there) - e.energy(x)).abs() <= 1e-12 * scale, "{name}: energy of a turn");
    for (here, there) in e.forces(x).iter().zip(e.forces(&there)) {
        assert!((turn * *here - there).length() <= 1e-11 * scale, "{name}: force after a turn");
    }
}

fn forces_keep_momentum<const N: usize, E: Element<N>>(name: &str, e: &E, x: &[DVec3; N]) {
    let forces = e.forces(x);
    assert!(forces.iter().all(|f| f.is_finite()) && e.energy(x).is_finite(), "{name}: {forces:?} at {x:?}");
    let (push, moment) = resultant(x, &forces);
    assert!(push.length() <= 1e-12 * largest(&forces), "{name}: momentum");
    assert!(moment.length() <= 1e-11 * largest(&forces), "{name}: moment {moment} of {forces:?}");
}

fn matrix_only_resists<const N: usize>(name: &str, blocks: &Blocks<N>) {
    let scale = size(blocks);
    assert!(scale.is_finite(), "{name}: matrix");
    for (i, row) in blocks.iter().enumerate() {
        let sum = row.iter().fold(DMat3::ZERO, |sum, b| sum + *b);
        assert!(far(sum, DMat3::ZERO) <= 1e-12 * scale, "{name}: a shift gives a force");
        let symmetric =
            row.iter().enumerate().all(|(j, b)| far(*b, blocks[j][i].transpose()) <= 1e-12 * scale);
        assert!(symmetric, "{name}: matrix is not symmetric");
    }
    assert!(scale == 0.0 || positive(blocks, 1e-12 * scale), "{name}: matrix pushes");
}

fn damping_only_takes<const N: usize, E: Element<N>>(
    name: &str,
    e: &E,
    x: &[DVec3; N],
    brakes_turns: bool,
    random: &mut Random,
) {
    let blocks = e.damping_derivative(x);
    matrix_only_resists(name, &blocks);
    let v: [DVec3; N] = std::array::from_fn(|_| vector(random));
    let forces = e.damping(x, &v);
    let scale = size(&blocks);
    for (row, f) in blocks.iter().zip(&forces) {
        let product = row.iter().zip(&v).fold(DVec3::ZERO, |sum, (b, v)| sum + *b * *v);
        assert!((product - *f).length() <= 1e-12 * scale, "{name}: damping is not its derivative × v");
    }
    let power: f64 = forces.iter().zip(&v).map(|(f, v)| f.dot(*v)).sum();
    assert!(power <= 1e-12 * scale, "{name}: damping gives energy");
    let (push, moment) = resultant(x, &forces);
    assert!(push.length() <= 1e-11 * scale, "{name}: damping and momentum");
    let spin = vector(random);
    let braked = e.damping(x, &x.map(|p| spin.cross(p)));
    if !brakes_turns {
        assert!(moment.length() <= 1e-10 * scale, "{name}: damping and angular momentum");
        assert!(largest(&braked) <= 1e-11 * scale, "{name}: damping of a rigid turn");
    }
}

fn rests_without_force<const N: usize, E: Element<N>>(name: &str, e: &E, rest: &[DVec3; N]) {
    let scale = size(&e.derivative(rest));
    assert!(largest(&e.forces(rest)) <= 1e-12 * scale && e.energy(rest) <= 1e-24 * scale, "{name}: rest");
    for (safe, exact) in e.safe_derivative(rest).iter().flatten().zip(e.derivative(rest).iter().flatten()) {
        assert!(far(*safe, *exact) <= 1e-12 * scale, "{name}: at rest the exact matrix resists already");
    }
}

// The elements.

struct Spring {
    rest_length: f64,
    stiffness: f64,
    damping: f64,
}

impl Element<2> for Spring {
    fn energy(&self, [a, b]: &[DVec3; 2]) -> f64 {
        spring::energy(*b - *a, self.rest_length, self.stiffness)
    }
    fn forces(&self, [a, b]: &[DVec3; 2]) -> [DVec3; 2] {
        let f = spring::force(*b - *a, DVec3::ZERO, self.rest_length, self.stiffness, 0.0);
        [f, -f]
    }
    fn derivative(&self, [a, b]: &[DVec3; 2]) -> Blocks<2> {
        ends(spring::derivative(*b - *a, self.rest_length, self.stiffness))
    }
    fn safe_derivative(&self, [a, b]: &[DVec3; 2]) -> Blocks<2> {
        let d = *b - *a;
        ends(spring::derivative(d, self.rest_length.min(d.length()), self.stiffness))
    }
    fn damping(&self, [a, b]: &[DVec3; 2], [va, vb]: &[DVec3; 2]) -> [DVec3; 2] {
        let f = spring::force(*b - *a, *vb - *va, self.rest_length, 0.0, self.damping);
        [f, -f]
    }
    fn damping_derivative(&self, [a, b]: &[DVec3; 2]) -> Blocks<2> {
        let n = (*b - *a).normalize_or_zero();
        ends(DMat3::from_cols(n * n.x, n * n.y, n * n.z) * self.damping)
    }
}

fn ends(m: DMat3) -> Blocks<2> {
    [[-m, m], [m, -m]]
}

fn spring_case(random: &mut Random) -> Case<Spring, 2> {
    let (rest_length, stiffness) = (random.between(0.1, 1.5), random.between(1.0, 100.0));
    let element = Spring { rest_length, stiffness, damping: random.between(0.1, 2.0) };
    let rest = pair(random, rest_length);
    let smooth = vec![pair_of(random, 0.3, 2.0), rest];
    Case { element, smooth, rough: vec![[rest[0]; 2]], rest, brakes_turns: false }
}

struct Bend {
    inverse_lengths: [f64; 2],
    stiffness: f64,
    damping: f64,
}

impl Bend {
    fn blocks(&self, factor: f64) -> Blocks<3> {
        let [p, q] = self.inverse_lengths;
        let weights = [p, -p - q, q];
        weights.map(|a| weights.map(|b| DMat3::IDENTITY * (-factor * a * b)))
    }
}

impl Element<3> for Bend {
    fn energy(&self, x: &[DVec3; 3]) -> f64 {
        bend::energy(*x, self.inverse_lengths, self.stiffness)
    }
    fn forces(&self, x: &[DVec3; 3]) -> [DVec3; 3] {
        bend::forces(*x, [DVec3::ZERO; 3], self.inverse_lengths, self.stiffness, 0.0)
    }
    fn derivative(&self, _: &[DVec3; 3]) -> Blocks<3> {
        self.blocks(self.stiffness)
    }
    fn safe_derivative(&self, _: &[DVec3; 3]) -> Blocks<3> {
        self.blocks(self.stiffness)
    }
    fn damping(&self, x: &[DVec3; 3], v: &[DVec3; 3]) -> [DVec3; 3] {
        bend::forces(*x, *v, self.inverse_lengths, 0.0, self.damping)
    }
    fn damping_derivative(&self, _: &[DVec3; 3]) -> Blocks<3> {
        self.blocks(self.damping)
    }
}

fn bend_case(random: &mut Random) -> Case<Bend, 3> {
    let inverse_lengths = [random.between(0.5, 5.0), random.between(0.5, 5.0)];
    let element = Bend { inverse_lengths, stiffness: 3.0, damping: 1.0 };
    let [b, along] = pair(random, 1.0);
    let rest = [b - (along - b) / inverse_lengths[0], b, b + (along - b) / inverse_lengths[1]];
    // Folded back on itself, and all in one point.
    let smooth = vec![std::array::from_fn(|_| vector(random)), [rest[0], b, rest[0]], [b; 3]];
    Case { element, smooth, rough: vec![], rest, brakes_turns: true }
}

fn damped_spring_case(random: &mut Random) -> Case<DampedSpring, 2> {
    let rest_length = random.between(0.3, 1.5);
    let damper = Damper { along: random.between(0.1, 2.0), whole: 0.0 };
    let element = DampedSpring { rest_length, stiffness: random.between(1.0, 100.0), damper };
    let rest = pair(random, rest_length);
    let (long, short) = (random.between(1.1, 2.0), random.between(0.1, 0.9));
    let smooth = vec![pair(random, long * rest_length), pair(random, short * rest_length)];
    Case { element, smooth, rough: vec![[rest[0]; 2]], rest, brakes_turns: false }
}

fn strain_barrier_case(random: &mut Random) -> Case<StrainBarrier, 2> {
    let from = random.between(0.3, 1.5);
    let reach = random.between(0.5, 2.0);
    let element = StrainBarrier { from, bound: from + reach, stiffness: random.between(1.0, 100.0) };
    let rest = pair(random, 0.5 * from);
    let (little, much) = (random.between(0.05, 0.5), random.between(0.5, 0.75));
    let smooth = vec![pair(random, from + little * reach), pair(random, from + much * reach)];
    Case { element, smooth, rough: vec![pair(random, from), [rest[0]; 2]], rest, brakes_turns: false }
}

fn stretch_case(random: &mut Random) -> Case<Stretch, 2> {
    let rest_length = random.between(0.3, 1.5);
    let damper = Damper { along: random.between(0.1, 2.0), whole: 0.0 };
    let element = Stretch { rest_length, stiffness: random.between(1.0, 100.0), damper };
    let rest = pair(random, rest_length * (1.0 + 1e-15));
    let (long, short) = (random.between(1.1, 2.0), random.between(0.1, 0.9));
    let smooth = vec![pair(random, long * rest_length), pair(random, short * rest_length)];
    Case { element, smooth, rough: vec![rest, [rest[0]; 2]], rest, brakes_turns: false }
}

fn buckle_case(random: &mut Random) -> Case<Buckle, 2> {
    // Ramps that never meet the arc, meet it twice, or once; and everything between.
    let ratio = [10.0, 35.0, 200.0, random.between(1.0, 500.0)][random.below(4)];
    let (rest_length, bending): (f64, f64) = (random.between(0.3, 1.5), random.between(0.1, 5.0));
    let damper = Damper { along: random.between(0.1, 2.0), whole: 0.0 };
    let element = Buckle::new(rest_length, bending, ratio * bending / rest_length.powi(3), damper);
    let rest = pair(random, rest_length * (1.0 + 1e-15));
    let (long, short) = (random.between(1.1, 2.0), random.between(0.05, 0.99));
    let smooth = vec![pair(random, long * rest_length), pair(random, short * rest_length)];
    let rough = vec![pair(random, rest_length * (1.0 - 1e-15)), [rest[0]; 2]];
    Case { element, smooth, rough, rest, brakes_turns: false }
}

fn buckle_as_printed_case(random: &mut Random) -> Case<Buckle, 2> {
    let element = Buckle::new(1.0, 1.0, 1000.0, Damper { along: 0.0, whole: 0.7 });
    let rest = pair(random, 1.5);
    Case { element, smooth: vec![pair_of(random, 0.1, 0.8)], rough: vec![], rest, brakes_turns: true }
}

fn triangle_case(random: &mut Random) -> Case<MembraneTriangle, 3> {
    let at = |angle: f64, r: f64| [0.2 + r * trig::cos(angle), -0.3 + r * trig::sin(angle)];
    let start = random.between(0.0, 6.0);
    let mut material =
        [0.0, 2.1, 4.2].map(|a| at(start + a + random.between(-0.4, 0.4), random.between(0.4, 1.2)));
    if random.below(2) == 0 {
        material.swap(1, 2);
    }
    let stiffness = std::array::from_fn(|_| random.between(1.0, 100.0));
    let element = MembraneTriangle::new(material, stiffness, random.between(0.1, 1.0)).unwrap();
    let place = |wu: DVec3, wv: DVec3| material.map(|[u, v]| DVec3::new(0.3, 0.1, -0.2) + u * wu + v * wv);
    let turn = any_turn(random);
    let rest = place(turn * DVec3::X, turn * DVec3::Y);
    let mut drawn = || any_turn(random) * DVec3::X * random.between(0.4, 1.8);
    let (wu, wv) = (drawn(), drawn());
    // Without area, with both ways drawn out alike.
    let smooth = vec![place(wu, wv), place(wu, -0.7 * wu), rest];
    let rough = vec![[DVec3::ONE; 3], place(wu, DVec3::ZERO), place(DVec3::ZERO, wv)];
    Case { element, smooth, rough, rest, brakes_turns: false }
}

struct Twist {
    weights: [f64; 4],
    stiffness: f64,
    damping: f64,
}

impl Twist {
    fn blocks(&self, factor: f64) -> Blocks<4> {
        self.weights.map(|a| self.weights.map(|b| DMat3::IDENTITY * (-factor * a * b)))
    }
}

impl Element<4> for Twist {
    fn energy(&self, x: &[DVec3; 4]) -> f64 {
        twist::energy(*x, self.weights, self.stiffness)
    }
    fn forces(&self, x: &[DVec3; 4]) -> [DVec3; 4] {
        twist::forces(*x, [DVec3::ZERO; 4], self.weights, self.stiffness, 0.0)
    }
    fn derivative(&self, _: &[DVec3; 4]) -> Blocks<4> {
        self.blocks(self.stiffness)
    }
    fn safe_derivative(&self, _: &[DVec3; 4]) -> Blocks<4> {
        self.blocks(self.stiffness)
    }
    fn damping(&self, x: &[DVec3; 4], v: &[DVec3; 4]) -> [DVec3; 4] {
        twist::forces(*x, *v, self.weights, 0.0, self.damping)
    }
    fn damping_derivative(&self, _: &[DVec3; 4]) -> Blocks<4> {
        self.blocks(self.damping)
    }
}

/// A flat quad whose diagonals cross anywhere along them.
fn twist_case(random: &mut Random) -> Case<Twist, 4> {
    let crossing @ [s, t] = [random.between(0.2, 0.8), random.between(0.2, 0.8)];
    let of_quad = Twists { crossings: vec![crossing], ..Twists::default() };
    let element = Twist { weights: of_quad.weights(0), stiffness: random.between(1.0, 9.0), damping: 0.7 };
    let turn = any_turn(random);
    let middle = vector(random);
    let at = |along: f64, across: f64| middle + turn * DVec3::new(along, across, 0.0);
    let rest = [at(-s, 0.0), at(0.1 * -t, -t), at(1.0 - s, 0.0), at(0.1 * (1.0 - t), 1.0 - t)];
    let smooth = vec![std::array::from_fn(|_| vector(random)), [rest[0]; 4]];
    Case { element, smooth, rough: vec![], rest, brakes_turns: true }
}

struct Plate {
    weights: [[f64; 3]; 12],
    stiffness: [f64; 3],
    damping: [f64; 3],
}

impl Plate {
    fn patch(&self) -> PlatePatch<'_> {
        PlatePatch {
            points: &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
            weights: &self.weights,
            rest: [0.0; 3],
            stiffness: self.stiffness,
            damping: self.damping,
        }
    }

    fn blocks(&self, numbers: [f64; 3]) -> Blocks<12> {
        let product = |a: [f64; 3], b: [f64; 3]| (0..3).map(|k| numbers[k] * a[k] * b[k]).sum::<f64>();
        self.weights.map(|a| self.weights.map(|b| DMat3::IDENTITY * -product(a, b)))
    }
}

impl Element<12> for Plate {
    fn energy(&self, x: &[DVec3; 12]) -> f64 {
        plate::energy(&self.patch(), |i| x[i as usize])
    }
    fn forces(&self, x: &[DVec3; 12]) -> [DVec3; 12] {
        let forces: Vec<_> = plate::forces(&self.patch(), |i| x[i as usize], |_| DVec3::ZERO).collect();
        forces.try_into().unwrap()
    }
    fn derivative(&self, _: &[DVec3; 12]) -> Blocks<12> {
        self.blocks(self.stiffness)
    }
    fn safe_derivative(&self, _: &[DVec3; 12]) -> Blocks<12> {
        self.blocks(self.stiffness)
    }
    fn damping(&self, _: &[DVec3; 12], v: &[DVec3; 12]) -> [DVec3; 12] {
        let forces: Vec<_> = plate::forces(&self.patch(), |_| DVec3::ZERO, |i| v[i as usize]).collect();
        forces.try_into().unwrap()
    }
    fn damping_derivative(&self, _: &[DVec3; 12]) -> Blocks<12> {
        self.blocks(self.damping)
    }
}

/// The plate of a triangle inside a sheet whose particles are shifted.
fn plate_case(random: &mut Random) -> Case<Plate, 12> {
    let fabric = FabricChange {
        bending_warp: Some(1e6 * random.between(0.5, 2.0)),
        bending_weft: Some(1e6 * random.between(0.5, 2.0)),
        bending_twist: Some(1e6 * random.between(0.2, 1.0)),
        bending_damping: Some(1e3 * random.between(0.1, 1.0)),
        ..FabricChange::default()
    };
    let (mut positions, side) = (Vec::new(), 6_u32);
    for v in 0..side {
        for u in 0..side {
            let [u, v] = [u, v].map(|along| f64::from(along) + random.between(-0.2, 0.2));
            positions.push(DVec3::new(u, 0.0, -v));
        }
    }
    let cells = (0..side - 1).flat_map(|v| (0..side - 1).map(move |u| v * side + u));
    let cut = |a: u32| [[a, a + 1, a + side + 1], [a, a + side + 1, a + side]];
    let triangles = cells.flat_map(cut).collect();
    let mesh = Mesh { positions: positions.clone(), triangles, ..Mesh::default() };
    let patch_cloth = Cloth {
        mesh: Some(MeshShape { file: "patch".into(), scale: 1.0, up: Default::default(), weld: 0.0 }),
        fabric: "plate".into(),
        model: ClothModel::Triangles,
        ..Cloth::default()
    };
    let solver = Solver { method: Method::BackwardEuler, ..Solver::default() };
    let scene = Scene {
        solver,
        fabrics: [("plate".to_string(), fabric)].into(),
        cloth: vec![patch_cloth],
        ..Scene::default()
    };
    let (model, _) = taffeta_scene::build(&scene, &[("patch".to_string(), mesh)].into()).unwrap();
    let patch = model.plates.patches().find(|patch| patch.points.len() == 12).unwrap();
    let element = Plate {
        weights: patch.weights.try_into().unwrap(),
        stiffness: patch.stiffness,
        damping: patch.damping,
    };
    let turn = any_turn(random);
    let rest: [DVec3; 12] = std::array::from_fn(|k| turn * positions[patch.points[k] as usize]);
    let smooth = vec![std::array::from_fn(|_| vector(random)), [rest[0]; 12]];
    Case { element, smooth, rough: vec![], rest, brakes_turns: true }
}

// Numbers at random, differences, matrices.

fn vector(random: &mut Random) -> DVec3 {
    DVec3::from_array(std::array::from_fn(|_| random.between(-1.0, 1.0)))
}

fn any_turn(random: &mut Random) -> DQuat {
    let [v, w] = [vector(random), vector(random)];
    DQuat::from_xyzw(v.x, v.y, v.z, w.x).normalize()
}

/// Two points at a distance.
fn pair(random: &mut Random, distance: f64) -> [DVec3; 2] {
    let a = vector(random);
    [a, a + any_turn(random) * DVec3::X * distance]
}

fn pair_of(random: &mut Random, shortest: f64, longest: f64) -> [DVec3; 2] {
    let distance = random.between(shortest, longest);
    pair(random, distance)
}

fn coordinates<const N: usize>() -> impl Iterator<Item = (usize, DVec3)> {
    (0..N).flat_map(|i| DVec3::AXES.map(|axis| (i, axis)))
}

fn moved<const N: usize>(x: &[DVec3; N], i: usize, by: DVec3) -> [DVec3; N] {
    let mut there = *x;
    there[i] += by;
    there
}

/// The slope of `f` at 0, by differences of fourth order.
fn difference<T>(f: impl Fn(f64) -> T) -> T
where
    T: std::ops::Sub<Output = T> + std::ops::Mul<f64, Output = T>,
{
    let step = 3e-4;
    let central = |s: f64| f(s) - f(-s);
    central(step) * (2.0 / (3.0 * step)) - central(2.0 * step) * (1.0 / (12.0 * step))
}

/// Sum and moment of forces.
fn resultant<const N: usize>(x: &[DVec3; N], forces: &[DVec3; N]) -> (DVec3, DVec3) {
    let moment = x.iter().zip(forces).fold(DVec3::ZERO, |sum, (x, f)| sum + x.cross(*f));
    (forces.iter().copied().sum(), moment)
}

fn largest<const N: usize>(vectors: &[DVec3; N]) -> f64 {
    vectors.iter().map(|f| f.length()).fold(0.0, f64::max)
}

fn size<const N: usize>(blocks: &Blocks<N>) -> f64 {
    blocks.iter().flatten().map(|b| far(*b, DMat3::ZERO)).fold(0.0, f64::max)
}

fn far(a: DMat3, b: DMat3) -> f64 {
    (a - b).to_cols_array().iter().fold(0.0, |most: f64, c| most.max(c.abs()))
}

/// Whether -blocks + shift has positive pivots, so that no eigenvalue of blocks exceeds the shift.
fn positive<const N: usize>(blocks: &Blocks<N>, shift: f64) -> bool {
    let n = 3 * N;
    let mut m: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| -blocks[i / 3][j / 3].col(j % 3)[i % 3]).collect()).collect();
    (0..n).for_each(|i| m[i][i] += shift);
    for k in 0..n {
        if m[k][k] <= 0.0 {
            return false;
        }
        let pivot = m[k].clone();
        for row in &mut m[k + 1..] {
            let factor = row[k] / pivot[k];
            row.iter_mut().zip(&pivot).for_each(|(entry, above)| *entry -= factor * above);
        }
    }
    true
}

#[test]
fn air_slows_and_never_reverses() {
    let model =
        taffeta_scene::air_model(&Air { density: 1.2, drag: 1.3, skin_friction: 0.02, ..Air::default() }, 1);
    let mut random = Random::new(3);
    for _ in 0..500 {
        let (normal, stream) = (vector(&mut random), 20.0 * vector(&mut random));
        let area_mass = 0.1;
        let area = 0.5 * normal.length();
        // As the step goes to zero: ρ C A u² / 2 along the normal.
        let force = air::force(normal, stream, &model, area_mass, 0.0);
        let across = stream.dot(normal.normalize());
        let want = 0.5 * 1.2 * 1.3 * area * across.abs() * across;
        assert!((force.dot(normal.normalize()) - want).abs() < 1e-9 * want.abs().max(1.0));
        for h in [1e-3, 1.0, 1e6] {
            let gained = air::force(normal, stream, &model, area_mass, h) * h / (area * area_mass);
            assert!(gained.dot(stream) >= 0.0 && gained.length() <= stream.length() * (1.0 + 1e-12));
        }
    }
    assert_eq!(air::force(DVec3::ZERO, DVec3::X, &model, 0.1, 0.1), DVec3::ZERO);
}
