//! Garments into the model: a piece of cloth for every panel, links for every seam.

use super::baste::baste;
use super::clear::clear;
use super::{Member, tailor};
use crate::Fault;
use crate::build::{add_cloth, add_pin, add_start};
use crate::scene::{Cloth, Fabric, Garment, Scene};
use taffeta::math::random::Random;
use taffeta::model::stitches::Stitch;
use taffeta::model::{Model, State};

/// How far cloth that is let out stays stretched [1]: what lies loose on hips slides down.
const SNUG: f64 = 0.01;

/// Adds a garment; `key` is its place in the scene.
pub fn add_garment(
    model: &mut Model,
    state: &mut State,
    scene: &Scene,
    garment: &Garment,
    key: &str,
) -> Result<(), Vec<Fault>> {
    let mut tailored = tailor(garment, key)?;
    clear(&mut tailored.blanks, &model.colliders);
    if garment.baste {
        baste(garment, key, &model.colliders, &mut tailored);
    }
    let name = if garment.name.is_empty() { key } else { &garment.name };
    let mut firsts = Vec::new();
    for ((p, panel), blank) in garment.panel.iter().enumerate().zip(&tailored.blanks) {
        let Some(fabric) = scene.panel_fabric(garment, panel) else { continue };
        let refuse = |problems: Vec<_>| {
            let reason = format!("panel `{}` cannot be cloth: {problems:?}", panel.name);
            vec![Fault::new(format!("{key}.panel[{p}]"), "", reason, "make `edge_length` shorter")]
        };
        let topology = blank.rest.topology().map_err(refuse)?;
        let cloth =
            Cloth { name: format!("{name}.{}", panel.name), model: garment.model, ..Cloth::default() };
        firsts.push(model.particle_count() as u32);
        add_cloth(model, &cloth, key, fabric, (blank, &topology), None);
        // Panels come placed, and nothing kicks them.
        add_start(state, &cloth, blank, &mut Random::new(0));
        let_out(model, state, garment.let_out);
    }
    let particle = |(panel, i): Member| firsts[panel] + i;
    for ends in tailored.stitches.iter().map(|pair| pair.map(particle)) {
        add_link(model, state, ends, [garment.sewing_start, garment.sewing]);
    }
    for (pin, members) in garment.pin.iter().zip(&tailored.pinned) {
        let particles: Vec<u32> = members.iter().map(|m| particle(*m)).collect();
        add_pin(model, state, &pin.led(), particles, &[]);
    }
    Ok(())
}

/// Lets out the piece of cloth that was added last where it is stretched at the start, up to this share of the length that it was cut to: until it is
/// [`SNUG`].
fn let_out(model: &mut Model, state: &State, most: f64) {
    let Some(piece) = model.cloths.last() else { return };
    let longer = |ends: &[u32; 2], rest: &mut f64| {
        let [a, b] = ends.map(|i| state.positions[i as usize]);
        *rest = (a.distance(b) / (1.0 + SNUG)).clamp(*rest, (1.0 + most) * *rest);
    };
    let edges = model.edges[piece.edges.clone()].iter().zip(&mut model.rest_lengths[piece.edges.clone()]);
    edges.for_each(|(ends, rest)| longer(ends, rest));
    let own = |ends: &[u32; 2]| piece.particles.contains(&(ends[0] as usize));
    let springs = model.springs.ends.iter().zip(&mut model.springs.rest_length);
    springs.filter(|(ends, _)| own(ends)).for_each(|(ends, rest)| longer(ends, rest));
}

/// Sews two particles together from `begin` on, within `duration` [s].
///
/// A stitch is as long as the fabrics are thick, which is what contact keeps between them, and as stiff as a square cell of them.
pub fn add_link(model: &mut Model, state: &State, ends: [u32; 2], [begin, duration]: [f64; 2]) {
    let mean = |of: fn(&Fabric) -> f64| {
        let fabrics = ends.iter().filter_map(|i| model.cloth_of(*i as usize)).map(|c| of(&c.fabric));
        0.5 * fabrics.sum::<f64>()
    };
    let stitch = Stitch {
        length: 1e-3 * mean(|fabric| fabric.thickness),
        begin,
        duration,
        stiffness: mean(|fabric| 0.5 * (fabric.warp + fabric.weft)),
    };
    model.links.push(ends, &state.positions, stitch);
}
