//! Rules of the house that a program can check: who may use whom, and that documents name files that exist.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files_under(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
        if entry.is_dir() {
            files.extend(files_under(&entry, ending));
        } else if entry.extension().is_some_and(|e| e == ending) {
            files.push(entry);
        }
    }
    files.sort();
    files
}

/// Folder (or file) of the engine and the modules that it may use besides itself. Only `step` sees all.
const MAY_USE: &[(&str, &[&str])] = &[
    ("math", &[]),
    ("parallel.rs", &[]),
    ("scene", &["math"]),
    ("model", &["math", "scene"]),
    ("forces", &["math", "model", "parallel"]),
    ("collide", &["math", "model", "parallel"]),
    ("check", &["math", "model"]),
    ("solve", &["math", "model", "parallel"]),
    ("step", &["math", "scene", "model", "parallel", "forces", "collide", "solve", "check"]),
];

#[test]
fn modules_of_the_engine_use_only_what_stands_before_them() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut seen = 0;
    for file in files_under(&source, "rs") {
        let inside = file.strip_prefix(&source).unwrap();
        let place = inside.components().next().unwrap().as_os_str().to_str().unwrap();
        if place == "lib.rs" {
            continue;
        }
        let (_, allowed) = MAY_USE.iter().find(|(name, _)| *name == place).expect("a known folder");
        let text = fs::read_to_string(&file).unwrap();
        // Tests inside a file may look further.
        let code = text.split("#[cfg(test)]").next().unwrap().split("#[cfg(all(test").next().unwrap();
        for used in code.split("crate::").skip(1) {
            let module: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let own = module == place.trim_end_matches(".rs");
            assert!(
                own || allowed.contains(&module.as_str()),
                "{} may not use crate::{module}",
                file.display()
            );
            seen += 1;
        }
    }
    assert!(seen > 20, "the check reads the sources");
}

#[test]
fn every_path_named_in_a_document_exists() {
    let root = root();
    let mut documents = files_under(&root.join("docs"), "md");
    documents.extend(["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root.join(name)));
    let mut seen = 0;
    for document in documents {
        let text = fs::read_to_string(&document).unwrap();
        let folder = document.parent().unwrap();
        for quoted in text.split('`').skip(1).step_by(2) {
            let starts = ["crates/", "docs/", "scenes/", "interop/", "scripts/", ".ci/"];
            if starts.iter().any(|s| quoted.starts_with(s)) && !quoted.contains(['*', '<', ' ', '{']) {
                assert!(root.join(quoted).exists(), "{} names `{quoted}`", document.display());
                seen += 1;
            }
        }
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap();
            if !file.is_empty() && !file.contains("://") {
                assert!(folder.join(file).exists(), "{} links to {link}", document.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 20, "the check reads the documents");
}

#[test]
fn source_files_start_with_their_reason() {
    for file in files_under(&root().join("crates"), "rs") {
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("//!"), "{} does not say what it is for", file.display());
    }
}
