//! The fabrics that a scene names, and whether springs can be made of them.

use crate::rules::{Faults, Rule, short, suggestion, written};
use crate::scene::place::Place;
use crate::scene::{Fabric, FabricChange, Scene};
use crate::scene::{preset, presets};

impl Scene {
    pub(super) fn check_fabric(&self, name: &str, change: &FabricChange, place: Place, faults: &mut Faults) {
        if let Some(base) = change.base.as_deref().filter(|base| preset(base).is_none()) {
            unknown_fabric(Rule::UnknownBase, place.key("base"), base, [].into_iter(), faults);
        } else if let Some(fabric) = self.fabric(name) {
            check_bias(&fabric, blamed_key(change), place, faults);
        }
    }

    /// The fabric of that name: the scene's own, else the built-in one.
    pub fn fabric(&self, name: &str) -> Option<Fabric> {
        let Some(change) = self.fabrics.get(name) else { return Some(preset(name)?.fabric) };
        let base = match &change.base {
            Some(base) => preset(base)?,
            None => preset(name).or_else(|| preset("cotton"))?,
        };
        Some(change.apply(&base.fabric))
    }
}

pub(super) fn unknown_fabric<'n>(
    rule: Rule,
    place: Place,
    name: &str,
    own: impl Iterator<Item = &'n str>,
    faults: &mut Faults,
) {
    let known: Vec<&str> = own.chain(presets().iter().map(|preset| preset.name)).collect();
    faults.report(rule, place, written(&name.into()), "", suggestion(name, &known, "the fabrics are"));
}

/// Of the three keys that may make the bias too stiff, the first that the scene sets itself.
fn blamed_key(change: &FabricChange) -> &'static str {
    match change {
        change if change.bias.is_some() => "bias",
        change if change.weft.is_some() => "weft",
        _ => "warp",
    }
}

/// A bias so stiff that no springs along warp and weft would be left.
///
/// A strip at 45° has 4 / bias = 1 / warp + 1 / weft + 1 / G where the shear stiffness is G (an orthotropic sheet without
/// Poisson's effect; Jones, Mechanics of Composite Materials, ch. 2). Diagonal springs that give the shear stiffness G also
/// add G to the stiffness along warp, along weft and to their coupling, so a strip along the warp has warp =
/// a + G b / (b + G) with a and b the stiffness of the springs along warp and weft themselves, and likewise along the
/// weft. Both a and b are positive just where 1 / G > |1 / warp - 1 / weft|, that is where bias < 2 min(warp, weft); G
/// is then positive and finite too.
fn check_bias(fabric: &Fabric, blamed: &str, place: Place, faults: &mut Faults) {
    let limit = 2.0 * fabric.warp.min(fabric.weft);
    // Numbers out of range are told by the schema's check.
    if fabric.bias < limit || !(fabric.bias.is_finite() && limit > 0.0) {
        return;
    }
    let Fabric { warp, weft, bias, .. } = *fabric;
    let detail = format!(": bias {}, warp {}, weft {} N/m", short(bias), short(warp), short(weft));
    let value = match blamed {
        "warp" => warp,
        "weft" => weft,
        _ => bias,
    };
    let remedy = format!("keep bias below twice the smaller of warp and weft, here {} N/m", short(limit));
    faults.report(Rule::BiasTooStiff, place.key(blamed), short(value), &detail, remedy);
}
