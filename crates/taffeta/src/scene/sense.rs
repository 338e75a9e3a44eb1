//! What the schema cannot say: shapes, pins, names, fabrics and motions that make no sense together.

use super::place::Place;
use super::rules::{Faults, Rule, check_value, short, suggestion, written};
use super::{
    Body, Cloth, ClothModel, Collider, Fabric, FabricChange, Fault, Keyframe, MeshBody, Method, Pin, Scene,
    Sequence,
};
use super::{preset, presets};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// No body moves faster: cloth that it meets has to give way within a sub-step [m/s].
pub const FASTEST_BODY: f64 = 100.0;
/// The most files that a sequence may have.
const MOST_FILES: u32 = 10_000;
/// The most particles that a scene may have.
pub const MOST_PARTICLES: u64 = 20_000_000;

impl Scene {
    /// All that is wrong with the scene, by the schema and beyond it. Meshes from files are checked where they are read.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Faults::default();
        check_value(&value_of(self), &mut faults);
        self.check_sense(&mut faults);
        faults.list
    }

    /// What is wrong with the scene beyond the schema: the rest of the faults where [`faults_of_value`] found none.
    ///
    /// [`faults_of_value`]: super::faults_of_value
    pub fn contradictions(&self) -> Vec<Fault> {
        let mut faults = Faults::default();
        self.check_sense(&mut faults);
        faults.list
    }

    fn check_sense(&self, faults: &mut Faults) {
        let (cloths, colliders, fabrics) =
            (Place::Root.key("cloth"), Place::Root.key("collider"), Place::Root.key("fabrics"));
        for (name, change) in &self.fabrics {
            self.check_fabric(name, change, fabrics.key(name), faults);
        }
        for (index, cloth) in self.cloth.iter().enumerate() {
            if faults.is_full() {
                return;
            }
            let place = cloths.item(index);
            if self.fabric(&cloth.fabric).is_none() && !self.fabrics.contains_key(&cloth.fabric) {
                let own = self.fabrics.keys().map(String::as_str);
                unknown_fabric(Rule::UnknownFabric, place.key("fabric"), &cloth.fabric, own, faults);
            }
            check_cloth(cloth, &self.collider, place, faults);
            self.check_method(cloth, place, faults);
        }
        for (index, collider) in self.collider.iter().enumerate() {
            let place = colliders.item(index);
            check_shapes(&collider_shapes(collider), place, faults);
            check_times(&collider.keyframe, place, faults);
            check_speed(&collider.keyframe, place, faults);
            if let Some(mesh) = &collider.mesh {
                check_sequence(mesh, place.key("mesh"), faults);
                check_motions(mesh, place.key("mesh"), faults);
            }
        }
        let bodies = Place::Root.key("body");
        for (index, body) in self.body.iter().enumerate() {
            check_body(body, bodies.item(index), faults);
        }
        check_names(self.body.iter().map(|body| &body.name), bodies, faults);
        check_names(self.cloth.iter().map(|cloth| &cloth.name), cloths, faults);
        check_names(self.collider.iter().map(|collider| &collider.name), colliders, faults);
        check_particles(&self.cloth, cloths, faults);
        if self.cloth.is_empty() && self.garment.is_empty() {
            let remedy = "add a `[[cloth]]` or a `[[garment]]`";
            faults.report(Rule::TooFewItems, cloths, "", ": 0", remedy);
        }
        self.check_garments(faults);
    }

    /// Elements that the method does not know.
    fn check_method(&self, cloth: &Cloth, place: Place, faults: &mut Faults) {
        let method = self.solver.method;
        let detail = format!(": `{}`", method.name());
        let remedy = "choose `backward-euler` or `bdf2`, or leave this out";
        if method.is_implicit() {
            return;
        }
        if cloth.model != ClothModel::Springs {
            faults.report(Rule::NotForMethod, place.key("model"), value_of(&cloth.model), &detail, remedy);
        }
        if cloth.filling.is_some() {
            faults.report(Rule::NotForMethod, place.key("filling"), "{ .. }", &detail, remedy);
        }
        if cloth.lattice.is_some() && method == Method::ImpulseStrips {
            faults.report(Rule::NotForMethod, place.key("lattice"), "{ .. }", &detail, remedy);
        }
        if cloth.solid.is_some() && method == Method::ImpulseStrips {
            faults.report(Rule::NotForMethod, place.key("solid"), "{ .. }", &detail, remedy);
        }
        // Edges that are corrected one by one have pulls that tell nothing from step to step.
        if method != Method::ImpulseIterative {
            return;
        }
        let remedy = "choose any other method, or leave this out";
        if let Some(tear) = cloth.tear {
            faults.report(Rule::NotForMethod, place.key("tear"), short(tear), &detail, remedy);
        }
        for (index, pin) in cloth.pin.iter().enumerate() {
            if let Some(breaks) = pin.breaks {
                let place = place.key("pin");
                let place = place.item(index);
                faults.report(Rule::NotForMethod, place.key("breaks"), short(breaks), &detail, remedy);
            }
        }
    }

    fn check_fabric(&self, name: &str, change: &FabricChange, place: Place, faults: &mut Faults) {
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

/// A part of a scene as the schema sees it. What plain data holds can always be put so.
fn value_of(part: &impl Serialize) -> Value {
    serde_json::to_value(part).unwrap_or_default()
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

fn check_cloth(cloth: &Cloth, colliders: &[Collider], place: Place, faults: &mut Faults) {
    let shapes = [
        ("sheet", cloth.sheet.is_some()),
        ("strip", cloth.strip.is_some()),
        ("disc", cloth.disc.is_some()),
        ("tube", cloth.tube.is_some()),
        ("ball", cloth.ball.is_some()),
        ("lattice", cloth.lattice.is_some()),
        ("mesh", cloth.mesh.is_some()),
    ];
    let open = |(name, given): &(&str, bool)| *given && !["ball", "mesh"].contains(name);
    if cloth.solid.is_some() && shapes.iter().any(open) {
        let remedy = "fill a `ball` or a closed `mesh`; a `lattice` is a soft solid already";
        faults.report(Rule::NotClosed, place.key("solid"), "{ .. }", "", remedy);
    }
    // What a pin may name depends on the shape, so without just one there is no more to say.
    let Some(shape) = check_shapes(&shapes, place, faults) else { return };
    let pins = place.key("pin");
    for (index, pin) in cloth.pin.iter().enumerate() {
        let place = pins.item(index);
        check_pin(cloth, shape, pin, place, faults);
        check_times(&pin.keyframe, place, faults);
        check_seat(pin, colliders, place, faults);
    }
    check_pinned_once(cloth, pins, faults);
    let whole = match (&cloth.lattice, &cloth.solid, &cloth.filling) {
        (None, None, None) => None,
        (None, None, Some(_)) => Some("what is filled"),
        _ => Some("a soft solid"),
    };
    if let (Some(tear), Some(whole)) = (cloth.tear, whole) {
        let remedy = "leave `tear` out: only sheets do";
        faults.report(Rule::CannotTear, place.key("tear"), short(tear), &format!(": {whole}"), remedy);
    }
}

fn collider_shapes(collider: &Collider) -> [(&'static str, bool); 6] {
    [
        ("plane", collider.plane.is_some()),
        ("sphere", collider.sphere.is_some()),
        ("capsule", collider.capsule.is_some()),
        ("box", collider.cuboid.is_some()),
        ("mesh", collider.mesh.is_some()),
        ("mannequin", collider.mannequin.is_some()),
    ]
}

/// A free body has one shape and one mass.
fn check_body(body: &Body, place: Place, faults: &mut Faults) {
    let shapes = [
        ("sphere", body.sphere.is_some()),
        ("capsule", body.capsule.is_some()),
        ("box", body.cuboid.is_some()),
        ("mesh", body.mesh.is_some()),
    ];
    check_shapes(&shapes, place, faults);
    if let (Some(_), Some(mass)) = (body.density, body.mass) {
        let remedy = "keep one of `density` and `mass`";
        faults.report(Rule::MassTwice, place.key("mass"), short(mass), "", remedy);
    }
}

/// Exactly one shape must be given; that one is the answer.
fn check_shapes<'n>(shapes: &[(&'n str, bool)], place: Place, faults: &mut Faults) -> Option<&'n str> {
    let mut given = shapes.iter().filter(|(_, given)| *given).map(|(name, _)| *name);
    let Some(first) = given.next() else {
        let names: Vec<String> = shapes.iter().map(|(name, _)| format!("`{name}`")).collect();
        faults.report(Rule::NoShape, place, "", "", format!("add one of {}", names.join(", ")));
        return None;
    };
    let mut only = Some(first);
    for name in given {
        only = None;
        let remedy = format!("keep one of them; a second one needs its own `[[{}]]`", list_name(place));
        faults.report(Rule::SeveralShapes, place.key(name), "{ .. }", &format!(" beside `{first}`"), remedy);
    }
    only
}

/// The name of the list that an item stands in.
fn list_name<'a>(item: Place<'a>) -> &'a str {
    match item {
        Place::Item(Place::Key(_, name), _) => name,
        _ => "",
    }
}

fn check_pin(cloth: &Cloth, shape: &str, pin: &Pin, place: Place, faults: &mut Faults) {
    if !pin.names_any() && (pin.on.is_none() || pin.within.is_none()) {
        let remedy = "name `corners`, `sides` or `vertices`, or take the pin out";
        faults.report(Rule::PinsNothing, place, "", "", remedy);
    }
    let (corners, sides, vertices) = (place.key("corners"), place.key("sides"), place.key("vertices"));
    for (index, corner) in pin.corners.iter().enumerate().filter(|_| !cloth.has_corners()) {
        let remedy = "only a sheet and a strip have corners; name `sides` or `vertices`";
        let detail = format!(": a {shape}");
        faults.report(Rule::NoCorners, corners.item(index), value_of(corner), &detail, remedy);
    }
    for (index, side) in pin.sides.iter().enumerate().filter(|(_, side)| !cloth.has_side(**side)) {
        let remedy = match shape {
            "tube" => "a tube has `upper`, `lower` and `rim`".to_string(),
            _ => format!("a {shape} has only its `rim`"),
        };
        let detail = format!(": a {shape}");
        faults.report(Rule::NoSuchSide, sides.item(index), value_of(side), &detail, remedy);
    }
    let count = cloth.particle_count().unwrap_or(u64::MAX);
    for (index, vertex) in pin.vertices.iter().enumerate().filter(|(_, vertex)| u64::from(**vertex) >= count)
    {
        let remedy = format!("write a number from 0 to {}", count.saturating_sub(1));
        let detail = format!(" of {count}");
        faults.report(Rule::NoSuchParticle, vertices.item(index), vertex, &detail, remedy);
    }
}

/// A pin on a body names one that exists, and is led by nothing else.
pub(super) fn check_seat(pin: &Pin, colliders: &[Collider], place: Place, faults: &mut Faults) {
    match (&pin.on, pin.within) {
        (None, Some(within)) => {
            let remedy = "name the collider that they follow with `on`";
            faults.report(Rule::NearNothing, place.key("within"), short(within), "", remedy);
        }
        (Some(on), _) if !colliders.iter().any(|collider| !on.is_empty() && collider.name == *on) => {
            let names: Vec<&str> =
                colliders.iter().map(|c| c.name.as_str()).filter(|name| !name.is_empty()).collect();
            let remedy = if names.is_empty() {
                "give the collider a `name`".into()
            } else {
                suggestion(on, &names, "the names of colliders are")
            };
            faults.report(Rule::UnknownCollider, place.key("on"), written(&on.as_str().into()), "", remedy);
        }
        (Some(on), _) if !pin.keyframe.is_empty() => {
            let remedy = "leave out `on` or the keyframes";
            faults.report(Rule::LedTwice, place.key("on"), written(&on.as_str().into()), "", remedy);
        }
        _ => {}
    }
}

/// A particle cannot be moved by one pin and held or moved by another; two pins that both rest agree.
fn check_pinned_once(cloth: &Cloth, pins: Place, faults: &mut Faults) {
    let moves = |pin: usize| cloth.pin.get(pin).is_some_and(Pin::moves);
    let too_large = cloth.particle_count().is_some_and(|count| count > MOST_PARTICLES);
    if too_large || cloth.pin.len() < 2 || !(0..cloth.pin.len()).any(moves) {
        return;
    }
    let mut held: Vec<(u32, usize)> = Vec::new();
    for (index, pin) in cloth.pin.iter().enumerate() {
        // Which of them are near a body shows when the model is built.
        let named = if pin.within.is_some() { Vec::new() } else { cloth.pinned(pin) };
        held.extend(named.into_iter().map(|particle| (particle, index)));
    }
    held.sort_unstable();
    let mut told = BTreeSet::new();
    for same in held.chunk_by(|a, b| a.0 == b.0) {
        let Some(&(particle, mover)) = same.iter().find(|(_, pin)| moves(*pin)) else { continue };
        for &(_, other) in same.iter().filter(|(_, pin)| *pin != mover) {
            let (first, second) = (mover.min(other), mover.max(other));
            // Pins that share a side are one mistake, not one for each particle.
            if told.insert((first, second)) {
                let detail = format!(": particle {particle} of `pin[{first}]`");
                let remedy = "leave it to one of them, or let neither move";
                faults.report(Rule::PinnedTwice, pins.item(second), "", &detail, remedy);
            }
        }
    }
}

pub(super) fn check_times(keyframes: &[Keyframe], place: Place, faults: &mut Faults) {
    let list = place.key("keyframe");
    for (index, pair) in keyframes.windows(2).enumerate() {
        let [before, after] = pair else { continue };
        if after.time <= before.time {
            let keyframe = list.item(index + 1);
            let detail = format!(", at {} s", short(before.time));
            let remedy = "put the keyframes in order, each at its own time";
            faults.report(Rule::TimeNotLater, keyframe.key("time"), short(after.time), &detail, remedy);
        }
    }
}

/// A body that jumps would meet cloth everywhere on its way at once.
fn check_speed(keyframes: &[Keyframe], place: Place, faults: &mut Faults) {
    let list = place.key("keyframe");
    for (index, pair) in keyframes.windows(2).enumerate() {
        let [before, after] = pair else { continue };
        let [x, y, z]: [f64; 3] = std::array::from_fn(|k| after.shift[k] - before.shift[k]);
        let (far, time) = ((x * x + y * y + z * z).sqrt(), after.time - before.time);
        if time > 0.0 && far > FASTEST_BODY * time {
            let detail =
                format!(": {} m at {:.0} m/s, where {FASTEST_BODY} is the most", short(far), far / time);
            let remedy = "give it more time, or place the body where it is needed from the start";
            faults.report(Rule::TooFast, list.item(index + 1).key("move"), "", &detail, remedy);
        }
    }
}

/// A sequence needs a name with room for numbers, and numbers that go up.
fn check_sequence(mesh: &MeshBody, place: Place, faults: &mut Faults) {
    let Some(sequence) = &mesh.sequence else { return };
    if mesh.digits() == 0 {
        let remedy = "write `#` for each digit, all together: `walk-###.obj`";
        faults.report(
            Rule::NoNumberSigns,
            place.key("file"),
            written(&mesh.file.as_str().into()),
            "",
            remedy,
        );
    }
    let (place, Sequence { first, last, .. }) = (place.key("sequence"), sequence);
    if last < first {
        let detail = format!(", {first}");
        faults.report(Rule::LastBeforeFirst, place.key("last"), last, &detail, "exchange the two");
    } else if last - first >= MOST_FILES {
        let detail = format!(": {}, where {MOST_FILES} is the most", u64::from(last - first) + 1);
        faults.report(Rule::TooManyFiles, place.key("last"), last, &detail, "write fewer, and lower `rate`");
    }
}

/// A body deforms in one way.
fn check_motions(mesh: &MeshBody, place: Place, faults: &mut Faults) {
    let ways = [
        ("sequence", mesh.sequence.is_some()),
        ("animation", mesh.animation.is_some()),
        ("cache", mesh.cache.is_some()),
    ];
    let mut given = ways.iter().filter(|(_, given)| *given);
    let Some((first, _)) = given.next() else { return };
    for (name, _) in given {
        let detail = format!(" beside `{first}`");
        faults.report(Rule::SeveralMotions, place.key(name), "{ .. }", &detail, "keep one of them");
    }
}

pub(super) fn check_names<'n>(names: impl Iterator<Item = &'n String>, list: Place, faults: &mut Faults) {
    let mut taken = BTreeSet::new();
    for (index, name) in names.enumerate().filter(|(_, name)| !name.is_empty()) {
        if !taken.insert(name) {
            let item = list.item(index);
            let detail = format!(" {}", list_name(item));
            let value = written(&name.as_str().into());
            faults.report(
                Rule::NameTaken,
                item.key("name"),
                value,
                &detail,
                "give each its own name, or none",
            );
        }
    }
}

/// The first cloth with which the scene has more particles than it may is to blame.
fn check_particles(cloths: &[Cloth], list: Place, faults: &mut Faults) {
    let mut total = 0_u64;
    for (index, cloth) in cloths.iter().enumerate() {
        let own = cloth.particle_count().unwrap_or(0);
        // Cloth that tears has spare particles, half as many again.
        total = total.saturating_add(if cloth.tear.is_some() { own.saturating_add(own / 2) } else { own });
        if total > MOST_PARTICLES {
            let detail = format!(": {total} up to here, where {MOST_PARTICLES} is the most");
            return faults.report(
                Rule::TooManyParticles,
                list.item(index),
                "",
                &detail,
                "make the cloth coarser",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random::Random;

    /// Stiffness of the springs along warp and weft, in closed form, and of the shear.
    fn springs(fabric: &Fabric) -> [f64; 3] {
        let Fabric { warp, weft, bias, .. } = *fabric;
        let shear = 1.0 / (4.0 / bias - 1.0 / warp - 1.0 / weft);
        // The determinant of the sheet's stiffness follows from warp = det / (b + G) and weft = det / (a + G).
        let det = warp * weft / 2.0 * (1.0 + (1.0 + 4.0 * shear * shear / (warp * weft)).sqrt());
        [det / weft - shear, det / warp - shear, shear]
    }

    #[test]
    fn the_limit_of_bias_is_where_springs_vanish() {
        let mut random = Random::new(3);
        let mut accepted = 0;
        for _ in 0..10_000 {
            let mut stiffness = || random.between(1.0, 100.0);
            let mut fabric = preset("cotton").unwrap().fabric;
            (fabric.warp, fabric.weft, fabric.bias) = (stiffness(), stiffness(), stiffness());
            let [a, b, shear] = springs(&fabric);
            let sound = a > 0.0 && b > 0.0 && shear > 0.0 && shear.is_finite();
            let mut faults = Faults::default();
            check_bias(&fabric, "bias", Place::Root, &mut faults);
            assert_eq!(faults.list.is_empty(), sound, "{fabric:?}: {a} {b} {shear}");
            if sound {
                // These springs do pull like the strips that were measured.
                let warp = a + shear * b / (b + shear);
                let weft = b + shear * a / (a + shear);
                assert!((warp / fabric.warp - 1.0).abs() < 1e-9 && (weft / fabric.weft - 1.0).abs() < 1e-9);
                accepted += 1;
            }
        }
        assert!((1000..9000).contains(&accepted), "{accepted}");
    }

    #[test]
    fn built_in_fabrics_pass() {
        let mut faults = Faults::default();
        for preset in presets() {
            check_bias(&preset.fabric, preset.name, Place::Root, &mut faults);
        }
        assert_eq!(faults.list, []);
    }

    #[test]
    fn numbers_that_are_not_finite_are_found_in_a_built_scene() {
        let sheet = super::super::Sheet { width: f64::NAN, height: 1.0, columns: 2, rows: 2, slack: 1.0 };
        let cloth = Cloth { sheet: Some(sheet), velocity: [0.0, f64::INFINITY, 0.0], ..Cloth::default() };
        let scene = Scene { cloth: vec![cloth], ..Scene::default() };
        let keys: Vec<String> = scene.faults().into_iter().map(|fault| fault.key).collect();
        assert_eq!(keys, ["cloth[0].sheet.width", "cloth[0].velocity[1]"]);
    }
}
