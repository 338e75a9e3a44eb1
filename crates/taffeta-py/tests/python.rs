//! Runs the tests of the package in Python, where there is one with what they need: `PYTHON`, else `python3`.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use testing::{long, skipped};

/// The module as cargo has built it for this test.
fn module() -> PathBuf {
    let program = env::current_exe().unwrap();
    let name = format!("{}_taffeta{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    let built = program.parent().unwrap().join(name);
    assert!(built.is_file(), "{} was not built", built.display());
    built
}

/// A folder that Python finds the package in: its sources, and the module beside them.
fn package() -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/taffeta");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("python/taffeta");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    for file in
        std::fs::read_dir(source).unwrap().map(|file| file.unwrap().path()).filter(|path| path.is_file())
    {
        std::fs::copy(&file, folder.join(file.file_name().unwrap())).unwrap();
    }
    let ending = if cfg!(windows) { "pyd" } else { "abi3.so" };
    std::fs::copy(module(), folder.join(format!("_taffeta.{ending}"))).unwrap();
    folder.parent().unwrap().into()
}

fn python() -> Command {
    Command::new(env::var_os("PYTHON").unwrap_or_else(|| "python3".into()))
}

fn has(modules: &str) -> bool {
    let asked = python()
        .args(["-c", &format!("import {modules}")])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status();
    asked.is_ok_and(|status: ExitStatus| status.success())
}

/// Runs pytest over a folder of the repository.
fn pytest(folder: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut run = python();
    run.args(["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"])
        .arg(root.join(folder))
        .current_dir(&root);
    run.env("PYTHONPATH", package()).env("PYTHONDONTWRITEBYTECODE", "1");
    run.env("TAFFETA_LONG", if long() { "1" } else { "0" });
    let status = run.status().unwrap();
    assert!(status.success(), "pytest {folder} ended with {status}");
}

/// One after the other: they share the package.
#[test]
fn the_package_passes_its_tests() {
    if !has("sys; assert sys.version_info >= (3, 10); import numpy, pytest") {
        return skipped::tell("no Python from 3.10 on with numpy and pytest; name one by PYTHON=...");
    }
    pytest("crates/taffeta-py/tests");
    if has("bpy") {
        pytest("blender/tests");
    } else {
        skipped::tell("Python has no bpy: the extension for Blender was not tested");
    }
}
