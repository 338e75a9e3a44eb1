//! The mannequin: closed, sound, of the measures that it tells, on its feet while it walks.

use std::collections::BTreeMap;
use taffeta::check::self_intersections;
use taffeta::math::{DVec3, Pose};
use taffeta::model::BodyMesh;
use taffeta_scene::build::Measures;
use taffeta_scene::build::mannequin::{Section, mannequin};
use taffeta_scene::{Build, Dance, Mannequin, PoseName, Posing, Walk};

const BUILDS: [Build; 3] = [Build::Neutral, Build::Woman, Build::Man];

fn standing(build: Build, arms: f64) -> (BodyMesh, Vec<DVec3>) {
    let mesh = mannequin(&Mannequin { build, arms, ..Mannequin::default() }).unwrap();
    let points = mesh.points(0.0, &Pose::IDENTITY);
    (mesh, points)
}

#[test]
fn it_is_one_closed_surface_that_does_not_cross_itself() {
    for (build, arms) in BUILDS.into_iter().flat_map(|build| [(build, 0.0), (build, 45.0)]) {
        let (mesh, points) = standing(build, arms);
        let triangles = mesh.triangles();
        assert!((8000..9000).contains(&triangles.len()), "{}", triangles.len());
        let mut edges: BTreeMap<[u32; 2], i32> = BTreeMap::new();
        let mut faces: BTreeMap<[u32; 2], u32> = BTreeMap::new();
        for t in triangles {
            for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
                *edges.entry([a.min(b), a.max(b)]).or_default() += if a < b { 1 } else { -1 };
                *faces.entry([a.min(b), a.max(b)]).or_default() += 1;
            }
        }
        assert!(edges.values().all(|sum| *sum == 0), "every edge is passed as often in each direction");
        let crowded = faces.iter().find(|(_, count)| **count != 2).map(|(edge, _)| points[edge[0] as usize]);
        assert_eq!(crowded, None, "two faces at every edge");
        assert_eq!(points.len() + triangles.len() - edges.len(), 2, "a ball, topologically");
        assert_eq!(self_intersections(&points, triangles).len(), 0, "{build:?}, arms {arms}");
        let volume: f64 = triangles
            .iter()
            .map(|t| t.map(|k| points[k as usize]))
            .map(|[a, b, c]| a.dot(b.cross(c)) / 6.0)
            .sum();
        assert!((0.045..0.075).contains(&volume), "some 60 kg: {volume} m³");
    }
}

/// The slice of the trunk at a height: half width, half depth, middle, and the length of a tape around it [m].
fn slice(mesh: &BodyMesh, points: &[DVec3], height: f64) -> [f64; 4] {
    let mut cut: Vec<[f64; 2]> = Vec::new();
    for t in mesh.triangles() {
        for (a, b) in
            [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])].map(|(a, b)| (points[a as usize], points[b as usize]))
        {
            if (a.y < height) != (b.y < height) {
                let p = a.lerp(b, (height - a.y) / (b.y - a.y));
                // The arms are further out.
                if p.x.abs() < 0.2 {
                    cut.push([p.x, p.z]);
                }
            }
        }
    }
    cut.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    // A tape is the convex hull (Andrew's monotone chain).
    let turn =
        |o: [f64; 2], a: [f64; 2], b: [f64; 2]| (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
    let mut hull: Vec<[f64; 2]> = Vec::new();
    for back in [false, true] {
        let start = hull.len();
        let way: Vec<[f64; 2]> = if back { cut.iter().rev().copied().collect() } else { cut.clone() };
        for p in way {
            while hull.len() >= start + 2 && turn(hull[hull.len() - 2], hull[hull.len() - 1], p) <= 0.0 {
                hull.pop();
            }
            hull.push(p);
        }
        hull.pop();
    }
    let length = |k: usize| {
        let (a, b) = (hull[k], hull[(k + 1) % hull.len()]);
        ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt()
    };
    let ends = |c: usize| {
        cut.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[l, h], p| [l.min(p[c]), h.max(p[c])])
    };
    let ([left, right], [back, front]) = (ends(0), ends(1));
    [0.5 * (right - left), 0.5 * (front - back), 0.5 * (front + back), (0..hull.len()).map(length).sum()]
}

#[test]
fn it_has_the_measures_that_it_tells() {
    for build in BUILDS {
        let (mesh, points) = standing(build, 45.0);
        let told = Measures::of(&Mannequin { build, ..Mannequin::default() });
        for (name, section) in
            [("collar", told.collar), ("chest", told.chest), ("waist", told.waist), ("hips", told.hips)]
        {
            let Section { height, half_width, half_depth, middle, girth } = section;
            let [width, depth, at, around] = slice(&mesh, &points, height);
            let off = [width - half_width, depth - half_depth, at - middle, 0.3 * (around - girth)];
            assert!(off.iter().all(|off| off.abs() < 3e-3), "{build:?}, {name}: {off:?}");
        }
    }
    let (_, points) = standing(Build::Neutral, 45.0);
    let told = Measures::of(&Mannequin::default());
    let top = points.iter().map(|p| p.y).fold(0.0, f64::max);
    assert!((top - told.height).abs() < 0.015, "{top}");
    // From every joint the skin is about as far as told.
    let nearest = |joint: DVec3| points.iter().map(|p| p.distance(joint)).fold(f64::INFINITY, f64::min);
    for joint in [told.neck, told.shoulder, told.elbow, told.wrist, told.knee, told.ankle] {
        let off = nearest(joint.position) - joint.radius;
        assert!(off.abs() < 0.016, "{joint:?}: off by {off}");
    }
    let centre = |y: f64| nearest(DVec3::new(0.0, y, 0.0));
    assert!(centre(told.crotch - 0.05) > 0.02 && centre(told.crotch) < 0.03, "the legs part at the crotch");
    let small = Measures::of(&Mannequin { height: 0.875, ..Mannequin::default() });
    assert_eq!(small.waist.girth, 0.5 * told.waist.girth);
    assert_eq!(small.wrist.position, 0.5 * told.wrist.position);
}

#[test]
fn it_walks_on_its_feet_and_comes_to_rest() {
    let walk = Walk { start: 0.5, duration: 5.0, ..Walk::default() };
    let mesh = mannequin(&Mannequin { detail: 40, walk: Some(walk), ..Mannequin::default() }).unwrap();
    let still =
        mannequin(&Mannequin { detail: 40, ..Mannequin::default() }).unwrap().points(0.0, &Pose::IDENTITY);
    let at = |time: f64| mesh.points(time, &Pose::IDENTITY);
    for (a, b) in at(0.5).iter().zip(&still) {
        assert!(a.distance(*b) < 1e-9, "it stands until it sets out");
    }
    let mut before = at(0.5);
    for k in 1..=300 {
        let now = at(0.5 + f64::from(k) / 60.0);
        let low = now.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
        assert!((-0.02..0.03).contains(&low), "frame {k}: {low} m over the ground");
        let fastest = now.iter().zip(&before).map(|(a, b)| 60.0 * a.distance(*b)).fold(0.0, f64::max);
        assert!(fastest < 6.0, "frame {k}: {fastest} m/s");
        before = now;
    }
    // Both ends count half: 3.8 s at 1.1 m/s. All points have come as far, and stand as at the start.
    for (a, b) in before.iter().zip(&still) {
        let way = *a - *b;
        assert!((way - DVec3::new(0.0, 0.0, 4.18)).length() < 0.03, "{way}");
    }
    assert_eq!(at(99.0), before);
    let there = mannequin(&Mannequin {
        detail: 40,
        walk: Some(Walk { in_place: true, ..Walk::default() }),
        ..Mannequin::default()
    });
    let middle = there.unwrap().points(5.0, &Pose::IDENTITY).iter().sum::<DVec3>() / still.len() as f64;
    assert!(middle.z.abs() < 0.1, "{middle}");
}

#[test]
fn it_has_the_girths_that_are_asked_for() {
    let asked = Mannequin {
        height: 1.68,
        build: Build::Woman,
        chest: Some(0.98),
        waist: Some(0.80),
        hips: Some(1.08),
        ..Mannequin::default()
    };
    let told = Measures::of(&asked);
    for (section, girth) in [(told.chest, 0.98), (told.waist, 0.80), (told.hips, 1.08)] {
        assert!((section.girth - girth).abs() < 1e-3, "{section:?}");
    }
    let (mesh, usual) = (
        mannequin(&asked).unwrap(),
        Measures::of(&Mannequin { build: Build::Woman, ..Mannequin::default() }),
    );
    let points = mesh.points(0.0, &Pose::IDENTITY);
    assert!((slice(&mesh, &points, told.waist.height)[3] - 0.80).abs() < 8e-3);
    assert!(usual.waist.girth < Measures::of(&Mannequin::default()).waist.girth);
    let refused = mannequin(&Mannequin { waist: Some(2.0), ..Mannequin::default() }).unwrap_err();
    assert!(refused.contains("waist of 2 m"), "{refused}");
}

#[test]
fn it_takes_poses_and_dances_on_its_feet() {
    let poses = [(1.0, PoseName::ArmsUp), (2.0, PoseName::Sit), (3.0, PoseName::Stand)];
    let pose = poses.map(|(time, pose)| Posing { time, pose }).to_vec();
    let posing = mannequin(&Mannequin { detail: 40, pose, ..Mannequin::default() }).unwrap();
    let still =
        mannequin(&Mannequin { detail: 40, ..Mannequin::default() }).unwrap().points(0.0, &Pose::IDENTITY);
    let at = |time: f64| posing.points(time, &Pose::IDENTITY);
    let top = |points: &[DVec3]| points.iter().map(|p| p.y).fold(0.0, f64::max);
    assert!(top(&at(1.0)) > 1.95, "arms over the head: {}", top(&at(1.0)));
    assert!((1.2..1.45).contains(&top(&at(2.0))), "it sits: {}", top(&at(2.0)));
    for time in [0.0, 3.0, 50.0] {
        assert!(at(time).iter().zip(&still).all(|(a, b)| a.distance(*b) < 1e-9), "it stands at {time} s");
    }
    let dancing =
        mannequin(&Mannequin { detail: 40, dance: Some(Dance::default()), ..Mannequin::default() }).unwrap();
    for (name, mesh) in [("poses", &posing), ("dance", &dancing)] {
        let mut before = mesh.points(0.0, &Pose::IDENTITY);
        for k in 1..=720 {
            let now = mesh.points(f64::from(k) / 60.0, &Pose::IDENTITY);
            let low = now.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
            assert!((-0.02..0.03).contains(&low), "{name}, frame {k}: {low} m over the ground");
            let fastest = now.iter().zip(&before).map(|(a, b)| 60.0 * a.distance(*b)).fold(0.0, f64::max);
            assert!(fastest < 6.0, "{name}, frame {k}: {fastest} m/s");
            before = now;
        }
    }
}
