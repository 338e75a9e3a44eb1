//! The files of the page, carried in the program; what to install where there are none.

/// A file of the page.
#[derive(Debug)]
pub struct File {
    /// Its path below the token.
    pub path: &'static str,
    /// Its media type.
    pub kind: &'static str,
    /// What it holds.
    pub bytes: &'static [u8],
}

// `FILES: &[File]`, made by the build script.
include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// Shown where the page could not be built.
const PLAIN: File =
    File { path: "index.html", kind: "text/html; charset=utf-8", bytes: include_bytes!("plain.html") };

/// Whether the program was built with the page.
pub fn is_built() -> bool {
    !FILES.is_empty()
}

/// The file at a path; nothing else is ever served.
pub fn file(path: &str) -> Option<&'static File> {
    let path = if path.is_empty() { "index.html" } else { path };
    FILES.iter().find(|file| file.path == path).or((path == PLAIN.path).then_some(&PLAIN))
}
