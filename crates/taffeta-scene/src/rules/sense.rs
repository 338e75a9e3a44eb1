//! What the schema cannot say: cloths, colliders and bodies that make no sense as they are. Fabrics, pins and motions have their own files.

use crate::Fault;
use crate::rules::fabrics::unknown_fabric;
use crate::rules::motions::{check_acts, check_motions, check_sequence, check_speed, check_times};
use crate::rules::pins::{check_pin, check_pinned_once, check_seat};
use crate::rules::{Faults, Rule, check_value, short, written};
use crate::scene::place::Place;
use crate::scene::{Body, Cloth, ClothModel, Collider, Direction, Fold, Method, Scene, Solver, Velocities};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

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
    /// [`faults_of_value`]: crate::scene::faults_of_value
    pub fn contradictions(&self) -> Vec<Fault> {
        let mut faults = Faults::default();
        self.check_sense(&mut faults);
        faults.list
    }

    fn check_sense(&self, faults: &mut Faults) {
        let (cloths, colliders, fabrics) =
            (Place::Root.key("cloth"), Place::Root.key("collider"), Place::Root.key("fabrics"));
        if let Some(device) = self.solver.device.as_deref().filter(|device| !is_device(device)) {
            let place = Place::Root.key("solver");
            let remedy = "write cpu, cuda, or cuda:N with the number of the card";
            faults.report(Rule::NoDevice, place.key("device"), written(&device.into()), "", remedy);
        }
        self.check_extensible(faults);
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
            check_collider(collider, colliders.item(index), faults);
        }
        let bodies = Place::Root.key("body");
        for (index, body) in self.body.iter().enumerate() {
            check_body(body, bodies.item(index), faults);
        }
        if !self.solver.method.takes_free_bodies() && !self.body.is_empty() {
            let remedy = "choose any other method, or a `[[collider]]` that is led";
            let detail = format!(": `{}`", self.solver.method.name());
            faults.report(Rule::NotForMethod, bodies, "[ .. ]", &detail, remedy);
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

    /// The forms of P1 and P2 as printed know no edges that stretch.
    fn check_extensible(&self, faults: &mut Faults) {
        let Solver { extensible, method, direction, velocities, .. } = &self.solver;
        let as_printed = match () {
            () if *direction == Direction::Start => "`direction = \"start\"`",
            () if *velocities == Velocities::Corrected => "`velocities = \"corrected\"`",
            () => return,
        };
        if *extensible && method.keeps_lengths() {
            let (place, detail) = (Place::Root.key("solver"), format!(": {as_printed}"));
            let remedy = format!("leave {as_printed} out, or this");
            faults.report(Rule::NotForMethod, place.key("extensible"), "true", &detail, &remedy);
        }
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
        if !method.goes_one_by_one() {
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
}

/// Whether it is the name of something that computes.
fn is_device(name: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.len() < 5 && text.chars().all(|c| c.is_ascii_digit());
    matches!(name, "cpu" | "cuda") || name.strip_prefix("cuda:").is_some_and(number)
}

/// A part of a scene as the schema sees it. What plain data holds can always be put so.
pub(super) fn value_of(part: &impl Serialize) -> Value {
    serde_json::to_value(part).unwrap_or_default()
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
    check_folds(&cloth.fold, cloth.model, cloth.lattice.is_some() || cloth.solid.is_some(), place, faults);
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

/// Folds need a line, and bends that can rest at an angle.
pub(super) fn check_folds(folds: &[Fold], model: ClothModel, solid: bool, place: Place, faults: &mut Faults) {
    let list = place.key("fold");
    let cannot = match () {
        () if solid => Some(": a soft solid"),
        () if model == ClothModel::ChoiKo => Some(": strips of `choi-ko` are straight at rest"),
        () => None,
    };
    for (index, fold) in folds.iter().enumerate() {
        if let Some(detail) = cannot {
            let remedy = "leave it out, or take `springs` or `triangles`";
            faults.report(Rule::CannotFold, list.item(index), "{ .. }", detail, remedy);
        } else if fold.from == fold.to {
            let remedy = "let it end elsewhere than it starts";
            faults.report(Rule::NoLength, list.item(index), "{ .. }", "", remedy);
        }
    }
}

fn check_collider(collider: &Collider, place: Place, faults: &mut Faults) {
    let shapes = [
        ("plane", collider.plane.is_some()),
        ("sphere", collider.sphere.is_some()),
        ("capsule", collider.capsule.is_some()),
        ("box", collider.cuboid.is_some()),
        ("mesh", collider.mesh.is_some()),
        ("mannequin", collider.mannequin.is_some()),
    ];
    check_shapes(&shapes, place, faults);
    check_times(&collider.keyframe, place, faults);
    check_speed(&collider.keyframe, place, faults);
    if let Some(mesh) = &collider.mesh {
        check_sequence(mesh, place.key("mesh"), faults);
        check_motions(mesh, place.key("mesh"), faults);
    }
    if let Some(mannequin) = &collider.mannequin {
        check_acts(mannequin, place.key("mannequin"), faults);
    }
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
