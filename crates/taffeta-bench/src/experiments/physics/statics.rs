//! What comes to rest: the catenary, the hanging strip, the heavy elastica, the bending length.

use super::meshes::{self, Lay};
use super::references::{catenary_sag, heavy_elastica};
use super::{
    Curve, Experiment, Finding, GRAVITY, Miss, Way, scene, settle, simulation, thread_like, usual_ways,
};
use crate::BenchError;
use std::collections::BTreeMap;
use taffeta_scene::{
    Cloth, ClothModel, FabricChange, MeshShape, Method, Pin, Scene, Sheet, Side, Solver, StrainLimit, Strip,
    UpAxis, preset,
};

pub(super) const CATENARY: Experiment = Experiment {
    name: "catenary",
    about: "A narrow strip of 1 m in 40 cells hangs between its ends, which are a share of its length apart: sag of its middle. Reference: a (cosh(d/a) - 1) with 2 a sinh(d/a) = length (Leibniz, Huygens, J. Bernoulli 1691).",
    misses: &[Miss {
        of: &["impulse-iterative"],
        why: "with its ends far apart the sag hangs on the length: a strip that is shorter by 0.04 % sags 1 % less, and edge by edge a strip ends that much short. In 200 sub-steps a frame it is 0.1 % from the reference.",
    }],
    curve: Some(Curve {
        x: "span over length",
        y: "sag [m]",
        log: false,
        range: [0.45, 0.99],
        reference: catenary_sag,
    }),
    ways: usual_ways,
    find: catenary,
};

pub(super) const ELONGATION: Experiment = Experiment {
    name: "elongation",
    about: "A strip of 0.5 m, 200 g/m² and 100 N/m hangs from its end: how much longer it is. Reference: ρ g L² / (2 Y), Hooke's law under its own weight; 0 for methods that keep lengths whatever the stiffness, to their tolerance of 0.1 %.",
    misses: &[],
    curve: None,
    ways: usual_ways,
    find: elongation,
};

pub(super) const STRETCH: Experiment = Experiment {
    name: "stretch",
    about: "A strip of 0.5 m of a built-in fabric hangs from its end, in a gravity that strains its upper end by 1 %: how much longer it is; methods that keep lengths with `solver.extensible` and a tolerance of 2 %. Reference: half a percent of its length, Hooke's law under its own weight. Then the same where edges stop at 0.3 %: six tenths of a tolerance of 0.5 % for methods that keep lengths; `barrier` holds them between half of a tolerance of 0.6 % and all of it; others shorten them (`solver.limit`), in 100 steps a frame, for in fewer a step lets all of the strip stretch to its bound.",
    misses: &[Miss {
        of: &[],
        why: "sweeps know no forces: what a step has stretched beyond the bound they push on to the edges below, up to the bound, and the stiffer and lighter a fabric is, the further a step stretches it. Silk by `backward-euler` is 3.0 % too long in 100 steps a frame, 1.5 % in 200 and 1.0 % in 400.",
    }],
    curve: None,
    ways: usual_ways,
    find: stretch,
};

pub(super) const ELASTICA: Experiment = Experiment {
    name: "heavy-elastica",
    about: "A strip is clamped level and bends under its own weight, γ = ρ g L³ / B: drop of the tip over its reach. Reference: the elastica θ'' = -γ (1 - s) cos θ, solved here to ten digits; it is the Cantilever test of V. Romero et al., Physical Validation of Simulators in Computer Graphics, ACM TOG 40(4), 2021.",
    misses: &[Miss {
        of: &["xpbd"],
        why: "it answers bends once in a sub-step, one after the other, which leaves the stiffest strips too soft: at γ = 0.5 it is 19 % off in 2000 sub-steps a frame and 1.3 % in 6000.",
    }],
    curve: Some(Curve { x: "γ", y: "drop over reach", log: true, range: [0.4, 60.0], reference: steepness }),
    ways: usual_ways,
    find: elastica,
};

pub(super) const BENDING_LENGTH: Experiment = Experiment {
    name: "bending-length",
    about: "ASTM D1388: a strip of a built-in fabric overhangs by twice its bending length c = (B / ρ g)^(1/3), and c is read off the angle of its chord by Peirce's formula c = l (cos(θ/2) / (8 tan θ))^(1/3). Reference: c from the laboratory's numbers (F. T. Peirce, J. Textile Inst. 21, 1930).",
    misses: &[Miss {
        of: &["projective"],
        why: "it has every spring as stiff across as along in its matrix, so that five iterations go only a part of the way to where bends lead: cotton and silk are 2.4 and 3.2 % off with 20 iterations, 2.1 and 2.0 % with 60, as all others are, by Peirce's formula.",
    }],
    curve: None,
    ways: usual_ways,
    find: bending_length,
};

pub(super) const REFINEMENT_IN_SPACE: Experiment = Experiment {
    name: "refinement-in-space",
    about: "The heavy elastica at γ = 10 in 10, 20 and 40 cells: its error when the cells are halved, over the error before. Reference: below 1, it must fall; a quarter is second order.",
    misses: &[Miss {
        of: &["xpbd"],
        why: "it answers bends once in a sub-step, one after the other, and the finer the cells the less of a moment comes through: in 40 cells the usual sub-steps leave more undone than the cells do. In 6000 sub-steps a frame the errors fall, to 0.38 and 0.21 of themselves.",
    }],
    curve: None,
    ways: usual_ways,
    find: refinement,
};

fn catenary(way: Way, quick: bool) -> Result<Vec<Finding>, BenchError> {
    let spans: &[f64] = if quick { &[0.9] } else { &[0.5, 0.7, 0.9, 0.98] };
    let columns = 41;
    let find = |&span: &f64| {
        let cloth = Cloth {
            sheet: Some(Sheet { width: 1.0, height: 0.025, columns, rows: 2, slack: span }),
            pin: vec![Pin { sides: vec![Side::Left, Side::Right], ..Pin::default() }],
            ..Cloth::default()
        };
        let mut scene = scene(way, cloth, thread_like());
        scene.air.damping = 8.0;
        scene.solver.tolerance = 1e-4;
        let mut simulation = simulation(&scene, &Default::default())?;
        settle(&mut simulation, 6.0)?;
        let x = &simulation.state().positions;
        let found = x[0].y - x[columns as usize / 2].y;
        Ok(Finding::near(format!("span {span} of the length"), "m", catenary_sag(span), found, 0.01).at(span))
    };
    spans.iter().map(find).collect()
}

fn elongation(way: Way, _: bool) -> Result<Vec<Finding>, BenchError> {
    let (length, stiffness) = (0.5, 100.0);
    let fabric =
        FabricChange { warp: Some(stiffness), weft: Some(stiffness), bias: Some(0.5), ..thread_like() };
    let found = lengthening(&hanging(way, length, fabric))?;
    let want = 1e3 * 0.2 * GRAVITY * length * length / (2.0 * stiffness);
    let case = "lengthening".to_string();
    Ok(vec![match way.keeps_lengths() {
        true => Finding::nothing(case, "mm", found, 1e3 * 1e-3 * length),
        false => Finding::near(case, "mm", want, found, 0.02),
    }])
}

/// A strip that hangs from its left side.
fn hanging(way: Way, length: f64, fabric: FabricChange) -> Scene {
    let cloth = Cloth {
        strip: Some(Strip { length, width: 0.1, segments: 20 }),
        // The left side up.
        rotation: [0.0, 0.0, -90.0],
        pin: vec![Pin { sides: vec![Side::Left], ..Pin::default() }],
        ..Cloth::default()
    };
    let mut scene = scene(way, cloth, fabric);
    scene.air.damping = 20.0;
    scene
}

/// How much longer it is at rest than without weight [mm].
fn lengthening(scene: &Scene) -> Result<f64, BenchError> {
    let length = scene.cloth[0].strip.as_ref().map_or(0.0, |strip| strip.length);
    let mut simulation = simulation(scene, &Default::default())?;
    settle(&mut simulation, 3.0)?;
    let lowest = simulation.state().positions.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
    Ok(1e3 * (-0.5 * length - lowest))
}

fn stretch(way: Way, quick: bool) -> Result<Vec<Finding>, BenchError> {
    let (length, strain) = (0.5, 0.01);
    let fabrics: &[&str] = if quick { &["jersey"] } else { &["silk", "jersey", "denim"] };
    let mut findings = Vec::new();
    for name in fabrics {
        let Some(fabric) = preset(name).map(|preset| preset.fabric) else { continue };
        for (along, stiffness) in [("warp", fabric.warp), ("weft", fabric.weft)] {
            // The strip lies along its warp, so the weft takes its place; a strip is not sheared.
            let own = FabricChange {
                density: Some(fabric.density),
                warp: Some(stiffness),
                weft: Some(stiffness),
                bias: Some(0.005 * stiffness),
                ..thread_like()
            };
            let mut scene = hanging(way, length, own);
            scene.gravity = [0.0, -strain * stiffness / (1e-3 * fabric.density * length), 0.0];
            scene.solver.extensible = true;
            // Beyond what it stretches by where that is the bound. Others take from it how long their sub-steps may be.
            if way.keeps_lengths() {
                scene.solver.tolerance = 0.02;
            }
            let found = lengthening(&scene)?;
            let want = 1e3 * 0.5 * strain * length;
            findings.push(Finding::near(format!("{name}, {along}"), "mm", want, found, 0.02));
            let range = bound_by(way, strain, &mut scene.solver);
            // Strain falls from the upper end downwards; what is beyond the bound is at it.
            let want = range.map(|bound| 1e3 * length * (bound - 0.5 * bound * bound / strain));
            let case = format!("{name}, {along}, bounded");
            findings.push(Finding::between(case, "mm", want, lengthening(&scene)?, 0.02));
        }
    }
    Ok(findings)
}

/// Lets edges stop at three tenths of a strain, the barrier between that and twice as much: between which strains they do.
fn bound_by(way: Way, strain: f64, solver: &mut Solver) -> [f64; 2] {
    let bound = 0.3 * strain;
    match way.method {
        // Edges that stretch do so up to six tenths of the tolerance.
        _ if way.keeps_lengths() => solver.tolerance = bound / 0.6,
        // Its barrier begins at half of the tolerance.
        Method::Barrier => {
            solver.tolerance = 2.0 * bound;
            return [bound, 2.0 * bound];
        }
        // Edges are shortened after every step, from the pin on, whatever they carry: with few steps all of a strip ends at the bound.
        _ => {
            solver.steps_per_frame = 100;
            solver.limit = Some(StrainLimit { strain: bound, sweeps: 1000, ..StrainLimit::default() });
        }
    }
    [bound; 2]
}

/// Cells across a cantilever.
const ACROSS: u32 = 3;

/// How the strips of a way lie: triangles have to bend alike on any mesh.
fn lays(way: Way) -> &'static [Lay] {
    if way.model == ClothModel::Triangles { &Lay::ALL } else { &[Lay::Grid] }
}

/// A case, and how its triangles lie where that differs.
fn named(case: String, way: Way, lay: Lay) -> String {
    if lays(way).len() > 1 { format!("{case}, {}", lay.name()) } else { case }
}

/// Drop and reach of the tip of a strip of `cells` cells and the length `length` [m], clamped level, that has come to rest [m].
fn cantilever(
    way: Way,
    fabric: FabricChange,
    length: f64,
    cells: u32,
    lay: Lay,
) -> Result<(f64, f64), BenchError> {
    let triangles = way.model == ClothModel::Triangles;
    // The bend of springs at the clamp stands for half a cell on either side of it, of which the clamped half cannot curve.
    let beyond = if triangles { 0.0 } else { 0.5 };
    let d = length / (f64::from(cells) + beyond);
    let columns = cells + 2;
    // Held level over one cell.
    let held = (0..=ACROSS).flat_map(|row| [row * columns, row * columns + 1]).collect();
    let (whole, width) = (d * f64::from(cells + 1), d * f64::from(ACROSS));
    let mut cloth = Cloth { pin: vec![Pin { vertices: held, ..Pin::default() }], ..Cloth::default() };
    let mut files = BTreeMap::new();
    if triangles {
        files.insert("strip".into(), meshes::strip(lay, [whole, width], [cells + 1, ACROSS]));
        cloth.mesh = Some(MeshShape { file: "strip".into(), scale: 1.0, up: UpAxis::default(), weld: 0.0 });
    } else {
        cloth.strip = Some(Strip { length: whole, width, segments: cells + 1 });
    }
    let mut scene = scene(way, cloth, fabric);
    // About as much as lets a short strip rest soonest: an explicit method has no steps to spare for its swinging.
    scene.air.damping = 2.0 * (GRAVITY / length).sqrt();
    let mut simulation = simulation(&scene, &files)?;
    settle(&mut simulation, 6.0)?;
    let x = &simulation.state().positions;
    let (clamp, tip) = (x[1], x[columns as usize - 1]);
    Ok((clamp.y - tip.y, tip.x - clamp.x + beyond * d))
}

/// Drop over reach of the tip, as it should be.
fn steepness(gamma: f64) -> f64 {
    let (drop, reach) = heavy_elastica(gamma);
    drop / reach
}

/// The same as it is found.
fn heavy(way: Way, gamma: f64, cells: u32, lay: Lay) -> Result<f64, BenchError> {
    let length = 0.2_f64;
    let rigidity = 0.2 * GRAVITY * length.powi(3) / gamma;
    let fabric = FabricChange {
        warp: Some(2000.0),
        weft: Some(2000.0),
        bias: Some(500.0),
        bending_warp: Some(1e6 * rigidity),
        bending_weft: Some(1e6 * rigidity),
        ..thread_like()
    };
    let (drop, reach) = cantilever(way, fabric, length, cells, lay)?;
    Ok(drop / reach)
}

fn elastica(way: Way, quick: bool) -> Result<Vec<Finding>, BenchError> {
    let gammas: &[f64] = if quick { &[10.0] } else { &[0.5, 2.0, 10.0, 50.0] };
    let find = |(&gamma, &lay): (&f64, &Lay)| {
        // A clamp gives by a fifth of a triangle, so these are half as large.
        let finer = if way.model == ClothModel::Triangles { 2 } else { 1 };
        let found = heavy(way, gamma, finer * if quick { 20 } else { 40 }, lay)?;
        Ok(Finding::near(named(format!("γ = {gamma}"), way, lay), "", steepness(gamma), found, 0.03)
            .at(gamma))
    };
    gammas.iter().flat_map(|gamma| lays(way).iter().map(move |lay| (gamma, lay))).map(find).collect()
}

fn bending_length(way: Way, quick: bool) -> Result<Vec<Finding>, BenchError> {
    let names: &[&str] = if quick { &["cotton"] } else { &["cotton", "denim", "polyester", "silk", "wool"] };
    let mut findings = Vec::new();
    for name in names {
        let Some(fabric) = preset(name).map(|preset| preset.fabric) else { continue };
        let weight = 1e-3 * fabric.density * GRAVITY;
        let want = libm::cbrt(1e-6 * fabric.bending_warp / weight);
        // A strip at rest does not know of dampers, and an explicit method pays dearly for them.
        let change = FabricChange {
            base: Some((*name).into()),
            bending_damping: Some(0.0),
            ..FabricChange::default()
        };
        for lay in lays(way) {
            let cells = if quick { 15 } else { 25 };
            let (drop, reach) = cantilever(way, change.clone(), 2.0 * want, cells, *lay)?;
            let angle = libm::atan2(drop, reach);
            let found = 2.0 * want * libm::cbrt(libm::cos(0.5 * angle) / (8.0 * libm::tan(angle)));
            let case = named(format!("{name}, warp"), way, *lay);
            findings.push(Finding::near(case, "mm", 1e3 * want, 1e3 * found, 0.03));
        }
    }
    Ok(findings)
}

fn refinement(way: Way, quick: bool) -> Result<Vec<Finding>, BenchError> {
    let want = steepness(10.0);
    let cells: &[u32] = if quick { &[10, 20] } else { &[10, 20, 40] };
    let errors = cells.iter().map(|cells| Ok((heavy(way, 10.0, *cells, Lay::Grid)? / want - 1.0).abs()));
    let errors: Vec<f64> = errors.collect::<Result<_, BenchError>>()?;
    let pairs = errors.windows(2).zip(cells.windows(2));
    let finding = |(e, n): (&[f64], &[u32])| {
        Finding::between(format!("{} to {} cells", n[0], n[1]), "", [0.0, 1.0], e[1] / e[0], 0.0)
    };
    Ok(pairs.map(finding).collect())
}
