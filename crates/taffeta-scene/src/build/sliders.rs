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
        let resilience = 0.01 * fabric.tensile_resilience;
        if bending > 0.0 {
            bends(model, c, bending);
            plates(model, c, bending);
        }
        if shear > 0.0 {
            diagonals(model, c, shear);
            membranes(model, c, shear);
        }
        // What keeps its length is not pulled out.
        if resilience < 1.0 && (model.extensible || !model.method.keeps_lengths()) {
            let share = friction_of_tension(resilience);
            tensions(model, c, share);
            stretches(model, c, share);
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
    sliders.extend(new.map(|of| Slider { of, stiffness: 0.0, give: f64::INFINITY, grip: 0.0 }));
}

/// Beside an element of so much stiffness, which is without friction, that slides at a deformation `at` of it: limit over the stiffness of the element.
fn slider(of: Slides, stiffness: &mut f64, at: f64) -> Option<Slider> {
    if !(*stiffness > 0.0 && at.is_finite()) {
        return None;
    }
    let own = STIFFER * *stiffness;
    *stiffness += own;
    Some(Slider { of, stiffness: own, give: at / STIFFER, grip: 0.0 })
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

fn sorted([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// The structural edges of a piece of cloth.
fn structural(model: &Model, cloth: usize) -> BTreeSet<[u32; 2]> {
    model.edges[model.cloths[cloth].edges.clone()].iter().map(|ends| sorted(*ends)).collect()
}

/// When a parallelogram of the area A is sheared by γ, a diagonal p lengthens by γ A / p. Both do the work of a force per width HG [N/m] if each holds HG p / 2.
/// Springs of soft solids, which have no bends, are not of this kind.
fn diagonals(model: &mut Model, cloth: usize, friction: f64) {
    if own(model, cloth, &model.bends.points).is_empty() {
        return;
    }
    let edges = structural(model, cloth);
    for s in own(model, cloth, &model.springs.ends) {
        if edges.contains(&sorted(model.springs.ends[s])) {
            continue;
        }
        let (length, stiffness) = (model.springs.rest_length[s], &mut model.springs.stiffness[s]);
        let at = 0.5 * friction * length / *stiffness;
        model.sliders.extend(slider(Slides::Spring(s as u32), stiffness, at));
    }
}

/// How many times as stiff as its element without friction the slider of a pull is before it slides [1]: a fabric with an RT of 40 % asks for 4 and more.
const STIFFER_PULLED: f64 = 5.0;

/// Friction over elastic force u of a fabric that gives back the share `resilience` of the work that has pulled it.
///
/// Pulled from rest it resists by K (1 + u) e, let go by K (1 - u) e, once its slider of the stiffness r K has turned round, at e (r - u)/(r + u). The areas
/// below both are RT (1 + u) (r + u) = (1 - u) (r + u) + 4 u², whose smaller root this is.
fn friction_of_tension(resilience: f64) -> f64 {
    let r = STIFFER_PULLED;
    let [a, b, c] = [resilience - 3.0, resilience * (1.0 + r) + r - 1.0, r * (resilience - 1.0)];
    -2.0 * c / (b + (b * b - 4.0 * a * c).sqrt())
}

/// Beside what resists a pull: its friction is a share `u` of its elastic force, because yarns that cross press on one another as they are pulled. Pulled from rest
/// both have the stiffness that the element had.
fn pulled(of: Slides, stiffness: &mut f64, u: f64) -> Option<Slider> {
    if stiffness.is_nan() || *stiffness <= 0.0 {
        return None;
    }
    let elastic = *stiffness / (1.0 + u);
    let own = STIFFER_PULLED * elastic;
    *stiffness = elastic + own;
    Some(Slider { of, stiffness: own, give: 0.0, grip: u / STIFFER_PULLED })
}

/// Structural springs, which lie along warp and weft.
fn tensions(model: &mut Model, cloth: usize, share: f64) {
    let edges = structural(model, cloth);
    for s in own(model, cloth, &model.springs.ends) {
        if edges.contains(&sorted(model.springs.ends[s])) {
            let stiffness = &mut model.springs.stiffness[s];
            model.sliders.extend(pulled(Slides::Spring(s as u32), stiffness, share));
        }
    }
}

/// Membranes along warp and weft.
fn stretches(model: &mut Model, cloth: usize, share: f64) {
    for t in own(model, cloth, &model.membranes.points) {
        let area = area(model.membranes.material[t]);
        for axis in 0..2 {
            let stiffness = &mut model.membranes.stiffness[t][axis];
            let beside = pulled(Slides::Stretch(t as u32, axis as u8), stiffness, share);
            model
                .sliders
                .extend(beside.map(|slider| Slider { stiffness: area * slider.stiffness, ..slider }));
        }
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
