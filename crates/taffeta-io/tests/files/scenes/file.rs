//! Scene files are read, overridden, written and documented.

use std::fs;
use std::path::Path;
use taffeta_io::catalogue;
use taffeta_io::scene_file::{SceneFaults, SceneSource, from_text, load, reference_markdown, to_toml};
use taffeta_scene::{Cloth, Keyframe, Pin, Scene, Side};

const SMALL: &str = "\
# A comment.
frames = 7

[[cloth]]
name = \"veil\"
[cloth.sheet]
width = 1
height = 2.5
columns = 5
rows = 6
";

fn read(text: &str, sets: &[&str]) -> Result<Scene, SceneFaults> {
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    from_text("small.toml", text, &sets)
}

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn every_file_of_the_catalogue_is_built_in_and_sound() {
    let mut names = Vec::new();
    for entry in fs::read_dir(repository().join("scenes")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            names.push(path.file_stem().unwrap().to_str().unwrap().to_string());
        }
    }
    names.sort();
    let built_in: Vec<&str> = catalogue::scenes().iter().map(|scene| scene.name).collect();
    assert_eq!(built_in, names, "the list of `catalogue.rs` and the files of `scenes/`");

    for scene in catalogue::scenes() {
        let loaded =
            load(&SceneSource::find(scene.name).unwrap(), &[]).unwrap_or_else(|faults| panic!("{faults}"));
        assert_eq!((loaded.name.as_str(), loaded.folder, loaded.meshes.len()), (scene.name, None, 0));
        assert_eq!(loaded.scene.title, scene.title());
        assert!(!scene.title().is_empty(), "{}", scene.name);
        let particles: u64 = loaded.scene.cloth.iter().filter_map(Cloth::particle_count).sum();
        assert!(particles <= 3600 || scene.name == "drape", "{}: {particles} particles", scene.name);

        // The same file by its path is the same scene.
        let path = repository().join("scenes").join(format!("{}.toml", scene.name));
        let from_file = load(&SceneSource::find(path.to_str().unwrap()).unwrap(), &[]).unwrap();
        assert_eq!((from_file.scene, from_file.name.as_str()), (loaded.scene, scene.name));
        assert_eq!(from_file.folder.as_deref(), path.parent());
    }
}

#[test]
fn a_written_scene_reads_back_as_itself() {
    for built_in in catalogue::scenes() {
        let scene = read(built_in.text, &[]).unwrap();
        assert_eq!(read(&to_toml(&scene), &[]).unwrap(), scene, "{}", built_in.name);
    }
    // Numbers that are easily bent on the way.
    let mut scene = read(SMALL, &[]).unwrap();
    scene.frame_time = 0.1 + 0.2 - 0.25;
    scene.seed = 9_007_199_254_740_991;
    scene.gravity = [-0.0, f64::MIN_POSITIVE, 5e-324];
    scene.title = "line\nbreak \"quote\" \u{7f} é \\".into();
    scene.fabrics.insert("a strange.name".into(), Default::default());
    scene.cloth[0].fabric = "a strange.name".into();
    let shift = [1.0 / 3.0, 1e-7, -99_999.999_999_999];
    let keyframe = vec![Keyframe { time: 1e6, shift, turn: [0.0; 3], ease: Default::default() }];
    scene.cloth[0].pin = vec![Pin { sides: vec![Side::Rim], keyframe, ..Pin::default() }];
    let back = read(&to_toml(&scene), &[]).unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!(back, scene);
    assert!(back.gravity[0].is_sign_negative());
}

#[test]
fn a_written_scene_has_all_defaults() {
    let text = to_toml(&read(SMALL, &[]).unwrap());
    for line in
        ["frames = 7", "seed = 1", "steps_per_frame = 1", "skin_friction = 0.01", "slack = 1.0", "pin = []"]
    {
        assert!(text.lines().any(|written| written == line), "no `{line}` in\n{text}");
    }
}

#[test]
fn line_endings_and_byte_order_marks_do_not_matter() {
    let scene = read(SMALL, &[]).unwrap();
    assert_eq!(read(&SMALL.replace('\n', "\r\n"), &[]).unwrap(), scene);
    assert_eq!(read(&format!("\u{feff}{SMALL}"), &[]).unwrap(), scene);
    let faults = read(&format!("\u{feff}{}", SMALL.replace("rows = 6", "rows = 1")), &[]).unwrap_err();
    assert_eq!(faults.faults[0].span.clone().map(|span| &faults.text[span]), Some("1"));
}

#[test]
fn overrides_reach_every_place() {
    let sets = [
        "solver.tolerance=0.001",
        "cloth[0].sheet.columns = 50",
        "cloth.0.sheet.rows=40",
        "cloth.0.fabric=fine",
        "fabrics.fine={ base = \"cotton\" }",
        "fabrics.fine.density=20",
        "fabrics.\"1\".warp=500",
        "gravity=[0, -1.62, 0]",
        "gravity.0=0.5",
        "cloth[0].pin[0].corners=[\"upper-left\"]",
        "cloth[0].pin[1].vertices[0]=3",
        "cloth.1.disc={ radius = 1, rings = 3 }",
        "title=A new title, no quotes",
        "frames=9",
        "frames=8",
    ];
    let scene = read(SMALL, &sets).unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!(scene.solver.tolerance, 0.001);
    let sheet = scene.cloth[0].sheet.as_ref().unwrap();
    assert_eq!((sheet.columns, sheet.rows, sheet.width), (50, 40, 1.0));
    assert_eq!((scene.fabrics["fine"].density, scene.fabrics["1"].warp), (Some(20.0), Some(500.0)));
    assert_eq!(scene.gravity, [0.5, -1.62, 0.0]);
    assert_eq!((scene.cloth[0].pin.len(), &scene.cloth[0].pin[1].vertices[..]), (2, &[3][..]));
    assert_eq!(scene.cloth[1].disc.as_ref().map(|disc| disc.rings), Some(3));
    assert_eq!((scene.title.as_str(), scene.frames), ("A new title, no quotes", 8));
}

#[test]
fn an_override_mends_what_the_file_has_wrong() {
    for wrong in ["frames = 0", "frames = nan", "frames = 1979-05-27", "frames = 99999999999999999999"] {
        let text = SMALL.replace("frames = 7", wrong);
        assert!(read(&text, &[]).is_err(), "{wrong}");
        assert_eq!(read(&text, &["frames=3"]).unwrap_or_else(|faults| panic!("{faults}")).frames, 3);
    }
}

#[test]
fn faults_of_file_and_command_line_come_together_in_order() {
    let text = SMALL.replace("rows = 6", "rows = 1\nrow = 2").replace("frames = 7", "frames = -7");
    let faults = read(&text, &["solver.tolerance=-1", "nonsense", "cloth[7].name=x"]).unwrap_err();
    let told = faults.to_string();
    let expected = "\
error: frames = -7 is too small
 --> small.toml:2:10
  |
2 | frames = -7
  |          ^^
  = write a whole number from 1 to 1000000
error: cloth[0].sheet.rows = 1 is too small
  --> small.toml:10:8
   |
10 | rows = 1
   |        ^
  = write a whole number from 2 to 10000
error: cloth[0].sheet.row = 2 is not a key here
  --> small.toml:11:1
   |
11 | row = 2
   | ^^^
  = did you mean `rows`? the keys here are `width`, `height`, `columns`, `rows`, `slack`
error: solver.tolerance = -1 is too small
 --> --set solver.tolerance=-1
  = write a number from 1e-9 to 10
error: nonsense is not of the form key=value
 --> --set nonsense
  = write it like `solver.tolerance=0.001` or `cloth[0].fabric=silk`
error: cloth[7] is beyond the end of the list
 --> --set cloth[7].name=x
  = the list has 1 items; cloth[1] would add one
";
    assert_eq!(told, expected, "\n{told}");
}

#[test]
fn all_mistakes_in_the_syntax_are_told() {
    let faults = read("frames = 1 2\ntitle = unquoted\n[solver\nseed = 3\nseed = 4\n", &[]).unwrap_err();
    let lines: Vec<usize> = faults
        .faults
        .iter()
        .map(|located| 1 + faults.text[..located.span.clone().unwrap().start].matches('\n').count())
        .collect();
    for line in [1, 2, 3] {
        assert!(lines.contains(&line), "{faults}");
    }
}

#[test]
fn meshes_come_from_the_folder_of_the_scene() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dress.toml");
    fs::write(&path, "[[cloth]]\nmesh = { file = \"dress.obj\" }\n").unwrap();
    let source = SceneSource::find(path.to_str().unwrap()).unwrap();
    // No such file is there, and the text says so at the file's name.
    let faults = load(&source, &[]).unwrap_err();
    let [only] = &faults.faults[..] else { panic!("{faults}") };
    assert_eq!(only.span.clone().map(|span| &faults.text[span]), Some("\"dress.obj\""));
}

#[test]
fn the_reference_is_up_to_date() {
    let path = repository().join("docs/scene.md");
    let committed = fs::read_to_string(&path).unwrap_or_default();
    let generated = reference_markdown();
    assert!(
        committed == generated,
        "docs/scene.md differs from the schema; run `cargo run -- schema --markdown > docs/scene.md`"
    );
}

#[test]
fn the_reference_names_every_key() {
    let text = reference_markdown();
    let schema = taffeta_scene::schema();
    let tables = schema["$defs"].as_object().unwrap().values().chain([schema]);
    for keys in tables.filter_map(|table| table["properties"].as_object()) {
        for name in keys.keys() {
            assert!(text.contains(&format!("| `{name}` |")), "{name}");
        }
    }
}

#[test]
fn the_scenes_of_the_reference_load() {
    let text = reference_markdown();
    let blocks: Vec<&str> =
        text.split("```toml\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    assert!(blocks.len() >= 2);
    for block in blocks {
        read(block, &[]).unwrap_or_else(|faults| panic!("{faults}"));
    }
}

#[test]
fn contradictions_are_told_beside_faults_of_other_keys() {
    let text = r#"
frames = 0
[[cloth]]
fabric = "coton"
sheet = { width = 1.0, height = -1.0, columns = 10 }
[[collider]]
sphere = { radius = 0.3 }
box = { size = [1, 1, 1] }
gravity = [nan, 0, 0]
"#;
    let keys: Vec<String> = from_text("bad.toml", text, &[])
        .unwrap_err()
        .faults
        .into_iter()
        .map(|located| located.fault.key)
        .collect();
    // Not told: that the cloth has no shape. It has one, which is at fault itself.
    let wanted = [
        "frames",
        "cloth[0].fabric",
        "cloth[0].sheet.rows",
        "cloth[0].sheet.height",
        "collider[0].box",
        "collider[0].gravity",
    ];
    assert_eq!(keys, wanted);
}

#[test]
fn lines_of_a_mesh_are_sewn_where_the_scene_asks_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let square = |x: f64| format!("v {x} 0 0\nv {} 0 0\nv {} 0 1\nv {x} 0 1\n", x + 1.0, x + 1.0);
    let faces = "f 4 3 2 1\nf 8 7 6 5\n";
    let text = format!("{}{}{faces}l 2 5\nl 3 8\n", square(0.0), square(1.2));
    fs::write(at("two.obj"), text).unwrap();
    let scene = "gravity = [0, 0, 0]\n[[cloth]]\nsewing = 0.5\nmesh = { file = \"two.obj\" }\n";
    fs::write(at("two.toml"), scene).unwrap();
    let links = |sets: &[String]| {
        let source = SceneSource::find(at("two.toml").to_str().unwrap()).unwrap();
        let loaded = load(&source, sets).unwrap_or_else(|faults| panic!("{faults}"));
        taffeta_scene::simulation(&loaded.scene, &loaded.meshes).unwrap()
    };
    let mut sewn = links(&[]);
    assert_eq!(sewn.model().links.ends, [[1, 4], [2, 7]]);
    (0..30).for_each(|_| assert!(sewn.step().is_ok()));
    let open = taffeta::check::seam_opening(sewn.model(), sewn.state()).unwrap();
    assert!(open < 5e-3, "{open}");
    let left: String = "cloth[0]={ mesh = { file = \"two.obj\" } }".into();
    assert_eq!(links(&[left]).model().links.ends.len(), 0, "no more than lines");
}

#[test]
fn patterns_are_read_from_files_and_become_part_of_the_scene() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let panel = "[[panel]]\nname = \"p\"\nstart = [0, 0]\n\
                 edge = [{ name = \"a\", to = [1, 0] }, { to = [0, 1] }, { name = \"b\", to = [0, 0] }]\n\
                 [[seam]]\njoin = [\"p.a\", \"p.b\"]\n";
    fs::write(at("wedge.toml"), panel).unwrap();
    fs::write(at("scene.toml"), "[[garment]]\npattern = \"wedge.toml\"\nedge_length = 0.2\n").unwrap();
    let source = SceneSource::find(at("scene.toml").to_str().unwrap()).unwrap();
    let loaded = load(&source, &[]).unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!((loaded.scene.garment[0].panel.len(), loaded.scene.garment[0].seam.len()), (1, 1));
    let again =
        from_text("recorded", &to_toml(&loaded.scene), &[]).unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!(again, loaded.scene, "a recording needs no other file");
    assert!(taffeta_scene::simulation(&again, &Default::default()).is_ok());
}
