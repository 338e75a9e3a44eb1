//! Builds the page with npm where npm is found; otherwise the program gets an empty list and shows a page that says so.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    for watched in [
        "build.rs",
        "page",
        "web/src",
        "web/index.html",
        "web/public",
        "web/package.json",
        "web/package-lock.json",
        "web/vite.config.ts",
        "web/vite.widget.config.ts",
    ] {
        // A path that does not exist would make every build run this again.
        if root.join(watched).exists() {
            println!("cargo:rerun-if-changed={watched}");
        }
    }
    println!("cargo:rerun-if-env-changed=TAFFETA_NO_PAGE");
    // Released packages carry the page.
    let carried = root.join("page");
    let page = if carried.join("index.html").exists() {
        Some(carried)
    } else if env::var_os("TAFFETA_NO_PAGE").is_some() {
        None
    } else {
        built(&root.join("web"), &out.join("web")).unwrap_or_else(|reason| {
            println!("cargo:warning=the viewer will show a plain page: {reason}");
            None
        })
    };
    let mut files = Vec::new();
    if let Some(page) = &page {
        collect(page, page, &mut files)?;
    }
    let mut list = String::from("/// The files of the page.\nstatic FILES: &[File] = &[\n");
    for (path, file) in &files {
        let kind = kind(path);
        // Writing to a string cannot fail.
        let _ = writeln!(list, "File {{ path: {path:?}, kind: {kind:?}, bytes: include_bytes!({file:?}) }},");
    }
    fs::write(out.join("page.rs"), list + "];\n")
}

/// Copies the sources, installs what the lock file names, builds. The sources themselves stay as they are.
fn built(web: &Path, work: &Path) -> Result<Option<PathBuf>, String> {
    let failed = |error: io::Error| error.to_string();
    copy(web, work).map_err(failed)?;
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let quiet = ["--no-audit", "--no-fund", "--fetch-retries=1", "--fetch-timeout=60000", "--loglevel=error"];
    for arguments in [&["ci", "--omit=dev"][..], &["run", "build"]] {
        let ran = Command::new(npm).args(arguments).args(quiet).current_dir(work).output();
        let ran = ran.map_err(|error| format!("npm cannot be run ({error}); install Node.js"))?;
        if !ran.status.success() {
            let said = String::from_utf8_lossy(&ran.stderr);
            let last =
                said.lines().filter(|line| !line.trim().is_empty()).take(3).collect::<Vec<_>>().join(" | ");
            return Err(format!("npm {} failed: {last}", arguments.join(" ")));
        }
    }
    Ok(Some(work.join("dist")))
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (name, target) = (entry.file_name(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            if !["node_modules", "dist", "site", "shots", "tests"].iter().any(|left_out| name == *left_out) {
                copy(&entry.path(), &target)?;
            }
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// All files below a folder with their paths as the page asks for them, in a fixed order.
fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(root, &path, files)?;
        } else if let Ok(inside) = path.strip_prefix(root) {
            files.push((inside.to_string_lossy().replace('\\', "/"), path.clone()));
        }
    }
    Ok(())
}

fn kind(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("webp") => "image/webp",
        _ => "application/octet-stream",
    }
}
