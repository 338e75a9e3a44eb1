//! Edges that stretch as their fabric does, up to a bound: against a slow twin that tries all sides of the law, against Hooke's law, and without a gain of energy.

use crate::common::{run, simulation};
use taffeta::math::lanes::{InstructionSet, LANES, Lanes};
use taffeta::math::{DVec3, Vec4, random::Random};
use taffeta::solve::sparse::direct::LengthSystem;
use taffeta::solve::strips::blocks::{StripEdge, Strips};
use taffeta::solve::strips::extensible::{self, BoundedStretch, StretchRoom};
use taffeta::solve::strips::parts::cut;
use taffeta::solve::strips::tridiagonal::{Limits, Start, StripRow};
use taffeta_scene::{Cloth, Corner, FabricChange, Kick, Method, Pin, Scene, Sheet, Side, Strip};

const STRETCH: BoundedStretch = BoundedStretch { bound: 0.02, give: 1e-4 };

/// A crooked chain whose edges are too long or too short by up to a tenth, with tensions from before.
struct Chain {
    links: Vec<StripEdge>,
    q: Vec<Vec4>,
    tension: Vec<f64>,
}

impl Chain {
    fn random(random: &mut Random) -> Self {
        let edges = 2 + random.below(4);
        let mut at = DVec3::ZERO;
        let mut place = |pinned: bool, random: &mut Random| {
            at += DVec3::new(1.0, random.between(-0.4, 0.4), random.between(-0.4, 0.4));
            Vec4([at.x, at.y, at.z, if pinned { 0.0 } else { random.between(0.5, 2.0) }])
        };
        let q: Vec<Vec4> = (0..=edges).map(|i| place(i == 0, random)).collect();
        let link = |k: usize, random: &mut Random| StripEdge {
            rest: q[k].xyz().distance(q[k + 1].xyz()) * random.between(0.9, 1.1),
            compliance: random.between(0.1, 4.0),
        };
        let links = (0..edges).map(|k| link(k, random)).collect();
        let tension = (0..edges).map(|_| random.between(-0.05, 0.2)).collect();
        Self { links, q, tension }
    }

    fn edges(&self) -> Vec<[u32; 2]> {
        (0..self.links.len() as u32).map(|k| [k, k + 1]).collect()
    }

    /// C at a tension on a side of the law, its slope there, and the tension at the bound.
    fn law(&self, k: usize, tension: f64, side: i32) -> (f64, f64, f64) {
        let StripEdge { rest, compliance } = self.links[k];
        let (bound, hard) = (STRETCH.bound * rest * rest, STRETCH.give * rest.powi(3));
        let (at_bound, side) = (bound / compliance, f64::from(side));
        match side {
            0.0 => (compliance * tension, compliance, at_bound),
            _ => (side * bound + hard * (tension - side * at_bound), hard, at_bound),
        }
    }

    /// All ways to choose sides; where they end the tensions are on the sides that were chosen.
    fn by_trial(&self) -> Vec<Vec4> {
        let n = self.links.len();
        let mut found = Vec::new();
        for code in 0..3_i32.pow(n as u32) {
            let sides: Vec<i32> = (0..n as u32).map(|k| code / 3_i32.pow(k) % 3 - 1).collect();
            let change = self.solve(&sides);
            let fits = |k: usize| {
                let (whole, (_, _, bound)) = (self.tension[k] + change[k], self.law(k, 0.0, 0));
                sides[k] == i32::from(whole > bound) - i32::from(whole < -bound)
            };
            if (0..n).all(fits) {
                found.push(self.moved(&change));
            }
        }
        assert_eq!(found.len(), 1, "a law that rises has one solution");
        found.remove(0)
    }

    fn way(&self, k: usize) -> DVec3 {
        self.q[k + 1].xyz() - self.q[k].xyz()
    }

    /// Changes of tension on given sides, by Gauss.
    fn solve(&self, sides: &[i32]) -> Vec<f64> {
        let n = self.links.len();
        let mut rows: Vec<Vec<f64>> = (0..n)
            .map(|k| {
                let (at, slope, _) = self.law(k, self.tension[k], sides[k]);
                let d = self.way(k);
                let mut row = vec![0.0; n + 1];
                row[k] = (self.q[k].0[3] + self.q[k + 1].0[3]) * d.length_squared() + slope;
                if k > 0 {
                    row[k - 1] = -self.q[k].0[3] * d.dot(self.way(k - 1));
                }
                if k + 1 < n {
                    row[k + 1] = -self.q[k + 1].0[3] * d.dot(self.way(k + 1));
                }
                row[n] = 0.5 * (d.length_squared() - self.links[k].rest.powi(2)) - at;
                row
            })
            .collect();
        for k in 0..n {
            for other in (0..n).filter(|other| *other != k) {
                let share = rows[other][k] / rows[k][k];
                let own = rows[k].clone();
                rows[other].iter_mut().zip(own).for_each(|(number, of)| *number -= share * of);
            }
        }
        (0..n).map(|k| rows[k][n] / rows[k][k]).collect()
    }

    fn moved(&self, change: &[f64]) -> Vec<Vec4> {
        let mut q = self.q.clone();
        for (k, change) in change.iter().enumerate() {
            let pull = Vec4::from(self.way(k) * *change);
            let [b, next_b] = [self.q[k].0[3], self.q[k + 1].0[3]];
            q[k] += pull * b;
            q[k + 1] += pull * -next_b;
        }
        q
    }

    fn by_strips(&self, set: InstructionSet) -> Vec<Vec4> {
        let (n, edges) = (self.q.len(), self.edges());
        let straights: Vec<[u32; 3]> = (1..edges.len() as u32).map(|k| [k - 1, k, k + 1]).collect();
        let groups = cut(&edges, &straights, n);
        let packed = Strips::new(&groups, edges.len(), (n, 0), |e| self.links[e as usize], |_| None);
        let mut q = self.q.clone();
        q.extend((0..packed.idle).map(|i| Vec4([(i % 2) as f64, 0.0, 0.0, 0.0])));
        let mut tension = vec![Lanes::ZERO; packed.rows];
        for (slot, of) in packed.slots.iter().zip(&self.tension) {
            tension[*slot as usize / LANES].0[*slot as usize % LANES] = *of;
        }
        let room = (vec![StripRow::default(); packed.longest], vec![Lanes::ZERO; packed.longest]);
        packed.sweep(&mut q, &mut tension, &mut [room], |q, tension, (rows, sides)| {
            let room = StretchRoom { rows, sides };
            extensible::stretch(set, q, Start::Unused, tension, room, (Limits::NONE, STRETCH));
        });
        q.truncate(n);
        q
    }

    fn by_system(&self) -> Vec<Vec4> {
        let slots: Vec<u32> = (0..self.links.len() as u32).collect();
        let rest: Vec<DVec3> = self.q.iter().map(|q| q.xyz()).collect();
        let link = |e: u32| self.links[e as usize];
        let mut direct = LengthSystem::new(&self.edges(), &rest, |i| i > 0, link, &slots);
        let (mut q, mut tension) = (self.q.clone(), self.tension.clone());
        direct.correct(&mut q, Start::Unused, &mut tension, (Limits::NONE, Some(STRETCH)));
        q
    }
}

#[test]
fn strips_and_the_system_find_the_sides_that_a_trial_of_all_finds() {
    let mut random = Random::new(5);
    let apart =
        |a: &[Vec4], b: &[Vec4]| a.iter().zip(b).map(|(a, b)| a.xyz().distance(b.xyz())).fold(0.0, f64::max);
    for case in 0..300 {
        let chain = Chain::random(&mut random);
        let by_trial = chain.by_trial();
        for set in InstructionSet::available() {
            let by_strips = apart(&chain.by_strips(*set), &by_trial);
            assert!(by_strips < 1e-9, "case {case}, {}: {by_strips:e}", set.name());
        }
        let by_system = apart(&chain.by_system(), &by_trial);
        assert!(by_system < 1e-9, "case {case}: {by_system:e}");
    }
}

/// A strip of 0.5 m and a stiffness that hangs by its upper end; its edges may stretch to a tolerance.
fn hanging_strip(method: Method, stiffness: f64, tolerance: f64) -> Scene {
    let fabric = FabricChange {
        density: Some(200.0),
        warp: Some(stiffness),
        weft: Some(stiffness),
        bias: Some(0.5),
        ..FabricChange::default()
    };
    let cloth = Cloth {
        fabric: "strip".into(),
        strip: Some(Strip { length: 0.5, width: 0.1, segments: 20 }),
        rotation: [0.0, 0.0, -90.0],
        pin: vec![Pin { sides: vec![Side::Left], ..Pin::default() }],
        ..Cloth::default()
    };
    let mut scene = Scene { cloth: vec![cloth], ..Scene::default() };
    scene.fabrics.insert("strip".into(), fabric);
    scene.air.density = 0.0;
    scene.air.damping = 20.0;
    (scene.solver.method, scene.solver.tolerance, scene.solver.extensible) = (method, tolerance, true);
    scene
}

/// How much longer a strip under its own weight is than at rest [m], if no part of it is strained beyond a bound [1].
fn lengthening(stiffness: f64, bound: f64) -> f64 {
    let (length, weight) = (0.5, 0.2 * 9.81);
    let bounded = (length - bound * stiffness / weight).max(0.0);
    bounded * bound + 0.5 * (length - bounded).powi(2) * weight / stiffness
}

#[test]
fn a_strip_hangs_by_hookes_law_and_stops_at_its_bound() {
    for method in [Method::ImpulseStrips, Method::ImpulseDirect, Method::ImpulseIterative] {
        // At 100 N/m the upper end is strained by 1 %: below the bound of 1.2 %, then beyond one of 0.3 %.
        for tolerance in [0.02, 0.005] {
            let mut simulation = simulation(&hanging_strip(method, 100.0, tolerance));
            run(&mut simulation, 3.0);
            let lowest = simulation.positions().iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
            let (found, want) = (-0.25 - lowest, lengthening(100.0, 0.6 * tolerance));
            assert!((found / want - 1.0).abs() < 0.03, "{}, {tolerance}: {found} m, {want}", method.name());
            let strain = simulation.certificate().max_strain;
            assert!(strain <= tolerance, "{}: {strain}", method.name());
        }
    }
}

#[test]
fn soft_cloth_at_its_bound_gains_no_energy() {
    let cloth = Cloth {
        fabric: "jersey".into(),
        sheet: Some(Sheet { width: 1.0, height: 1.0, columns: 50, rows: 50, slack: 0.95 }),
        kick: Some(Kick { share: 0.05, speed: 0.06 }),
        pin: vec![Pin { corners: vec![Corner::UpperLeft, Corner::UpperRight], ..Pin::default() }],
        ..Cloth::default()
    };
    let mut scene = Scene { cloth: vec![cloth], ..Scene::default() };
    scene.contact.cloth_cloth = false;
    (scene.air.density, scene.air.damping) = (0.0, 0.5);
    scene.solver.extensible = true;
    let mut simulation = simulation(&scene);
    let start = simulation.energy();
    let fallen = |simulation: &taffeta::Simulation| start.gravity - simulation.energy().gravity;
    for frame in 1..=30 {
        let report = simulation.step_frame(&mut ()).unwrap();
        let (kinetic, fallen) = (simulation.energy().kinetic, fallen(&simulation));
        assert!(report.converged && kinetic <= 1.001 * fallen, "frame {frame}: {kinetic} J of {fallen}");
    }
}
