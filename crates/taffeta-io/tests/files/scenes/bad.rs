//! Every fault that a scene file can have is found, named and underlined: one file of `scenes/bad` for each.
//!
//! A file begins with comments: `# expect:` the start of the reason, `# at:` the key, `# marks:` the text underlined (left
//! out where the command line is to blame), and any number of overrides `# set:`.

use std::fs;
use std::path::{Path, PathBuf};
use taffeta_io::scene_file::{LocatedFault, ReadRule, SceneFaults, SceneSource, from_text, load};
use taffeta_scene::Rule;

fn bad_scenes() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/bad");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// The values of `# name: value` lines.
fn notes(text: &str, name: &str) -> Vec<String> {
    let start = format!("# {name}:");
    text.lines().filter_map(|line| Some(line.strip_prefix(&start)?.trim().to_string())).collect()
}

fn refused(path: &Path) -> (String, SceneFaults) {
    let text = fs::read_to_string(path).unwrap();
    let source = SceneSource::find(path.to_str().unwrap()).unwrap();
    let faults = load(&source, &notes(&text, "set")).expect_err(&path.display().to_string());
    (text, faults)
}

/// The fault that the file is there for: the only one, or the last of a flood of them.
fn fault_shown(faults: &SceneFaults) -> &LocatedFault {
    let flood = faults.faults.len() > 200;
    assert!(flood || faults.faults.len() == 1, "one fault and no other:\n{faults}");
    faults.faults.last().unwrap()
}

#[test]
fn each_bad_scene_is_refused_for_its_reason_at_its_place() {
    for path in bad_scenes() {
        let (text, faults) = refused(&path);
        let shown = fault_shown(&faults);
        let context = format!("{}:\n{faults}", path.display());
        assert!(shown.fault.reason.starts_with(&notes(&text, "expect")[0]), "{context}");
        assert_eq!(shown.fault.key, notes(&text, "at")[0], "{context}");
        assert!(!shown.fault.remedy.is_empty(), "{context}");
        match notes(&text, "marks").first() {
            Some(marked) => {
                let span = shown.span.clone().expect(&context);
                assert_eq!(&faults.text[span], marked, "{context}");
                assert_eq!(shown.from_command_line, None, "{context}");
            }
            None => {
                assert_eq!(shown.span, None, "{context}");
                assert_eq!(shown.from_command_line.as_ref(), notes(&text, "set").last(), "{context}");
            }
        }
    }
}

#[test]
fn every_rule_has_a_bad_scene() {
    let shown: Vec<LocatedFault> =
        bad_scenes().iter().map(|path| fault_shown(&refused(path).1).clone()).collect();
    for rule in Rule::ALL {
        assert!(
            shown.iter().any(|located| rule.is_broken_in(&located.fault)),
            "no bad scene breaks {rule:?}"
        );
    }
    // These are not faults of a text; they are tried below.
    let of_the_file =
        [ReadRule::NoFile, ReadRule::NotPlain, ReadRule::TooLong, ReadRule::NotUtf8, ReadRule::NoSuchScene];
    for rule in ReadRule::ALL.iter().filter(|rule| !of_the_file.contains(rule)) {
        assert!(
            shown.iter().any(|located| rule.is_broken_in(&located.fault)),
            "no bad scene breaks {rule:?}"
        );
    }
}

#[track_caller]
fn assert_unread(name: &str, rule: ReadRule, detail: &str) {
    let refusal = SceneSource::find(name).and_then(|source| load(&source, &[]));
    let faults = refusal.expect_err("a refusal");
    let [only] = &faults.faults[..] else { panic!("{faults}") };
    assert!(rule.is_broken_in(&only.fault) && only.fault.to_string().contains(detail), "{faults}");
    assert_eq!(only.span, None);
    assert!(faults.to_string().contains(name), "{faults}");
}

#[test]
fn what_is_no_text_file_is_refused_and_nothing_hangs() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();

    assert_unread(&at("none.toml"), ReadRule::NoFile, "check the path");
    assert_unread(&at(""), ReadRule::NotPlain, "a folder");
    assert_unread("drap", ReadRule::NoSuchScene, "did you mean `drape`?");
    assert_unread("", ReadRule::NoSuchScene, "the built-in scenes are");

    fs::write(at("latin.toml"), b"frames = 3\ntitle = \"caf\xe9\"\n").unwrap();
    assert_unread(&at("latin.toml"), ReadRule::NotUtf8, "byte 23, line 2");

    // A sparse file: what it claims to hold must not be taken into memory.
    fs::File::create(at("huge.toml")).unwrap().set_len(1 << 36).unwrap();
    assert_unread(&at("huge.toml"), ReadRule::TooLong, "16 MiB");
    fs::write(at("long.toml"), vec![b'\n'; (16 << 20) + 1]).unwrap();
    assert_unread(&at("long.toml"), ReadRule::TooLong, "16 MiB");

    #[cfg(unix)]
    {
        assert_unread("/dev/zero", ReadRule::NotPlain, "a device");
        let pipe = at("pipe.toml");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_unread(&pipe, ReadRule::NotPlain, "a pipe");
    }
}

#[test]
fn long_garbage_is_refused_with_a_short_list() {
    for piece in ["=\n", "[", "a=[", "a.", "\"", "\u{0}", "[[cloth]]\n", "[[cloth.pin]]\n", "x=[1,2]\n", "}"]
    {
        let text = piece.repeat((1 << 20) / piece.len());
        let faults = from_text("garbage", &text, &[]).expect_err(piece);
        assert!((1..=201).contains(&faults.faults.len()), "{piece:?}: {}", faults.faults.len());
    }
}
