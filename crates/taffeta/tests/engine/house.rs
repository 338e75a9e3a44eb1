//! Rules of the house that a program can check: who may use whom, and that documents name only what exists.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files_under(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
        if entry.is_dir() && !entry.ends_with("node_modules") {
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
    ("parallel", &[]),
    ("model", &["math"]),
    ("forces", &["math", "model", "parallel"]),
    ("collide", &["math", "model", "parallel"]),
    ("check", &["math", "model", "parallel"]),
    ("solve", &["math", "model", "parallel"]),
    ("step", &["math", "model", "parallel", "forces", "collide", "solve", "check"]),
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
        // The library is not compiled for tests: one that stood here would never run.
        assert!(!text.contains("#[test]"), "{} has a test: put it into tests/engine", file.display());
        for used in text.split("crate::").skip(1) {
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
fn no_two_types_of_the_engine_share_a_name() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files_under(&source, "rs") {
        let inside = file.strip_prefix(&source).unwrap().display().to_string();
        // What a user asks for and what is made of it may have the same name.
        if inside.starts_with("scene") {
            continue;
        }
        for line in fs::read_to_string(&file).unwrap().lines() {
            let declared = ["struct ", "enum ", "trait "].iter().find_map(|kind| {
                let public = line.strip_prefix("pub ").unwrap_or(line);
                let inner = public
                    .strip_prefix("pub(")
                    .and_then(|rest| rest.split_once(") "))
                    .map_or(public, |(_, rest)| rest);
                inner.strip_prefix(kind)
            });
            if let Some(rest) = declared {
                let name: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
                places.entry(name).or_default().push(inside.clone());
            }
        }
    }
    assert!(places.len() > 100, "the check reads the sources");
    let twice: Vec<_> = places.iter().filter(|(_, places)| places.len() > 1).collect();
    assert!(twice.is_empty(), "names that are declared more than once: {twice:#?}");
}

/// Files with unsafe code and files with a line in docs/unsafe.md, under the folder that its section names.
#[test]
fn every_file_with_unsafe_code_has_a_line_in_its_document() {
    let (root, mut told, mut folder) = (root(), BTreeSet::new(), PathBuf::new());
    for line in fs::read_to_string(root.join("docs/unsafe.md")).unwrap().lines() {
        if let Some(name) = line.strip_prefix("## In `") {
            folder = root.join(name.trim_end_matches('`'));
        } else if let Some(row) = line.strip_prefix("| `") {
            told.insert(folder.join(row.split('`').next().unwrap()));
        }
    }
    let is_unsafe = |file: &PathBuf| {
        let text = fs::read_to_string(file).unwrap();
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let mut words = code.flat_map(|line| line.split(|c: char| c.is_whitespace() || c == '('));
        words.any(|word| word == "unsafe")
    };
    let crates = fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path().join("src"));
    let found: BTreeSet<_> = crates.flat_map(|src| files_under(&src, "rs")).filter(is_unsafe).collect();
    assert!(found.len() > 10, "the check reads the sources");
    assert_eq!(found, told, "files with unsafe code, and those that docs/unsafe.md tells of");
}

#[test]
fn source_files_start_with_their_reason() {
    for file in files_under(&root().join("crates"), "rs") {
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("//!"), "{} does not say what it is for", file.display());
    }
}

/// Names in documents that look like ours and are not, and whose they are.
const OF_OTHERS: &[(&str, &str)] = &[
    ("shirt.front", "a piece of cloth: panel `front` of a garment that an example calls shirt"),
    ("Host", "a header of HTTP, which is read in any case"),
    ("Space", "the key, which the page knows as a blank"),
];

/// Lines that may be long, by document and beginning: other tests hold them against texts of the program.
const LONG_LINES: &[(&str, &str)] = &[("docs/scene.md", ""), ("docs/fabrics.md", "- **")];
const LONGEST_LINE: usize = 140;

/// A document and the code in it: lines of blocks, and what stands in backticks.
struct Document {
    name: String,
    text: String,
    lines: Vec<String>,
    quoted: Vec<String>,
}

impl Document {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let (mut prose, mut lines, mut fenced) = (String::new(), Vec::new(), false);
        for line in text.lines() {
            match line.trim_start().starts_with("```") {
                true => fenced = !fenced,
                false if fenced || line.starts_with("    ") => lines.push(line.trim().to_string()),
                false => prose = prose + line + "\n",
            }
        }
        assert!(!fenced && prose.matches('`').count() % 2 == 0, "{} leaves code open", path.display());
        let joined = |code: &str| code.split_whitespace().collect::<Vec<_>>().join(" ");
        let quoted = prose.split('`').skip(1).step_by(2).map(joined).collect();
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        Self { name, text, lines, quoted }
    }

    /// All pieces of code.
    fn code(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().chain(&self.quoted).map(|code| code.as_str())
    }

    /// What stands in backticks and is a name: of these letters, digits and signs, up to a value.
    fn names(&self, signs: &[char]) -> impl Iterator<Item = &str> {
        let plain = move |name: &&str| {
            let fits = |c: char| c.is_ascii_alphanumeric() || signs.contains(&c);
            name.chars().all(fits) && !OF_OTHERS.iter().any(|(other, _)| other == name)
        };
        self.quoted.iter().filter_map(|code| code.split([' ', '=']).next()).filter(plain)
    }

    /// Words of every line that runs a program under one of these names, without the name and without remarks.
    fn calls(&self, programs: &[&str]) -> Vec<Vec<&str>> {
        let mut calls = Vec::new();
        for code in self.code() {
            let rest = programs.iter().find_map(|program| code.strip_prefix(program)?.strip_prefix(' '));
            calls.extend(rest.map(|rest| rest.split(" #").next().unwrap().split_whitespace().collect()));
        }
        calls
    }
}

/// Collects what documents say wrongly, and tells all of it at once.
#[derive(Default)]
struct Faults {
    asked: usize,
    told: BTreeSet<String>,
}

impl Faults {
    fn check(&mut self, right: bool, document: &Document, what: &str) {
        self.asked += 1;
        if !right {
            self.told.insert(format!("{}: {what}", document.name));
        }
    }

    fn conclude(self, fewest: usize) {
        assert!(self.asked >= fewest, "the check reads the documents");
        let told: Vec<String> = self.told.into_iter().collect();
        assert!(told.is_empty(), "documents are wrong:\n{}", told.join("\n"));
    }
}

fn documents() -> Vec<Document> {
    let mut paths = files_under(&root().join("docs"), "md");
    paths.extend(["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root().join(name)));
    paths.iter().map(|path| Document::read(path)).collect()
}

/// Words of the code of every source file, tests and the page included, without whole lines of remarks.
fn words_of_sources() -> Vec<HashSet<String>> {
    let mut sources =
        ["rs", "ts", "mjs", "py"].map(|ending| files_under(&root().join("crates"), ending)).concat();
    sources.extend(files_under(&root().join("blender"), "py"));
    let own = sources.iter().filter(|path| !path.ends_with(file!().rsplit('/').next().unwrap()));
    let words = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'))
            .chain(path.iter().filter_map(|part| part.to_str()?.split('.').next()))
            .map(str::to_string)
            .collect()
    };
    own.map(words).collect()
}

/// Whether one file has all the names of a path such as `Type::function`.
fn stands_in(sources: &[HashSet<String>], path: &str) -> bool {
    let names: Vec<&str> = path.split("::").filter(|name| !name.is_empty()).collect();
    sources.iter().any(|words| names.iter().all(|name| words.contains(*name)))
}

#[test]
fn every_path_named_in_a_document_exists() {
    let (root, mut faults) = (root(), Faults::default());
    let folders = [
        "crates/", "docs/", "scenes/", "interop/", "scripts/", "results/", "peers/", "fuzz/", "blender/",
        ".ci/",
    ];
    for document in &documents() {
        for word in document.code().flat_map(str::split_whitespace) {
            let placeholder = word.contains(['*', '<', '{', '#']) || word.ends_with("NAME");
            if folders.iter().any(|folder| word.starts_with(folder)) && !placeholder {
                faults.check(root.join(word).exists(), document, word);
            }
        }
        let folder = root.join(&document.name).parent().unwrap().to_path_buf();
        for link in document.text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            if !link.contains("://") {
                let target = if file.is_empty() { root.join(&document.name) } else { folder.join(file) };
                let right = target.exists() && (heading.is_empty() || headings(&target).contains(heading));
                faults.check(right, document, link);
            }
        }
    }
    faults.conclude(200);
}

/// Headings of a document as links name them.
fn headings(document: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(document).unwrap();
    let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
    let anchor = |line: &str| {
        let title = line.strip_prefix('#')?.trim_start_matches('#').trim().to_lowercase();
        Some(title.chars().filter(kept).collect::<String>().replace(' ', "-"))
    };
    text.lines().filter_map(anchor).collect()
}

#[test]
fn every_constant_type_and_function_named_in_a_document_exists() {
    let (sources, mut faults) = (words_of_sources(), Faults::default());
    for document in &documents() {
        for name in document.names(&['_', ':']) {
            // Two letters are a paper, P1, or a placeholder.
            let constant_or_type = name.len() > 2 && name.starts_with(char::is_uppercase);
            if constant_or_type || name.contains("::") || name.contains('_') {
                faults.check(stands_in(&sources, name), document, name);
            }
        }
    }
    faults.conclude(50);
}

/// Every key of a scene by its full path, such as `cloth.sheet.rows`: another test holds docs/scene.md against the schema.
fn scene_keys() -> Vec<String> {
    let text = fs::read_to_string(root().join("docs/scene.md")).unwrap();
    let (mut table, mut keys) = (String::new(), Vec::new());
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            let name = title.trim_matches(['`', '[', ']']);
            table = if title.starts_with('`') { format!("{name}.") } else { String::new() };
        } else if let Some(key) = line.strip_prefix("| `") {
            keys.push(table.clone() + key.split('`').next().unwrap());
        }
    }
    keys
}

/// Whether a path names a key, from the outermost table or from one within; items of lists may have their number.
fn is_key(keys: &[String], path: &str) -> bool {
    let named = path.split(['.', '[', ']']).filter(|name| !name.is_empty() && name.parse::<u32>().is_err());
    let path = named.collect::<Vec<_>>().join(".");
    keys.iter().any(|key| *key == path || key.ends_with(&format!(".{path}")))
}

#[test]
fn every_scene_key_named_in_a_document_exists() {
    let (keys, mut faults) = (scene_keys(), Faults::default());
    let files = ["json", "taffeta", "toml", "obj", "ply", "md", "rs"];
    for document in &documents() {
        let dotted = |name: &&str| {
            let (first, last) = name.split_once('.').unwrap_or_default();
            let ending = last.rsplit('.').next().unwrap();
            first.starts_with(char::is_lowercase) && !last.is_empty() && !files.contains(&ending)
        };
        let set = document.calls(TAFFETA);
        let set = set.iter().flat_map(|words| words.windows(2).filter(|pair| pair[0] == "--set"));
        let set = set.map(|pair| pair[1].split('=').next().unwrap());
        for name in document.names(&['_', '.', '[', ']']).filter(dotted).chain(set) {
            faults.check(is_key(&keys, name), document, name);
        }
    }
    faults.conclude(20);
}

/// Ways to run the program.
const TAFFETA: &[&str] = &["taffeta", "cargo run --release --", "cargo run --"];

/// Text of a module of the program, `bench` and what is below it of the bench.
fn module(name: &str) -> String {
    let path = match name.strip_prefix("bench") {
        Some(experiment) => format!("taffeta-bench/src/experiments{experiment}"),
        None => format!("taffeta-cli/src/{name}"),
    };
    let places = ["", "/mod"].map(|end| root().join("crates").join(format!("{path}{end}.rs")));
    fs::read_to_string(places.iter().find(|path| path.exists()).expect("a module")).unwrap()
}

/// Commands that a module takes, `StableStep(stable_step::Args)` as `stable-step`, and the modules that carry them out.
fn commands(text: &str) -> Vec<(String, String)> {
    let command = |line: &str| {
        let (name, rest) = line.trim().strip_suffix("),")?.split_once('(')?;
        let module = rest.split_once("::")?.0.trim_start_matches("taffeta_");
        let hyphens = |c: char| if c.is_uppercase() { format!("-{}", c.to_lowercase()) } else { c.into() };
        Some((name.chars().map(hyphens).collect::<String>().trim_matches('-').into(), module.into()))
    };
    text.lines().filter_map(command).collect()
}

/// Options that the fields of a module stand for: `#[arg(long)] no_picture: bool` is `--no-picture`.
fn options(text: &str) -> Vec<String> {
    let mut options = vec!["--help".to_string(), "--version".to_string()];
    for (attribute, field) in text.split("#[arg(").skip(1).filter_map(|rest| rest.split_once(")]")) {
        let named = |key: &str| Some(format!("--{}", attribute.split_once(key)?.1.split('"').next()?));
        let field = field.split(':').next().unwrap().split_whitespace().last().unwrap();
        let field = format!("--{}", field.trim_start_matches("r#").replace('_', "-"));
        options.extend([named("long = \""), named("alias = \"")].into_iter().flatten());
        options.extend(attribute.contains("long").then_some(field));
    }
    options
}

/// The options that a command line may have, if its command exists; and the words behind the command.
fn allowed<'a>(words: &'a [&'a str]) -> Option<(Vec<String>, &'a [&'a str])> {
    let find = |module: &str, word: &str| commands(module).into_iter().find(|(name, _)| name == word);
    let (main, bench) = (module("lib"), module("bench"));
    match words {
        ["bench", experiment, rest @ ..] => {
            let (_, name) = find(&bench, experiment)?;
            Some(([options(&bench), options(&module(&format!("bench/{name}")))].concat(), rest))
        }
        [option, ..] if option.starts_with('-') => Some((options(&main), words)),
        [command, rest @ ..] => find(&main, command).map(|(_, name)| (options(&module(&name)), rest)),
        [] => Some((Vec::new(), words)),
    }
}

#[test]
fn every_command_and_option_named_in_a_document_exists() {
    let (mut faults, mut all) = (Faults::default(), Vec::new());
    let documents = documents();
    for document in &documents {
        for words in document.calls(TAFFETA) {
            let told = words.join(" ");
            let Some((options, rest)) = allowed(&words) else {
                faults.check(false, document, &told);
                continue;
            };
            let mut given = rest.iter().filter(|word| word.starts_with("--"));
            let right = given.all(|word| options.iter().any(|option| option == word));
            faults.check(right, document, &told);
            all.extend(options);
        }
    }
    for document in &documents {
        for option in document.quoted.iter().filter(|code| code.starts_with("--")) {
            let mut given = option.split(' ').filter(|word| word.starts_with("--"));
            let right = given.all(|word| all.iter().any(|option| option == word));
            faults.check(right, document, option);
        }
    }
    faults.conclude(50);
}

#[test]
fn every_scene_and_method_given_in_a_command_exists() {
    let (scenes, mut faults) = (root().join("scenes"), Faults::default());
    let methods = fs::read_to_string(root().join("docs/scene.md")).unwrap();
    // Words such as SCENE and paths stand for something else.
    let plain = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    for document in &documents() {
        for words in document.calls(TAFFETA) {
            for pair in words.windows(2) {
                let names = pair[1].split(',').filter(plain);
                let names = names.filter(|name| !name.starts_with('-'));
                for name in names {
                    let told = format!("{} {name}", pair[0]);
                    match pair[0] {
                        "run" | "view" | "compare" | "--scene" => {
                            faults.check(scenes.join(format!("{name}.toml")).exists(), document, &told);
                        }
                        "--method" => faults.check(methods.contains(&format!("`{name}`: ")), document, &told),
                        _ => {}
                    }
                }
            }
        }
    }
    faults.conclude(10);
}

/// Whether tests are selected by a path: modules, and perhaps part of a name at its end.
fn selects(sources: &[HashSet<String>], path: &str) -> bool {
    let (modules, part) = path.rsplit_once("::").unwrap_or(("", path));
    let named = |words: &&HashSet<String>| words.iter().any(|word| word.contains(part));
    stands_in(&sources.iter().filter(named).cloned().collect::<Vec<_>>(), modules)
}

#[test]
fn every_test_and_example_named_in_a_document_exists() {
    let (sources, mut faults) = (words_of_sources(), Faults::default());
    for document in &documents() {
        for words in document.calls(&["cargo test", "cargo run", "cargo build"]) {
            let value = |option: &str| words.windows(2).find(|pair| pair[0] == option).map(|pair| pair[1]);
            let Some(package) = value("-p").map(|name| root().join("crates").join(name)) else { continue };
            let example = value("--example").map_or("".into(), |name| format!("examples/{name}.rs"));
            let test = value("--test").map_or("".into(), |name| format!("tests/{name}"));
            let filter = words.iter().skip_while(|word| **word != "--test").nth(2);
            let filter = filter.filter(|word| !word.starts_with('-'));
            let right = package.join(example).exists()
                && package.join(test).exists()
                && filter.is_none_or(|path| selects(&sources, path));
            faults.check(right, document, &words.join(" "));
        }
    }
    faults.conclude(5);
}

#[test]
fn lines_of_documents_are_not_too_long() {
    let mut faults = Faults::default();
    for document in &documents() {
        for (number, line) in document.text.lines().enumerate() {
            let long = |(name, start): &(&str, &str)| document.name == *name && line.starts_with(start);
            let may = line.starts_with('|') || LONG_LINES.iter().any(long);
            let right = may || line.chars().count() <= LONGEST_LINE;
            faults.check(right, document, &format!("line {} of at most {LONGEST_LINE}", number + 1));
        }
    }
    faults.conclude(1000);
}
