//! Garments into the model: a piece of cloth for every panel and links for every seam, or one piece that is sewn already.

use super::baste::{STITCH, baste};
use super::belt::{belted, lay};
use super::clear::clear;
use super::hems::{Counts, double};
use super::try_on::try_on;
use super::under::dressed;
use super::weld::add_welded;
use super::{Member, Tailored, tailor};
use crate::Fault;
use crate::build::folds::press;
use crate::build::{add_cloth, add_pin, add_start, empty_model};
use crate::scene::{Cloth, Fabric, Garment, Scene};
use taffeta::check::Surface;
use taffeta::math::random::Random;
use taffeta::math::{DVec2, DVec3, trig};
use taffeta::model::stitches::Stitch;
use taffeta::model::{Model, State};

/// How far cloth that is taken in stays pressed together [1]: it may yet fold. What is let out fits: were it any tighter, contact and lengths would push against one
/// another for ever.
const LOOSE: f64 = 0.01;

/// Adds a garment; `key` is its place in the scene.
pub fn add_garment(
    model: &mut Model,
    state: &mut State,
    scene: &Scene,
    garment: &Garment,
    key: &str,
) -> Result<(), Vec<Fault>> {
    add_numbered(model, state, scene, garment, key).map(|_| ())
}

/// The same; returns its panels, and the number of every particle in the model, panel after panel.
pub fn add_numbered(
    model: &mut Model,
    state: &mut State,
    scene: &Scene,
    garment: &Garment,
    key: &str,
) -> Result<(Tailored, Vec<u32>), Vec<Fault>> {
    let belt = garment.belt.as_ref().map(|belt| belted(garment, belt));
    let garment = belt.as_ref().unwrap_or(garment);
    let mut tailored = tailor(garment, key)?;
    if let (Some(belt), [band]) = (&garment.belt, &mut tailored.blanks[..]) {
        lay(band, belt, model, state, key).map_err(|fault| vec![fault])?;
    }
    let worn = Surface { positions: &state.positions, triangles: &model.triangles };
    let stouter = (garment.baste && !worn.triangles.is_empty()).then(|| dressed(&model.colliders, worn));
    let bodies = stouter.as_ref().unwrap_or(&model.colliders);
    clear(&mut tailored.blanks, bodies);
    let name = if garment.name.is_empty() { key } else { &garment.name };
    let (first, first_piece) = (model.particle_count() as u32, model.cloths.len());
    let welds = garment.baste && is_of_one_fabric(scene, garment);
    let sewn = garment.baste.then(|| {
        let apart = if welds { 0.0 } else { STITCH };
        baste(garment, bodies, &mut tailored, try_on(scene, garment, key, bodies), apart)
    });
    let firsts = tailored.firsts();
    let number = match sewn.filter(|_| welds) {
        Some(groups) => {
            let mut panels = empty_model(scene);
            add_panels(&mut panels, &mut State::default(), scene, garment, &tailored, (name, key))?;
            let start = tailored.blanks.iter().flat_map(|blank| &blank.start);
            let count = groups.iter().max().map_or(0, |last| *last as usize + 1);
            let mut starts = vec![DVec3::ZERO; count];
            groups.iter().zip(start).for_each(|(g, x)| starts[*g as usize] = *x);
            add_welded(model, &panels, &groups, &starts, name);
            state.velocities.resize(state.velocities.len() + count, DVec3::ZERO);
            state.positions.extend(starts);
            groups
        }
        None => {
            add_panels(model, state, scene, garment, &tailored, (name, key))?;
            let particle = |(panel, i): Member| first + firsts[panel] + i;
            for ends in tailored.stitches.iter().map(|pair| pair.map(particle)) {
                add_link(model, state, ends, [garment.sewing_start, garment.sewing, f64::INFINITY]);
            }
            (0..tailored.particle_count()).collect()
        }
    };
    (first_piece..model.cloths.len()).for_each(|piece| let_out(model, state, piece, garment.let_out));
    let particle = |(panel, i): &Member| first + number[(firsts[*panel] + i) as usize];
    for (members, [begin, end]) in &tailored.closures {
        let ends = members.each_ref().map(particle);
        if ends[0] != ends[1] {
            add_link(model, state, ends, [*begin, garment.sewing, *end]);
        }
    }
    for (members, [rest_length, stiffness]) in &tailored.elastics {
        let Some(damping) = model.cloth_of(particle(&members[0]) as usize).map(|piece| piece.fabric.damping)
        else {
            continue;
        };
        model.springs.ends.push(members.each_ref().map(particle));
        model.springs.rest_length.push(*rest_length);
        model.springs.stiffness.push(*stiffness);
        model.springs.damping.push(1e-3 * damping * stiffness);
    }
    for (pin, members) in garment.pin.iter().zip(&tailored.pinned) {
        let mut particles: Vec<u32> = members.iter().map(particle).collect();
        particles.sort_unstable();
        particles.dedup();
        add_pin(model, state, &pin.led(), particles, &[]);
    }
    let numbers = number.iter().map(|i| first + i).collect();
    Ok((tailored, numbers))
}

/// Whether all panels are of the same fabric. One piece of cloth has one: panels of different ones are joined by stitches.
fn is_of_one_fabric(scene: &Scene, garment: &Garment) -> bool {
    let mut fabrics = garment.panel.iter().map(|panel| scene.panel_fabric(garment, panel));
    let first = fabrics.next();
    fabrics.all(|fabric| Some(fabric) == first)
}

/// Adds a piece of cloth for every panel.
fn add_panels(
    model: &mut Model,
    state: &mut State,
    scene: &Scene,
    garment: &Garment,
    tailored: &Tailored,
    (name, key): (&str, &str),
) -> Result<(), Vec<Fault>> {
    for ((p, panel), blank) in garment.panel.iter().enumerate().zip(&tailored.blanks) {
        let Some(fabric) = scene.panel_fabric(garment, panel) else { continue };
        let refuse = |problems: Vec<_>| {
            let reason = format!("panel `{}` cannot be cloth: {problems:?}", panel.name);
            vec![Fault::new(format!("{key}.panel[{p}]"), "", reason, "make `edge_length` shorter")]
        };
        let topology = blank.rest.topology().map_err(refuse)?;
        let cloth =
            Cloth { name: format!("{name}.{}", panel.name), model: garment.model, ..Cloth::default() };
        let before = Counts::of(model);
        add_cloth(model, &cloth, key, fabric, (blank, &topology), None);
        double(model, &before, panel, blank);
        let angle = panel.warp.to_radians();
        let warp = DVec2::new(trig::cos(angle), trig::sin(angle));
        let on_fabric = |p: [f64; 2]| [warp.dot(p.into()), warp.perp_dot(p.into())];
        let particles = model.particle_count() - blank.start.len()..model.particle_count();
        press(model, particles, &panel.fold, on_fabric, &format!("{key}.panel[{p}].fold"))?;
        // Panels come placed, and nothing kicks them.
        add_start(state, &cloth, blank, &mut Random::new(0));
    }
    Ok(())
}

/// Lets out a piece of cloth where it is stretched at the start, until it fits, and takes it in where it is pressed together, until it is [`LOOSE`]: by up to this
/// share of the length that it was cut to.
fn let_out(model: &mut Model, state: &State, piece: usize, most: f64) {
    let piece = &mut model.cloths[piece];
    let longer = |ends: &[u32; 2], rest: f64| {
        let [a, b] = ends.map(|i| state.positions[i as usize]);
        let length = a.distance(b);
        rest.clamp(length, length / (1.0 - LOOSE)).clamp((1.0 - most) * rest, (1.0 + most) * rest)
    };
    let edges = model.edges[piece.edges.clone()].iter().zip(&mut model.rest_lengths[piece.edges.clone()]);
    for (ends, rest) in edges {
        let cut = std::mem::replace(rest, longer(ends, *rest));
        piece.let_out = piece.let_out.max((*rest / cut - 1.0).abs());
    }
    let own = |ends: &[u32; 2]| piece.particles.contains(&(ends[0] as usize));
    let springs = model.springs.ends.iter().zip(&mut model.springs.rest_length);
    springs.filter(|(ends, _)| own(ends)).for_each(|(ends, rest)| *rest = longer(ends, *rest));
}

/// Sews two particles together from `begin` on, within `duration`, until `end` [s].
///
/// A stitch is as long as the fabrics are thick, which is what contact keeps between them, and as stiff as a square cell of them.
pub fn add_link(model: &mut Model, state: &State, ends: [u32; 2], [begin, duration, end]: [f64; 3]) {
    let mean = |of: fn(&Fabric) -> f64| {
        let fabrics = ends.iter().filter_map(|i| model.cloth_of(*i as usize)).map(|c| of(&c.fabric));
        0.5 * fabrics.sum::<f64>()
    };
    let stitch = Stitch {
        length: 1e-3 * mean(|fabric| fabric.thickness),
        begin,
        duration,
        end,
        stiffness: mean(|fabric| 0.5 * (fabric.warp + fabric.weft)),
    };
    model.links.push(ends, &state.positions, stitch);
}
