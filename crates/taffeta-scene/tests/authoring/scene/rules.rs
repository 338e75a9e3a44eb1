//! The schema holds nothing that its check would pass over, and each rule is found broken where it is.

use serde_json::{Value, json};
use taffeta_scene::rules::{MOST_FAULTS, ValueKind, edits, nearest, range, short};
use taffeta_scene::{Fault, Rule, Scene, faults_of_value, schema};

/// Keywords the check acts on, and those that only tell.
const UNDERSTOOD: &[&str] = &[
    "type",
    "format",
    "properties",
    "additionalProperties",
    "required",
    "items",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "oneOf",
    "const",
    "anyOf",
    "pattern",
    "$ref",
    "$defs",
    "default",
    "description",
    "title",
    "$schema",
];

fn refuse_what_is_not_understood(schema: &Value, path: &str) {
    let Some(node) = schema.as_object() else { panic!("{path}: a schema that is not a table: {schema}") };
    for (keyword, value) in node {
        assert!(
            UNDERSTOOD.contains(&keyword.as_str()),
            "{path}: the check of scenes does not know `{keyword}`"
        );
        let here = format!("{path}/{keyword}");
        match keyword.as_str() {
            "properties" | "$defs" => {
                for (name, inner) in value.as_object().unwrap() {
                    refuse_what_is_not_understood(inner, &format!("{here}/{name}"));
                }
            }
            "items" => refuse_what_is_not_understood(value, &here),
            "additionalProperties" if value.is_boolean() => assert_eq!(*value, false, "{here}"),
            "additionalProperties" => refuse_what_is_not_understood(value, &here),
            "anyOf" => {
                let either = value.as_array().unwrap();
                assert!(either.len() == 2 && either[1] == json!({ "type": "null" }), "{here}");
                refuse_what_is_not_understood(&either[0], &here);
            }
            "oneOf" => {
                assert!(value.as_array().unwrap().iter().all(|word| word["const"].is_string()), "{here}")
            }
            "type" => {
                let names = ["object", "array", "string", "number", "integer", "boolean"];
                let name = value.as_str().or_else(|| {
                    let both = value.as_array()?;
                    (both.len() == 2 && both[1] == "null").then(|| both[0].as_str())?
                });
                assert!(name.is_some_and(|name| names.contains(&name)), "{here}: {value}");
            }
            "format" => assert!(["double", "uint32", "uint64"].contains(&value.as_str().unwrap()), "{here}"),
            "pattern" => assert_eq!(value, "^#[0-9a-fA-F]{6}$", "{here}"),
            _ => {}
        }
    }
    // A key of no known kind would pass as a list of words that is empty.
    if ["type", "oneOf", "anyOf", "$ref"].iter().all(|keyword| !node.contains_key(*keyword)) {
        panic!("{path}: a schema that asks for nothing");
    }
}

#[test]
fn the_check_understands_the_whole_schema() {
    refuse_what_is_not_understood(schema(), "#");
}

fn sheet() -> Value {
    json!({ "cloth": [{ "sheet": { "width": 1.0, "height": 1, "columns": 5, "rows": 5 } }] })
}

fn only_fault(value: &Value) -> Fault {
    let faults = faults_of_value(value);
    assert_eq!(faults.len(), 1, "{faults:?}");
    faults[0].clone()
}

#[test]
fn a_small_scene_has_no_fault() {
    assert_eq!(faults_of_value(&sheet()), []);
}

#[test]
fn all_faults_are_listed_at_once() {
    let value = json!({
        "frames": 0, "frame_time": null, "gravity": [0.0, 1e9], "solver": { "method": "verlot" }, "clot": 1,
        "cloth": [{ "sheet": { "width": "wide", "height": 1.0, "columns": 5.0 } }],
        "fabrics": { "my silk": { "colour": "red" } }, "air": 3,
    });
    let keys: Vec<String> = faults_of_value(&value).into_iter().map(|fault| fault.key).collect();
    let expected = [
        "frames",
        "frame_time",
        "gravity",
        "gravity[1]",
        "solver.method",
        "clot",
        "cloth[0].sheet.width",
        "cloth[0].sheet.columns",
        "cloth[0].sheet.rows",
        "fabrics.\"my silk\".colour",
        "air",
    ];
    assert_eq!(keys, expected);
}

#[test]
fn a_fault_says_value_reason_and_remedy() {
    let mut value = sheet();
    value["cloth"][0]["sheet"]["columns"] = json!(1);
    let text = only_fault(&value).to_string();
    assert_eq!(text, "cloth[0].sheet.columns = 1: is too small; write a whole number from 2 to 10000");

    let mut value = sheet();
    value["cloth"][0]["shet"] = json!({});
    let fault = only_fault(&value);
    assert!(fault.remedy.starts_with("did you mean `sheet`? the keys here are `name`, `fabric`"), "{fault}");
}

#[test]
fn a_scene_needs_cloth() {
    let faults = Scene::default().faults();
    let [fault] = &faults[..] else { panic!("{faults:?}") };
    assert_eq!(fault.key, "cloth");
    assert!(Rule::TooFewItems.is_broken_in(fault));
}

#[test]
fn integers_beyond_their_width_are_refused() {
    let mut value = sheet();
    value["cloth"][0]["pin"] = json!([{ "vertices": [4_294_967_295_u64, 4_294_967_296_u64] }]);
    assert_eq!(only_fault(&value).key, "cloth[0].pin[0].vertices[1]");
}

#[test]
fn a_flood_of_faults_is_cut() {
    let mut value = sheet();
    value["cloth"][0]["pin"] = json!([{ "vertices": vec![-1; 100_000] }]);
    let faults = faults_of_value(&value);
    assert_eq!(faults.len(), MOST_FAULTS + 1);
    assert!(Rule::TooManyFaults.is_broken_in(&faults[MOST_FAULTS]));
}

#[test]
fn no_rule_is_mistaken_for_another() {
    for rule in Rule::ALL {
        let others = Rule::ALL.iter().filter(|other| *other != rule);
        assert!(others.clone().all(|other| !other.words().starts_with(rule.words())), "{rule:?}");
    }
}

#[test]
fn near_words_are_suggested() {
    let known = ["columns", "rows", "width", "steps_per_frame"];
    assert_eq!(nearest("colums", &known), Some("columns"));
    assert_eq!(nearest("Columns", &known), Some("columns"));
    assert_eq!(nearest("wdith", &known), Some("width"));
    assert_eq!(nearest("steps-per-frame", &known), Some("steps_per_frame"));
    assert_eq!(nearest("gravity", &known), None);
    assert_eq!(nearest(&"x".repeat(1_000_000), &known), None);
    assert_eq!(
        (edits("abc", "abc"), edits("", "abc"), edits("abcd", "bcd"), edits("ba", "ab")),
        (0, 3, 1, 1)
    );
}

#[test]
fn numbers_are_short() {
    let texts = [short(0.0), short(-1e5), short(1e-9), short(10_000.0), short(123_456.5), short(0.3)];
    assert_eq!(texts, ["0", "-1e5", "1e-9", "10000", "123456.5", "0.3"]);
    assert_eq!(ValueKind::Whole.limit(1e6), "1000000");
}

#[test]
fn every_number_of_the_schema_has_both_limits() {
    fn look(schema: &Value) {
        if matches!(schema["type"].as_str().or(schema["type"][0].as_str()), Some("number" | "integer")) {
            assert!(matches!(range(schema), (Some(_), Some(_))), "{schema}");
        }
        for inner in schema.as_object().into_iter().flat_map(|node| node.values()) {
            look(inner);
        }
    }
    look(schema());
}
