//! What is laid out for the device: every particle and edge has its place, whatever the mesh.

use std::collections::BTreeSet;
use taffeta::model::{Environment, Model};
use taffeta_cuda::{Lanes, Plan, Shape};
use taffeta_scene::{Cloth, Corner, Disc, Pin, Scene, Sheet, Tube, build};

fn cloths() -> Vec<(&'static str, Model)> {
    let sheet = Sheet { width: 1.0, height: 0.7, columns: 13, rows: 9, slack: 1.0 };
    let pin = Pin { corners: vec![Corner::UpperLeft], ..Pin::default() };
    let model = |cloth: Cloth| {
        build(&Scene { cloth: vec![cloth], ..Scene::default() }, &Default::default()).unwrap().0
    };
    vec![
        ("sheet", model(Cloth { sheet: Some(sheet), pin: vec![pin], ..Cloth::default() })),
        ("disc", model(Cloth { disc: Some(Disc { radius: 0.5, rings: 7 }), ..Cloth::default() })),
        (
            "tube",
            model(Cloth {
                tube: Some(Tube { radius: 0.1, length: 0.5, segments: 12, rows: 10 }),
                ..Cloth::default()
            }),
        ),
    ]
}

/// Particles of a group, each once; and its edges as (lane place, ends).
fn read(lanes: &Lanes, shape: Shape) -> (BTreeSet<i32>, Vec<(usize, [i32; 2])>) {
    let mut seen = BTreeSet::new();
    let there = lanes.particle.iter().filter(|i| **i >= 0);
    there.for_each(|i| assert!(seen.insert(*i), "particle {i} comes twice in a group"));
    let mut edges = Vec::new();
    for (place, edge) in lanes.edge.iter().enumerate().filter(|(_, edge)| edge[0] > 0.0) {
        assert!((place + 1) % shape.lane() != 0, "an edge leads out of its lane");
        let ends = [lanes.particle[place], lanes.particle[place + 1]];
        assert!(ends.iter().all(|i| *i >= 0) && edge[1] > 0.0);
        edges.push((lanes.first + place, ends));
    }
    assert_eq!(lanes.particle.len(), lanes.count * shape.lane());
    (seen, edges)
}

#[test]
fn every_edge_stands_between_its_ends_and_every_particle_in_the_first_group() {
    for (name, model) in cloths() {
        let plan = Plan::new(&model, &Environment::new(&model)).unwrap();
        let n = model.particle_count();
        assert_eq!(read(&plan.hard[0], plan.shape).0.len(), n, "{name}");
        let groups = plan.hard.iter().chain(&plan.soft);
        let edges: Vec<_> = groups.flat_map(|lanes| read(lanes, plan.shape).1).collect();
        assert_eq!(edges.len(), plan.places.len(), "{name}");
        let sorted = |[a, b]: [i32; 2]| [a.min(b), a.max(b)];
        for (edge, ends) in model.edges.iter().enumerate() {
            let (_, found) = edges.iter().find(|(place, _)| *place as i32 == plan.places[edge]).unwrap();
            assert_eq!(sorted(*found), sorted(ends.map(|i| i as i32)), "{name}: edge {edge}");
        }
        // Each edge is seen from both of its ends.
        assert_eq!(plan.around.len(), 2 * plan.places.len());
        for i in 0..n {
            let around = plan.around_from[i] as usize..plan.around_from[i + 1] as usize;
            for [other, place] in &plan.around[around] {
                let (_, ends) = edges.iter().find(|(at, _)| *at as i32 == *place).unwrap();
                assert_eq!(sorted(*ends), sorted([i as i32, *other]), "{name}");
            }
        }
    }
}

#[test]
fn all_bends_have_a_place() {
    for (name, model) in cloths() {
        let plan = Plan::new(&model, &Environment::new(&model)).unwrap();
        let in_lanes = plan.hard.iter().flat_map(|lanes| &lanes.bend).filter(|bend| bend[1] > 0.0).count();
        let lone: usize = plan.lone.iter().map(|bends| bends.points.len()).sum();
        assert_eq!(in_lanes + lone, model.bends.points.len(), "{name}");
        for group in &plan.lone {
            let mut seen = BTreeSet::new();
            assert!(group.points.iter().flat_map(|points| &points[..3]).all(|i| seen.insert(*i)), "{name}");
        }
    }
}

#[test]
fn pins_are_numbered_and_do_not_move() {
    let (_, model) = cloths().swap_remove(0);
    let plan = Plan::new(&model, &Environment::new(&model)).unwrap();
    assert_eq!((plan.pins, plan.pin.iter().filter(|pin| **pin >= 0).count()), (1, 1));
    for (pin, [w, m]) in plan.pin.iter().zip(&plan.mass) {
        assert!((*pin >= 0) == (*w == 0.0) && *m > 0.0);
    }
}

#[test]
fn lanes_have_room_for_the_longest_strip() {
    let shape = |longest| Shape::of(longest).map(|Shape { threads, each }| (threads, each));
    assert_eq!(shape(1), Some((32, 1)));
    assert_eq!(shape(33), Some((32, 2)));
    assert_eq!(shape(100), Some((32, 4)));
    assert_eq!(shape(129), Some((64, 4)));
    assert_eq!(shape(500), Some((128, 4)));
    assert_eq!(shape(2048), Some((512, 4)));
    assert_eq!(shape(2049), Some((512, 8)));
    assert_eq!(shape(4097), None);
    for longest in 1..=4096 {
        assert!(Shape::of(longest).unwrap().lane() >= longest);
    }
}
