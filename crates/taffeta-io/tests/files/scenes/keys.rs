//! Every number of a scene file against every awkward value: refused at its place, or taken exactly as written.

use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::Range;
use taffeta_io::scene_file::{LocatedFault, ReadRule, SceneFaults, from_text};
use taffeta_scene::place::{Step, spelt};

/// A sound scene in which every number of the schema has a value.
const BASE: &str = r##"
title = "Every number there is"
[solver]
method = "bdf2"
device = "cpu"
substeps = 4
limit = { strain = 0.1, sweeps = 10 }
max_iterations = 40
budget = 400
[camera]
position = [3.0, 2.0, 4.0]
target = [0.0, 0.5, 0.0]
[fabrics.test]
density = 100.0
warp = 1000.0
weft = 900.0
bias = 100.0
bending_warp = 10.0
bending_weft = 9.0
bending_twist = 4.0
bending_hysteresis = 1.2
shear_hysteresis = 2.0
tensile_resilience = 60.0
thickness = 0.3
friction = 0.3
damping = 0.02
bending_damping = 1.0
[[cloth]]
fabric = "test"
sheet = { width = 1.0, height = 1.0, columns = 5, rows = 5 }
kick = { share = 0.5, speed = 0.1 }
tear = 0.2
fold = [{ from = [0.5, 0.2], to = [0.6, 0.9], angle = 60.0, stiffness = 2.0 }]
[[cloth.pin]]
sides = ["upper"]
vertices = [3, 4]
keyframe = [{ time = 1.0 }, { time = 2.0, move = [0.0, 0.1, 0.0], turn = [0.0, 5.0, 0.0] }]
[[cloth]]
strip = { length = 1.0, width = 0.1, segments = 10 }
pin = [{ sides = ["left"], on = "dummy", within = 0.5, breaks = 20.0 }]
[[cloth]]
disc = { radius = 0.5, rings = 4 }
[[cloth]]
tube = { radius = 0.5, length = 1.0, segments = 12, rows = 6 }
[[cloth]]
ball = { radius = 0.2, rings = 3 }
filling = { pressure = 100.0 }
solid = { cell = 0.1, density = 100.0, modulus = 1e4, damping = 1.0 }
[[cloth]]
lattice = { size = [0.1, 0.2, 0.3], cells = [2, 3, 4], density = 50.0, modulus = 2e4, damping = 1.0 }
[[cloth]]
mesh = { file = "some.obj", scale = 0.01, up = "z", weld = 1e-3 }
sewing = 0.5
[[garment]]
seam = [{ join = ["wedge.long", "wedge.round"], gather = true, start = 1.0, open = 2.0, buttons = 3 }]
pin = [{ edges = ["wedge.long"], keyframe = [{ time = 1.0 }, { time = 2.0 }] }]
place = [{ panel = "wedge", position = [0.0, 1.0, 0.0], rotation = [0.0, 90.0, 0.0] }]
[[garment.panel]]
name = "wedge"
warp = 45.0
start = [0.0, 0.0]
edge = [
    { name = "long", to = [1.0, 0.0] },
    { name = "round", to = [1.0, 1.0], via = [[1.2, 0.5]], elastic = { length = 0.9, force = 5.0 } },
    { to = [0.5, 0.6], through = [[0.8, 0.9]], notch = [0.5], hem = 0.01 },
    { to = [0.0, 0.0], bulge = 0.1 },
]
interfacing = { stiffness = 2.0, density = 40.0 }
fold = [{ from = [0.5, 0.0], to = [0.6, 0.6], angle = -60.0 }]
dart = [{ edge = "long", at = 0.5, width = 0.1, depth = 0.1 }]
wrap = { radius = 1.0, angle = 10.0 }
[[garment]]
belt = { length = 0.8, width = 0.04, height = 1.1, elastic = { length = 0.9, force = 5.0 } }
[[collider]]
friction = 0.2
plane = {}
keyframe = [{ time = 1.0 }, { time = 2.0 }]
[[collider]]
sphere = { radius = 0.5 }
[[collider]]
capsule = { radius = 0.2, length = 1.0 }
[[collider]]
box = { size = [1.0, 2.0, 3.0] }
[[collider]]
[collider.mesh]
file = "walk-##.obj"
sequence = { first = 0, last = 9, rate = 25.0 }
[[collider]]
mesh = { file = "dance.glb", animation = { start = 1.0, speed = 0.5, rest_until = 0.5 } }
[[collider]]
mesh = { file = "dance.obj", cache = { file = "dance.pc2", rate = 25.0, start = 1.0 } }
[[collider]]
name = "dummy"
mannequin = { height = 1.8, walk = { start = 2.0 } }
[[collider]]
mannequin = { chest = 0.9, waist = 0.7, hips = 0.95, pose = [{ time = 2.0, pose = "sit" }, { time = 3.0, pose = "stand" }] }
[[collider]]
mannequin = { dance = { tempo = 90.0 } }
[[body]]
density = 300.0
friction = 0.4
sphere = { radius = 0.5 }
[[body]]
mass = 2.0
capsule = { radius = 0.2, length = 1.0 }
[[body]]
box = { size = [1.0, 2.0, 3.0] }
[[body]]
mesh = { file = "some.obj" }
"##;

const HERE: &str = "put the value here";

fn base() -> Value {
    let scene = from_text("base", BASE, &[]).unwrap_or_else(|faults| panic!("{faults}"));
    serde_json::to_value(scene).unwrap()
}

/// The paths of all numbers in a value.
fn numbers(value: &Value, path: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) {
    let mut inner = |step: Step, value: &Value| {
        path.push(step);
        numbers(value, path, found);
        path.pop();
    };
    match value {
        Value::Object(table) => table.iter().for_each(|(name, value)| inner(Step::Key(name.clone()), value)),
        Value::Array(items) => items.iter().enumerate().for_each(|(i, value)| inner(Step::Item(i), value)),
        Value::Number(_) => found.push(path.clone()),
        _ => {}
    }
}

/// The schema that a schema stands for. This file judges by the schema alone, not by the code under test.
fn resolved<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let schema = schema.get("anyOf").map_or(schema, |either| &either[0]);
    schema["$ref"].as_str().map_or(schema, |path| root.pointer(&path[1..]).unwrap())
}

/// The kinds of numbers in the schema: paths with `[]` for any item and `*` for any name.
fn numbers_of_schema(root: &Value, schema: &Value, path: String, found: &mut BTreeSet<String>) {
    let schema = resolved(root, schema);
    let kind = schema["type"].as_str().or(schema["type"][0].as_str()).unwrap_or_default();
    match kind {
        "number" | "integer" => assert!(found.insert(path)),
        "array" => numbers_of_schema(root, &schema["items"], path + "[]", found),
        "object" if schema["additionalProperties"].is_object() => {
            numbers_of_schema(root, &schema["additionalProperties"], path + ".*", found);
        }
        "object" => {
            for (name, key) in schema["properties"].as_object().into_iter().flatten() {
                numbers_of_schema(root, key, format!("{path}.{name}"), found);
            }
        }
        _ => {}
    }
}

fn pattern(path: &[Step]) -> String {
    let mut text = String::new();
    for (depth, step) in path.iter().enumerate() {
        match step {
            Step::Item(_) => text += "[]",
            Step::Key(_) if depth == 1 && path[0] == Step::Key("fabrics".into()) => text += ".*",
            Step::Key(name) => text += &format!(".{name}"),
        }
    }
    text
}

fn schema_at<'s>(root: &'s Value, path: &[Step]) -> &'s Value {
    path.iter().fold(root, |schema, step| {
        let schema = resolved(root, schema);
        match step {
            Step::Item(_) => &schema["items"],
            Step::Key(name) => schema["properties"].get(name).unwrap_or(&schema["additionalProperties"]),
        }
    })
}

fn get<'v>(value: &'v Value, path: &[Step]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Key(name) => value.get(name),
        Step::Item(index) => value.get(index),
    })
}

fn get_mut<'v>(value: &'v mut Value, path: &[Step]) -> &'v mut Value {
    path.iter().fold(value, |value, step| match step {
        Step::Key(name) => &mut value[name],
        Step::Item(index) => &mut value[index],
    })
}

/// The base scene as text with `token` at the path, and where the token stands.
fn text_with(path: &[Step], token: &str) -> (String, Range<usize>) {
    let mut value = base();
    *get_mut(&mut value, path) = HERE.into();
    let text = toml::to_string(&value).unwrap();
    let quoted = format!("\"{HERE}\"");
    let start = text.find(&quoted).unwrap();
    (text.replacen(&quoted, token, 1), start..start + token.len())
}

fn all_numbers() -> Vec<Vec<Step>> {
    let mut paths = Vec::new();
    numbers(&base(), &mut Vec::new(), &mut paths);
    paths
}

/// Whether the schema lets the token stand there.
fn is_legal(schema: &Value, token: &str) -> bool {
    let Ok(number) = token.parse::<f64>() else { return false };
    let (least, most) =
        (schema["minimum"].as_f64().unwrap(), schema["maximum"].as_f64().unwrap_or(u32::MAX.into()));
    let whole = schema["type"] == "integer" || schema["type"][0] == "integer";
    (least..=most).contains(&number) && !(whole && token.contains(['.', 'e', 'n']))
}

fn only(faults: &SceneFaults) -> &LocatedFault {
    assert_eq!(faults.faults.len(), 1, "{faults}\n{}", faults.text);
    &faults.faults[0]
}

#[test]
fn the_base_scene_has_every_number_of_the_schema() {
    let schema = taffeta_scene::schema();
    let mut wanted = BTreeSet::new();
    numbers_of_schema(schema, schema, String::new(), &mut wanted);
    let present: BTreeSet<String> = all_numbers().iter().map(|path| pattern(path)).collect();
    assert_eq!(present, wanted);
    assert!(wanted.len() > 50, "{}", wanted.len());
}

#[test]
fn every_number_takes_or_refuses_every_value() {
    let schema = taffeta_scene::schema();
    let tokens = ["nan", "inf", "-inf", "-1", "0", "-0.0", "1e-320", "1e308", "\"text\"", "true", "[]"];
    let (mut taken, mut refused) = (0, 0);
    for path in all_numbers() {
        for token in tokens {
            let (text, span) = text_with(&path, token);
            let legal = is_legal(schema_at(schema, &path), token);
            match from_text("keys", &text, &[]) {
                Ok(scene) => {
                    assert!(legal, "{} = {token} was taken", spelt(&path));
                    let value = serde_json::to_value(&scene).unwrap();
                    let held = get(&value, &path).and_then(Value::as_f64).unwrap();
                    assert_eq!(held.to_bits(), token.parse::<f64>().unwrap().to_bits(), "{}", spelt(&path));
                    taken += 1;
                }
                // What the schema allows may still contradict another key, but then at this very place.
                // A drawing is judged as a whole.
                Err(faults) if legal && path.contains(&Step::Key("panel".into())) => {
                    let of_garment =
                        |located: &LocatedFault| located.fault.key.starts_with("garment[0].panel[0]");
                    assert!(faults.faults.iter().all(of_garment), "{faults}");
                }
                Err(faults) => {
                    let fault = only(&faults);
                    assert_eq!(fault.fault.key, spelt(&path), "{faults}");
                    assert_eq!(fault.span, Some(span), "{faults}");
                    let contradicts =
                        ["time", "open"].iter().any(|key| path.ends_with(&[Step::Key((*key).into())]));
                    assert!(!legal || contradicts, "{} = {token} was refused: {faults}", spelt(&path));
                    refused += 1;
                }
            }
        }
    }
    assert!(taken > 100 && refused > 500, "{taken} taken, {refused} refused");
}

#[test]
fn every_number_left_out_has_its_default_or_is_asked_for() {
    let schema = taffeta_scene::schema();
    for path in all_numbers() {
        let (last, above) = path.split_last().unwrap();
        let mut value = base();
        let outer = schema_at(schema, above);
        let outer = resolved(schema, outer);
        let asked_for = match (last, get_mut(&mut value, above)) {
            (Step::Key(name), Value::Object(table)) => {
                table.remove(name);
                outer["required"].as_array().is_some_and(|keys| keys.contains(&name.as_str().into()))
            }
            (Step::Item(index), Value::Array(items)) => {
                items.remove(*index);
                outer["minItems"].is_u64()
            }
            _ => unreachable!("a number stands in a table or a list"),
        };
        let text = toml::to_string(&value).unwrap();
        match (from_text("keys", &text, &[]), last) {
            (Ok(scene), Step::Key(_)) => {
                assert!(!asked_for, "{}", spelt(&path));
                let value = serde_json::to_value(&scene).unwrap();
                assert_eq!(get(&value, &path), schema_at(schema, &path).get("default"), "{}", spelt(&path));
            }
            (Ok(_), Step::Item(_)) => assert!(!asked_for, "{}", spelt(&path)),
            (Err(faults), _) => {
                let fault = only(&faults);
                assert!(asked_for, "{faults}");
                let is_key = matches!(last, Step::Key(_));
                assert_eq!(fault.fault.key, spelt(if is_key { &path } else { above }), "{faults}");
                // The head of the table that lacks the key, or the list that lacks the item.
                assert!(text[fault.span.clone().unwrap()].starts_with('['), "{faults}");
            }
        }
    }
}

#[test]
fn every_number_written_twice_is_refused() {
    for path in all_numbers() {
        let token = get(&base(), &path).unwrap().to_string();
        let (text, span) = text_with(&path, &token);
        let start = text[..span.start].rfind('\n').map_or(0, |newline| newline + 1);
        let end = span.end + text[span.end..].find('\n').unwrap() + 1;
        let doubled = format!("{}{}{}", &text[..end], &text[start..end], &text[end..]);
        let faults = from_text("keys", &doubled, &[]).unwrap_err();
        let fault = only(&faults);
        assert!(ReadRule::WrittenTwice.is_broken_in(&fault.fault), "{faults}");
        // Items stand on the line of their list.
        let keys = path.iter().rposition(|step| matches!(step, Step::Key(_))).map_or(0, |last| last + 1);
        let key = &path[..keys];
        assert_eq!(fault.fault.key, spelt(key), "{faults}");
        assert_eq!(fault.span.as_ref().map(|span| span.start), Some(end), "{faults}");
    }
}
