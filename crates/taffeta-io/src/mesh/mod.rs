//! Mesh files: OBJ, PLY, STL and glTF, read from untrusted bytes; all but glTF are written too, and read back bit for bit.

mod gltf;
mod obj;
mod ply;
mod point_cache;
mod polygon;
mod stl;
mod text;
mod write;

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use taffeta_scene::Mesh;

pub use gltf::{read_gltf, read_gltf_animated};
pub use obj::read_obj;
pub use ply::read_ply;
pub use point_cache::read_pc2;
pub use stl::read_stl;
pub use write::{PlyEncoding, StlEncoding, write_obj, write_ply, write_stl};

use polygon::Faces;
use text::Text;

/// The largest file that is read, in bytes: 4 GiB, so that one file cannot fill the memory.
pub const LARGEST_FILE: u64 = 4 << 30;

/// What a mesh file holds; points keep the order and number that they have in the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MeshFile {
    /// Points and faces; faces of more than four corners come as triangles, after the triangles of the file.
    pub mesh: Mesh,
    /// What the file holds otherwise than as it was written: things skipped, joined or split, one sentence each.
    pub notes: Vec<String>,
}

/// One thing that makes a mesh file unusable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeshFault {
    /// Line of a text file, counted from 1.
    pub line: Option<usize>,
    /// Byte of a binary file, counted from 0.
    pub offset: Option<usize>,
    /// What stands there, shortened.
    pub value: String,
    /// What is wrong with it.
    pub reason: String,
    /// What to do about it.
    pub remedy: String,
}

/// The first faults of a file, up to [`MeshFaults::MOST`], and how many there are.
#[derive(Debug, Clone, Default, PartialEq, Eq, thiserror::Error)]
pub struct MeshFaults {
    /// The first faults, in the order of the file.
    pub first: Vec<MeshFault>,
    /// Number of faults found, kept or not.
    pub count: usize,
}

/// A mesh file that could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {cause}", path.display())]
pub struct MeshError {
    /// The file.
    pub path: PathBuf,
    /// What stopped the reading.
    pub cause: MeshCause,
}

/// What stops the reading of a mesh file.
#[derive(Debug, thiserror::Error)]
pub enum MeshCause {
    /// The file could not be opened or read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The content is unusable.
    #[error(transparent)]
    Faults(#[from] MeshFaults),
}

/// Reads an OBJ, PLY, STL or glTF file; the content decides where it shows its format, else the extension.
pub fn read(path: &Path) -> Result<MeshFile, MeshError> {
    read_as(path, Wanted::Surface)
}

/// Reads a glTF file with its skeleton and clips; other formats have none.
pub fn read_animated(path: &Path) -> Result<MeshFile, MeshError> {
    read_as(path, Wanted::Motion)
}

/// Reads a point cache (PC2): all points of all moments.
pub fn read_cache(path: &Path) -> Result<MeshFile, MeshError> {
    read_as(path, Wanted::Cache)
}

/// Reads an OBJ, PLY, STL or glTF file whose bytes are at hand, by the rules of [`read`]; what lies beside it is not there.
pub fn read_bytes(name: &str, bytes: &[u8]) -> Result<MeshFile, MeshFaults> {
    let named = Path::new(name).extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    let beside = |_: &str| Err(io::ErrorKind::NotFound.into());
    decode(bytes, Wanted::Surface, named.as_deref(), &beside)
}

/// What is wanted of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Surface,
    Motion,
    Cache,
}

fn read_as(path: &Path, wanted: Wanted) -> Result<MeshFile, MeshError> {
    let named = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    let beside = |name: &str| match load(&path.with_file_name(name)) {
        Ok(bytes) => Ok(bytes),
        Err(MeshCause::Io(error)) => Err(error),
        Err(MeshCause::Faults(faults)) => Err(io::Error::other(faults)),
    };
    let file = load(path).and_then(|bytes| Ok(decode(&bytes, wanted, named.as_deref(), &beside)?));
    file.map_err(|cause| MeshError { path: path.to_path_buf(), cause })
}

/// The bytes of a regular file no larger than [`LARGEST_FILE`].
fn load(path: &Path) -> Result<Vec<u8>, MeshCause> {
    let too_large = |size: u64| {
        let reason = format!("the file is larger than {LARGEST_FILE} bytes");
        MeshFaults::from(MeshFault::whole(
            size.to_string(),
            reason,
            "split the mesh or write it as binary PLY",
        ))
    };
    // Asked before opening: to open a pipe would wait for its writer.
    let about = fs::metadata(path)?;
    if !about.is_file() {
        let kind = if about.is_dir() { "a directory" } else { "a device, pipe or socket" };
        let reason = "only regular files are read";
        return Err(MeshFaults::from(MeshFault::whole(kind, reason, "name a mesh file")).into());
    }
    if about.len() > LARGEST_FILE {
        return Err(too_large(about.len()).into());
    }
    let mut bytes = Vec::new();
    // A file may grow while it is read, and some systems report size 0 for files that have content.
    File::open(path)?.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(too_large(bytes.len() as u64).into());
    }
    Ok(bytes)
}

/// Reads bytes in the format that they show, else in that of the lower-case extension `named`; `beside` reads files that they name.
fn decode(
    bytes: &[u8],
    wanted: Wanted,
    named: Option<&str>,
    beside: &dyn Fn(&str) -> io::Result<Vec<u8>>,
) -> Result<MeshFile, MeshFaults> {
    if wanted == Wanted::Cache {
        return read_pc2(bytes);
    }
    let shown = sniff(bytes);
    let mut file = match shown.or(named) {
        Some("obj") => read_obj(bytes),
        Some("ply") => read_ply(bytes),
        Some("stl") => read_stl(bytes),
        Some("gltf" | "glb") if wanted == Wanted::Motion => read_gltf_animated(bytes, beside),
        Some("gltf" | "glb") => read_gltf(bytes, beside),
        _ => {
            Text::new(bytes)?;
            let reason = "neither the name nor the content is that of an OBJ, PLY, STL or glTF file";
            let start = text::excerpt(bytes.get(..16).unwrap_or(bytes));
            Err(MeshFault::whole(start, reason, "convert the mesh to one of these formats").into())
        }
    }?;
    if let (Some(shown), Some(named)) = (shown, named)
        && shown != named
    {
        file.notes.push(format!("the name ends in .{named}, but the content is {}", shown.to_uppercase()));
    }
    Ok(file)
}

/// The format that the content shows, as its extension.
fn sniff(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(gltf::MAGIC) {
        return Some("glb");
    }
    if stl::is_whole_binary(bytes) && !bytes.starts_with(b"ply") {
        return Some("stl");
    }
    let mut text = Text::new(bytes).ok()?;
    text.seek();
    match text.word()? {
        b"ply" => Some("ply"),
        word if word.starts_with(b"{") => Some("gltf"),
        word if word.eq_ignore_ascii_case(b"solid") => Some("stl"),
        b"v" | b"vt" | b"vn" | b"f" | b"o" | b"g" | b"usemtl" | b"mtllib" => Some("obj"),
        _ => None,
    }
}

impl MeshFile {
    /// Puts a file together from faces of any number of corners; refuses one without points.
    fn assemble(mut mesh: Mesh, faces: Faces, mut notes: Vec<String>) -> Result<Self, MeshFaults> {
        let split;
        (mesh.triangles, mesh.quads, split) = faces.finish(&mesh.positions).map_err(|face| {
            let value = format!("a face of {} corners, {} of them not convex", face.corners, face.blockers);
            let reason = "the face is too intricate to be split into triangles";
            MeshFault::at(face.place, value, reason, "triangulate it in the program that made it")
        })?;
        notes.extend(split);
        Self::whole(mesh, notes)
    }

    /// The file of a mesh; refuses one without points.
    fn whole(mesh: Mesh, mut notes: Vec<String>) -> Result<Self, MeshFaults> {
        if mesh.positions.is_empty() {
            let remedy = "export the mesh again and see that it is not empty";
            return Err(MeshFault::whole("0 points", "the file holds no points", remedy).into());
        }
        if mesh.triangles.is_empty() && mesh.quads.is_empty() {
            notes.push("the file holds no faces".into());
        }
        Ok(Self { mesh, notes })
    }
}

/// Where in a file something stands.
#[derive(Clone, Copy)]
enum Place {
    /// Line of a text, counted from 1.
    Line(usize),
    /// Byte of a binary file, counted from 0.
    Byte(usize),
}

impl MeshFault {
    fn at(place: Place, value: impl Into<String>, reason: impl Into<String>, remedy: &str) -> Self {
        let fault = Self::whole(value, reason, remedy);
        match place {
            Place::Line(line) => Self { line: Some(line), ..fault },
            Place::Byte(offset) => Self { offset: Some(offset), ..fault },
        }
    }

    /// A fault of a text; the value is shortened.
    fn line(line: usize, value: &[u8], reason: impl Into<String>, remedy: &str) -> Self {
        Self::at(Place::Line(line), text::excerpt(value), reason, remedy)
    }

    /// A fault of the file as a whole.
    fn whole(value: impl Into<String>, reason: impl Into<String>, remedy: &str) -> Self {
        Self { line: None, offset: None, value: value.into(), reason: reason.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for MeshFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if let Some(offset) = self.offset {
            write!(f, "byte {offset}: ")?;
        }
        write!(f, "{} (`{}`); {}", self.reason, self.value, self.remedy)
    }
}

impl MeshFaults {
    /// How many faults of one file are kept.
    pub const MOST: usize = 20;

    fn push(&mut self, fault: MeshFault) {
        self.count += 1;
        if self.first.len() < Self::MOST {
            self.first.push(fault);
        }
    }

    /// Adds faults that were found later but may stand before; the first by line are kept.
    fn merge(&mut self, late: Self) {
        self.count += late.count;
        self.first.extend(late.first);
        self.first.sort_by_key(|fault| fault.line);
        self.first.truncate(Self::MOST);
    }
}

impl From<MeshFault> for MeshFaults {
    fn from(fault: MeshFault) -> Self {
        Self { first: vec![fault], count: 1 }
    }
}

impl fmt::Display for MeshFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, fault) in self.first.iter().enumerate() {
            write!(f, "{}{fault}", if i == 0 { "" } else { "\n" })?;
        }
        match self.count.saturating_sub(self.first.len()) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more faults"),
        }
    }
}
