//! A basted garment is one piece of cloth: particles that are sewn together are one, so that no seam can open and nothing pulls against one.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use taffeta::math::DVec3;
use taffeta::model::{Bends, Buckles, ClothPiece, Membranes, Model, PlatePatch, Plates, Springs, Twists};

/// Adds a piece of cloth of all `panels`, pieces of a model of their own, with their particles numbered anew by `of`. They start at `start` [m].
///
/// Sides of a seam that differ in length meet at their mean. At rest the piece is as it starts, for no flat shape has all panels; lengths, masses and stiffness are
/// those of the flat panels.
pub fn add_welded(model: &mut Model, panels: &Model, of: &[u32], start: &[DVec3], name: &str) {
    let first = model.particle_count() as u32;
    let (first_triangle, first_edge) = (model.triangles.len(), model.edges.len());
    let Some(fabric) = panels.cloths.first().map(|panel| panel.fabric.clone()) else { return };
    let at = |i: u32| of[i as usize];

    let (mut mass, mut material) = (vec![0.0; start.len()], vec![None; start.len()]);
    for ((g, m), uv) in of.iter().zip(&panels.mass).zip(&panels.material) {
        mass[*g as usize] += m;
        material[*g as usize].get_or_insert(*uv);
    }
    model.mass.extend(mass);
    model.material.extend(material.into_iter().map(Option::unwrap_or_default));
    model.rest_positions.extend(start);
    let whole = panels.triangles.iter().map(|t| t.map(at)).filter(are_distinct);
    model.triangles.extend(whole.map(|t| t.map(|i| i + first)));

    let lengths = merged(panels.edges.iter().zip(&panels.rest_lengths).map(|(ends, l)| (ends.map(at), [*l])));
    model.edges.extend(lengths.keys().map(|ends| ends.map(|i| i + first)));
    model.rest_lengths.extend(lengths.values().map(|(n, [length])| length / n));
    let springs = springs(&panels.springs, at);
    let longest_edge = springs.rest_length.iter().chain(&model.rest_lengths[first_edge..]).copied();
    let longest_edge = longest_edge.fold(0.0, f64::max);
    model.springs.append(springs, first);
    model.stretches.append(self::springs(&panels.stretches, at), first);
    model.bends.append(bends(&panels.bends, at), first);
    model.twists.append(twists(&panels.twists, at), first);
    model.membranes.append(membranes(&panels.membranes, at), first);
    model.plates.append(plates(panels, at), first);
    model.buckles.append(buckles(&panels.buckles, at), first);
    model.cloths.push(ClothPiece {
        name: name.into(),
        fabric,
        particles: first as usize..model.particle_count(),
        triangles: first_triangle..model.triangles.len(),
        edges: first_edge..model.edges.len(),
        longest_edge,
        let_out: 0.0,
    });
}

/// Whether no two are one.
fn are_distinct<const N: usize>(points: &[u32; N]) -> bool {
    (1..N).all(|k| !points[..k].contains(&points[k]))
}

/// Numbers of all that joins the same two particles, summed up, and how many there were.
fn merged<const N: usize>(
    all: impl Iterator<Item = ([u32; 2], [f64; N])>,
) -> BTreeMap<[u32; 2], (f64, [f64; N])> {
    let mut sums = BTreeMap::new();
    for ([a, b], numbers) in all.filter(|(ends, _)| are_distinct(ends)) {
        let (count, sum) = sums.entry([a.min(b), a.max(b)]).or_insert((0.0, [0.0; N]));
        *count += 1.0;
        sum.iter_mut().zip(numbers).for_each(|(sum, number)| sum.add_assign(number));
    }
    sums
}

fn springs(all: &Springs, at: impl Fn(u32) -> u32) -> Springs {
    let numbers = all.rest_length.iter().zip(&all.stiffness).zip(&all.damping);
    let numbers = numbers.map(|((length, stiffness), damping)| [*length, *stiffness, *damping]);
    let merged = merged(all.ends.iter().map(|ends| ends.map(&at)).zip(numbers));
    Springs {
        ends: merged.keys().copied().collect(),
        rest_length: merged.values().map(|(n, [length, _, _])| length / n).collect(),
        stiffness: merged.values().map(|(_, [_, stiffness, _])| *stiffness).collect(),
        damping: merged.values().map(|(_, [_, _, damping])| *damping).collect(),
    }
}

/// Places of elements whose points stay distinct, with their new points.
fn kept<const N: usize>(points: &[[u32; N]], at: impl Fn(u32) -> u32) -> Vec<(usize, [u32; N])> {
    points
        .iter()
        .map(|points| points.map(&at))
        .enumerate()
        .filter(|(_, points)| are_distinct(points))
        .collect()
}

fn bends(all: &Bends, at: impl Fn(u32) -> u32) -> Bends {
    let kept = kept(&all.points, at);
    Bends {
        points: kept.iter().map(|(_, points)| *points).collect(),
        inverse_lengths: kept.iter().map(|(k, _)| all.inverse_lengths[*k]).collect(),
        rest: kept.iter().map(|(k, _)| all.rest[*k]).collect(),
        stiffness: kept.iter().map(|(k, _)| all.stiffness[*k]).collect(),
        damping: kept.iter().map(|(k, _)| all.damping[*k]).collect(),
    }
}

fn twists(all: &Twists, at: impl Fn(u32) -> u32) -> Twists {
    let kept = kept(&all.points, at);
    Twists {
        points: kept.iter().map(|(_, points)| *points).collect(),
        crossings: kept.iter().map(|(k, _)| all.crossings[*k]).collect(),
        rest: kept.iter().map(|(k, _)| all.rest[*k]).collect(),
        stiffness: kept.iter().map(|(k, _)| all.stiffness[*k]).collect(),
        damping: kept.iter().map(|(k, _)| all.damping[*k]).collect(),
    }
}

fn membranes(all: &Membranes, at: impl Fn(u32) -> u32) -> Membranes {
    let kept = kept(&all.points, at);
    Membranes {
        points: kept.iter().map(|(_, points)| *points).collect(),
        material: kept.iter().map(|(k, _)| all.material[*k]).collect(),
        stiffness: kept.iter().map(|(k, _)| all.stiffness[*k]).collect(),
        damping_time: kept.iter().map(|(k, _)| all.damping_time[*k]).collect(),
    }
}

/// Patches of the triangles that stay whole. One that reaches over a dart has points that are one, and bends as that pulls it together.
fn plates(panels: &Model, at: impl Fn(u32) -> u32) -> Plates {
    let mut plates = Plates::default();
    for (patch, triangle) in panels.plates.patches().zip(&panels.triangles) {
        if are_distinct(&triangle.map(&at)) {
            let points: Vec<u32> = patch.points.iter().map(|i| at(*i)).collect();
            plates.push(PlatePatch { points: &points, ..patch });
        }
    }
    plates
}

fn buckles(all: &Buckles, at: impl Fn(u32) -> u32) -> Buckles {
    let kept = kept(&all.ends, at);
    Buckles {
        ends: kept.iter().map(|(_, ends)| *ends).collect(),
        rest_length: kept.iter().map(|(k, _)| all.rest_length[*k]).collect(),
        bending: kept.iter().map(|(k, _)| all.bending[*k]).collect(),
        ramp: kept.iter().map(|(k, _)| all.ramp[*k]).collect(),
        damping: kept.iter().map(|(k, _)| all.damping[*k]).collect(),
    }
}
