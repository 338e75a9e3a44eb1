//! Files that a page brings, part by part, and what becomes of them: a scene is read, a recording shown, a mesh becomes cloth or a body.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use taffeta_io::mesh;
use taffeta_scene::Mesh;

/// The largest file [bytes].
pub const LARGEST: usize = 64 << 20;

/// A file on its way.
#[derive(Debug)]
pub struct Upload {
    page: u64,
    name: String,
    bytes: Vec<u8>,
}

impl Upload {
    /// Adds a part; the first begins the file anew, whatever was under way.
    pub fn take(
        under_way: Option<Self>,
        page: u64,
        name: &str,
        at: usize,
        part: &str,
    ) -> Result<Self, String> {
        let mut upload = match under_way {
            _ if at == 0 => Self { page, name: name.into(), bytes: Vec::new() },
            Some(upload) if upload.page == page && upload.name == name && upload.bytes.len() == at => upload,
            _ => return Err(format!("{name}: a part is missing; drop the file again")),
        };
        let part = STANDARD.decode(part).map_err(|error| format!("{name}: not base64: {error}"))?;
        if upload.bytes.len() + part.len() > LARGEST {
            return Err(format!(
                "{name}: a file dropped here has {} MiB at most; taffeta view takes larger ones",
                LARGEST >> 20
            ));
        }
        upload.bytes.extend(part);
        Ok(upload)
    }

    /// All of it.
    pub fn bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// A mesh in a scene of its own: an open surface is cloth that falls on a floor, a closed one a body on which a sheet falls.
pub fn scene_of_mesh(name: &str, bytes: &[u8]) -> Result<(String, Mesh), String> {
    let mesh = mesh::read_bytes(name, bytes).map_err(|faults| format!("{name}: {faults}"))?.mesh;
    let bounds = mesh.positions.iter().fold(None, |box_of, p| match box_of {
        None => Some((*p, *p)),
        Some((low, high)) => Some((p.min(low), p.max(high))),
    });
    let (low, high) = bounds.ok_or_else(|| format!("{name}: it has no points"))?;
    let (size, middle) = (high - low, 0.5 * (low + high));
    let most = size.max_element().max(1e-3);
    let file = format!("mesh = {{ file = {name:?} }}\n");
    let floor =
        |y: f64| format!("[[collider]]\nname = \"floor\"\nplane = {{}}\nposition = [0.0, {y:?}, 0.0]\n");
    let text = if is_closed(&mesh) {
        let side = 1.6 * size.x.max(size.z).max(0.5 * most);
        let above = [middle.x, high.y + 0.02 * most, middle.z];
        format!(
            "[[cloth]]\nname = \"sheet\"\nfabric = \"cotton\"\nposition = {above:?}\n\
             sheet = {{ width = {side:?}, height = {side:?}, columns = 60, rows = 60 }}\n\
             [[collider]]\nname = \"body\"\n{file}{}",
            floor(low.y)
        )
    } else {
        format!("[[cloth]]\nname = \"cloth\"\nfabric = \"cotton\"\n{file}{}", floor(low.y - 0.25 * most))
    };
    Ok((text, mesh))
}

/// Whether every side of a face is the side of another, the other way round.
fn is_closed(mesh: &Mesh) -> bool {
    let triangles = mesh.triangles.iter().flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]]);
    let quads = mesh.quads.iter().flat_map(|[a, b, c, d]| [[*a, *b], [*b, *c], [*c, *d], [*d, *a]]);
    let mut sides: Vec<[u32; 2]> = triangles.chain(quads).collect();
    sides.sort_unstable();
    !sides.is_empty() && sides.iter().all(|[a, b]| sides.binary_search(&[*b, *a]).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_a_file_in_their_order_alone() {
        let part = |text: &str| STANDARD.encode(text);
        let first = Upload::take(None, 1, "a.obj", 0, &part("abc")).unwrap();
        let whole = Upload::take(Some(first), 1, "a.obj", 3, &part("de")).unwrap();
        assert_eq!(whole.bytes, b"abcde");
        for (page, name, at) in [(2, "a.obj", 5), (1, "b.obj", 5), (1, "a.obj", 4)] {
            let under_way = Upload { page: 1, name: "a.obj".into(), bytes: b"abcde".to_vec() };
            assert!(
                Upload::take(Some(under_way), page, name, at, &part("f")).unwrap_err().contains("missing")
            );
        }
        assert!(Upload::take(None, 1, "a.obj", 0, "!").unwrap_err().contains("base64"));
        let full = Upload { page: 1, name: "a.obj".into(), bytes: vec![0; LARGEST] };
        assert!(Upload::take(Some(full), 1, "a.obj", LARGEST, &part("f")).unwrap_err().contains("64 MiB"));
    }

    #[test]
    fn open_surfaces_are_cloth_and_closed_ones_bodies() {
        let points = "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 0 1 0\n";
        let (open, _) = scene_of_mesh("it.obj", format!("{points}f 1 3 2\n").as_bytes()).unwrap();
        assert!(open.contains("[[cloth]]\nname = \"cloth\"\nfabric = \"cotton\"\nmesh"), "{open}");
        let faces = "f 1 2 3\nf 1 4 2\nf 2 4 3\nf 3 4 1\n";
        let (closed, _) = scene_of_mesh("it.obj", format!("{points}{faces}").as_bytes()).unwrap();
        assert!(closed.contains("name = \"body\"\nmesh"), "{closed}");
        assert!(scene_of_mesh("it.obj", b"v 0 0\n").unwrap_err().starts_with("it.obj: "));
    }
}
