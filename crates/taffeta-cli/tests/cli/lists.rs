//! Lists say what there is, to people and to machines.

use crate::workplace::Workplace;
use serde_json::Value;

#[test]
fn lists_name_everything_there_is() {
    let place = Workplace::new();
    for scene in taffeta_io::catalogue::scenes() {
        assert!(place.succeed(&["scenes"]).out.contains(scene.title()));
    }
    assert!(place.succeed(&["methods"]).out.contains("verlet"));
    let fabrics = place.succeed(&["fabrics"]).out;
    assert!(fabrics.contains("µN·m") && fabrics.contains("denim") && fabrics.contains("Wang et al. 2011"));
    assert!(place.succeed(&["schema", "--markdown"]).out.contains("| `frame_time` |"));
}

#[test]
fn a_material_of_arcsim_becomes_a_fabric_of_a_scene() {
    let place = Workplace::new();
    let row = |numbers: &str, count: usize| vec![numbers; count].join(", ");
    let (stretching, bending) = (row("[80, 0, 160, 20]", 6), row("[2e-5, 2.5e-5, 3e-5]", 3));
    let text = format!(
        "{{ \"density\": 0.15, // kg/m²\n\"stretching\": [{stretching}], \"bending\": [{bending}] }}"
    );
    place.write("soft.json", &text);
    let table = place.succeed(&["fabrics", "--arcsim", "soft.json"]).out;
    for line in
        ["[fabrics.\"soft\"]", "density = 150", "warp = 80", "weft = 160", "bending_warp = 25 # 20 to 30"]
    {
        assert!(table.lines().any(|own| own == line), "{line} in {table}");
    }
    let scene = format!(
        "{table}\n[[cloth]]\nfabric = \"soft\"\nsheet = {{ width = 0.1, height = 0.1, columns = 3, rows = 3 }}\n"
    );
    place.write("soft.toml", &scene);
    place.succeed(&["run", "soft.toml", "--frames", "1", "--out", "out"]);
    place.write("none.json", "{}");
    place.taffeta(&["fabrics", "--arcsim", "none.json"]).refused(2, &["none.json", "no material of ARCSim"]);
}

#[test]
fn lists_for_machines_are_json() {
    let place = Workplace::new();
    let json = |words: &[&str]| -> Value { serde_json::from_str(&place.succeed(words).out).expect("JSON") };
    assert!(json(&["methods", "--json"]).as_array().unwrap().iter().any(|method| method["name"] == "verlet"));
    assert!(json(&["scenes", "--json"]).as_array().unwrap().iter().any(|scene| scene["name"] == "drape"));
    let fabrics = json(&["fabrics", "--json"]);
    let denim = fabrics.as_array().unwrap().iter().find(|fabric| fabric["name"] == "denim").unwrap();
    assert_eq!(denim["density_g_m2"], 324.0);
    assert_eq!(&json(&["schema"]), taffeta_scene::schema());
}
