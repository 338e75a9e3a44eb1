//! What a model remembers whose elements are complete: a slider beside every bend, plate, diagonal and membrane of a fabric that has hysteresis, and beside
//! what rests bent.

use std::collections::BTreeSet;
use taffeta::model::{ClothPiece, Model, Slider, Slides};

/// How many times as stiff as its element a slider is before it slides [1].
///
/// No laboratory sheet tells it. On the curves of a bending tester the moment is up by 2HB within some tenths of 1/cm after the motion has turned: a fabric
/// of 2HB/B = 1/cm, a stiff cotton, slides here after 1/8 of 1/cm at the first bend and after twice that when it turns.
const STIFFER: f64 = 4.0;

/// Adds the sliders, and their stiffness to that of their elements. Dampers stay as they are, but for those of membranes, which are small.
pub(super) fn add(model: &mut Model) {
    for c in 0..model.cloths.len() {
        let ClothPiece { fabric, .. } = &model.cloths[c];
        let [bending, shear] = [0.5e-3 * fabric.bending_hysteresis, 0.5 * fabric.shear_hysteresis];
        if bending > 0.0 {
            bends(model, c, bending);
            plates(model, c, bending);
        }
        if shear > 0.0 {
            diagonals(model, c, shear);
            membranes(model, c, shear);
        }
    }
    bent(model);
}

/// What rests bent without friction has a slider that holds nothing.
fn bent(model: &mut Model) {
    let Model { bends, twists, plates, sliders, .. } = model;
    let numbered = |rest: &[f64], of: fn(u32) -> Slides| -> Vec<Slides> {
        let bent = (0..).zip(rest).filter(|(_, rest)| **rest != 0.0);
        bent.map(|(k, _)| of(k)).collect()
    };
    let axes = |(p, rest): (u32, &[f64; 3])| {
        let bent = (0..3).filter(|axis| rest[*axis] != 0.0);
        bent.map(move |axis| Slides::Plate(p, axis as u8)).collect::<Vec<_>>()
    };
    let all = [numbered(&bends.rest, Slides::Bend), numbered(&twists.rest, Slides::Twist)].concat();
    let all = all.into_iter().chain((0..).zip(&plates.rest).flat_map(axes));
    let known: BTreeSet<Slides> = sliders.iter().map(|slider| slider.of).collect();
    let new = all.filter(|of| !known.contains(of));
    sliders.extend(new.map(|of| Slider { of, stiffness: 0.0, give: f64::INFINITY }));
}

/// Beside an element of so much stiffness, which is without friction, that slides at a deformation `at` of it: limit over the stiffness of the element.
fn slider(of: Slides, stiffness: &mut f64, at: f64) -> Option<Slider> {
    if !(*stiffness > 0.0 && at.is_finite()) {
        return None;
    }
    let own = STIFFER * *stiffness;
    *stiffness += own;
    Some(Slider { of, stiffness: own, give: at / STIFFER })
}

/// Numbers of the elements that belong to a piece of cloth.
fn own<const N: usize>(model: &Model, cloth: usize, points: &[[u32; N]]) -> Vec<usize> {
    let particles = &model.cloths[cloth].particles;
    (0..points.len()).filter(|e| particles.contains(&(points[*e][0] as usize))).collect()
}

/// A bend turns by the curvature times its mean length, and resists by B times it: friction HB [N] is what the curvature HB / B takes.
fn bends(model: &mut Model, cloth: usize, friction: f64) {
    for b in own(model, cloth, &model.bends.points) {
        let [p, _, q] = model.bends.points[b].map(|i| model.material[i as usize]);
        let (u, v) = (q[0] - p[0], q[1] - p[1]);
        let squared = u * u + v * v;
        let along_warp = if squared > 0.0 { u * u / squared } else { 0.5 };
        let fabric = &model.cloths[cloth].fabric;
        let rigidity = 1e-6 * (fabric.bending_warp * along_warp + fabric.bending_weft * (1.0 - along_warp));
        let length = 0.5 * model.bends.inverse_lengths[b].iter().map(|inverse| 1.0 / inverse).sum::<f64>();
        let stiffness = &mut model.bends.stiffness[b];
        model.sliders.extend(slider(Slides::Bend(b as u32), stiffness, friction / rigidity * length));
    }
}

/// Along warp and weft. A cylinder at an angle θ has the curvatures κ cos²θ and κ sin²θ, so friction is the same for every θ; twist has none.
fn plates(model: &mut Model, cloth: usize, friction: f64) {
    for p in own(model, cloth, &model.membranes.points) {
        let fabric = &model.cloths[cloth].fabric;
        let rigidities = [fabric.bending_warp, fabric.bending_weft].map(|d| 1e-6 * d);
        for (axis, rigidity) in rigidities.into_iter().enumerate() {
            let stiffness = &mut model.plates.stiffness[p][axis];
            model.sliders.extend(slider(Slides::Plate(p as u32, axis as u8), stiffness, friction / rigidity));
        }
    }
}

/// When a parallelogram of the area A is sheared by γ, a diagonal p lengthens by γ A / p. Both do the work of a force per width HG [N/m] if each holds HG p / 2.
/// Springs of soft solids, which have no bends, are not of this kind.
fn diagonals(model: &mut Model, cloth: usize, friction: f64) {
    if own(model, cloth, &model.bends.points).is_empty() {
        return;
    }
    let edges = &model.edges[model.cloths[cloth].edges.clone()];
    let sorted = |[a, b]: [u32; 2]| [a.min(b), a.max(b)];
    let edges: BTreeSet<[u32; 2]> = edges.iter().map(|ends| sorted(*ends)).collect();
    for s in own(model, cloth, &model.springs.ends) {
        if edges.contains(&sorted(model.springs.ends[s])) {
            continue;
        }
        let (length, stiffness) = (model.springs.rest_length[s], &mut model.springs.stiffness[s]);
        let at = 0.5 * friction * length / *stiffness;
        model.sliders.extend(slider(Slides::Spring(s as u32), stiffness, at));
    }
}

/// Of a membrane w_u·w_v is the shear itself.
fn membranes(model: &mut Model, cloth: usize, friction: f64) {
    for t in own(model, cloth, &model.membranes.points) {
        let [.., shear] = &mut model.membranes.stiffness[t];
        let area = area(model.membranes.material[t]);
        let at = friction / *shear;
        let beside = slider(Slides::Membrane(t as u32), shear, at);
        // Its stiffness in the table is per area.
        model.sliders.extend(beside.map(|slider| Slider { stiffness: area * slider.stiffness, ..slider }));
    }
}

fn area([a, b, c]: [[f64; 2]; 3]) -> f64 {
    0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])).abs()
}
