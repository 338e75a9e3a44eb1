//! USD as text (`.usda`): one layer with time samples.
//!
//! The text holds all samples of an attribute before the next attribute, so the film is played once for each.

use super::film::{Film, Moment};
use super::pending::{Pending, settle};
use super::skeleton::{JointPlace, Skinned};
use super::solid::{self, Drawn, Solid};
use super::subject::{Collider, Piece, Subject, bounds, linear_light, single};
use super::usd_materials::{BODIES, MATERIALS, write_materials};
use super::{ExportError, Job, UpAxis, weave};
use std::io::{self, Write};
use std::path::PathBuf;
use taffeta::math::{DAffine3, DVec3, Pose};
use taffeta::model::Shape;

/// What the certificate of a frame is, by kind and by name in its report.
const CERTIFICATE: [(&str, &str); 3] =
    [("double", "max_strain"), ("int", "intersections"), ("double", "min_gap_m")];

/// Writes the layer, and the picture of the weave beside it.
pub(super) fn write(job: &mut Job) -> Result<(Vec<PathBuf>, u64), ExportError> {
    let (pending, mut out) = Pending::file(job.path, job.replace)?;
    let failed = job.film.failed();
    if !job.weave {
        write_layer(job, &mut out, None)?;
        let bytes = settle(out).map_err(failed)?;
        return Ok((vec![pending.commit()?], bytes));
    }
    let beside = job.path.with_file_name(format!("{}_weave.png", job.name));
    let (picture, mut pixels) = Pending::file(&beside, job.replace)?;
    pixels.write_all(&weave::picture()).map_err(&failed)?;
    write_layer(job, &mut out, Some(&format!("./{}_weave.png", job.name)))?;
    let bytes = settle(out).map_err(&failed)? + settle(pixels).map_err(&failed)?;
    Ok((vec![pending.commit()?, picture.commit()?], bytes))
}

/// Writes the text of the layer, in which the picture of the weave, if there is one, goes by a name.
pub(super) fn write_layer<W: Write>(
    job: &mut Job,
    out: &mut W,
    picture: Option<&str>,
) -> Result<(), ExportError> {
    let moving = job.subject.colliders.iter().filter(|c| job.film.survey.moving[c.body]).count();
    let cloths = job.subject.pieces.iter().filter(|piece| piece.is_cloth).count();
    let maps = &job.film.shaping.maps;
    let of_maps = cloths * (maps.which.len() + usize::from(maps.is_coloured()));
    let of_certificate = if job.certificate { CERTIFICATE.len() } else { 0 };
    let attributes = if job.normals { 3 } else { 2 };
    let skinned = job.subject.skinned.len();
    job.film
        .plan(attributes * job.subject.pieces.len() + 2 * moving + 3 * skinned + of_certificate + of_maps);
    write_head(out, job).map_err(job.film.failed())?;
    let failed = job.film.failed();
    if job.certificate {
        for (kind, name) in CERTIFICATE {
            let attribute = format!("custom {kind} taffeta:{name}");
            write_attribute(out, &mut job.film, &attribute, &mut |out, moment| {
                // A frame that is not certified has no number there.
                match moment.report.get(name).filter(|value| value.is_number()) {
                    Some(value) => write!(out, "{value}"),
                    None => write!(out, "None"),
                }
            })?;
        }
    }
    for piece in &job.subject.pieces {
        write_constants(out, &job.subject, piece, job.film.shaping.maps.is_coloured()).map_err(&failed)?;
        write_samples(out, &mut job.film, &job.subject, piece, job.normals)?;
        out.write_all(b"    }\n").map_err(&failed)?;
    }
    for collider in &job.subject.colliders {
        write_collider(out, &mut job.film, collider)?;
    }
    for body in &job.subject.skinned {
        write_skinned(out, &mut job.film, body)?;
    }
    let coloured = job.film.shaping.maps.is_coloured();
    write_materials(out, &job.subject, picture, coloured)
        .and_then(|()| out.write_all(b"}\n"))
        .map_err(&failed)
}

fn write_head(out: &mut impl Write, job: &Job) -> io::Result<()> {
    let up = if job.up == UpAxis::Z { "Z" } else { "Y" };
    let (first, last, rate) = (job.film.survey.first, job.film.survey.last, job.rate());
    write!(
        out,
        r#"#usda 1.0
(
    defaultPrim = "World"
    doc = "Taffeta"
    endTimeCode = {last}
    framesPerSecond = {rate}
    metersPerUnit = {}
    startTimeCode = {first}
    timeCodesPerSecond = {rate}
    upAxis = "{up}"
)

def Xform "World" (
    kind = "component"
)
{{
"#,
        job.scale.recip()
    )
}

/// Opens a prim, with the user's own name where it is another, and binds it to a material.
fn open_prim(out: &mut impl Write, kind: &str, name: &str, called: &str, material: &str) -> io::Result<()> {
    writeln!(out, "    def {kind} \"{name}\" (\n        prepend apiSchemas = [\"MaterialBindingAPI\"]")?;
    if name != called {
        writeln!(out, "        displayName = \"{}\"", escaped(called))?;
    }
    writeln!(out, "    )\n    {{\n        rel material:binding = </World/{MATERIALS}/{material}>")
}

/// Text between quotes.
fn escaped(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().map(plain).collect::<String>().replace('\\', "\\\\").replace('"', "\\\"")
}

/// Opens a piece's mesh and writes all that does not change.
fn write_constants(out: &mut impl Write, subject: &Subject, piece: &Piece, coloured: bool) -> io::Result<()> {
    let triangles = subject.local_triangles(piece);
    open_prim(out, "Mesh", &piece.name, &piece.called, &piece.name)?;
    writeln!(out, "        uniform bool doubleSided = 1")?;
    write!(out, "        int[] faceVertexCounts = ")?;
    write_list(out, (0..triangles.len()).map(|_| 3))?;
    write!(out, "\n        int[] faceVertexIndices = ")?;
    write_list(out, triangles.flatten())?;
    writeln!(out, "\n        uniform token orientation = \"rightHanded\"")?;
    let [r, g, b] = piece.colour.map(|c| c as f32);
    if !(coloured && piece.is_cloth) {
        writeln!(out, "        color3f[] primvars:displayColor = [({r}, {g}, {b})]")?;
    }
    if let Some(pinned) = subject.pinned.get(piece.points.clone()) {
        write!(out, "        bool[] primvars:pinned = ")?;
        write_list(out, pinned.iter().map(|pinned| u8::from(*pinned)))?;
        writeln!(out, " (\n            interpolation = \"vertex\"\n        )")?;
    }
    if let Some(origins) = subject.origins.get(piece.points.clone()) {
        write!(out, "        int[] primvars:particle = ")?;
        write_list(out, origins.iter())?;
        writeln!(out, " (\n            interpolation = \"vertex\"\n        )")?;
    }
    if let Some((material, corners)) = subject.texture(piece) {
        write!(out, "        texCoord2f[] primvars:st = ")?;
        write_list(out, material.iter().map(|[u, v]| Tuple([*u as f32, *v as f32])))?;
        let interpolation = if corners.is_some() { "faceVarying" } else { "vertex" };
        writeln!(out, " (\n            interpolation = \"{interpolation}\"\n        )")?;
        if let Some(corners) = corners {
            write!(out, "        int[] primvars:st:indices = ")?;
            write_list(out, corners.as_flattened().iter())?;
            writeln!(out)?;
        }
    }
    writeln!(out, "        uniform token subdivisionScheme = \"none\"")
}

/// Writes what changes: extent, points and normals.
fn write_samples<W: Write>(
    out: &mut W,
    film: &mut Film,
    subject: &Subject,
    piece: &Piece,
    with_normals: bool,
) -> Result<(), ExportError> {
    let part = piece.points.clone();
    write_attribute(out, film, "float3[] extent", &mut |out, moment| {
        write_list(out, bounds(&moment.positions[part.clone()]).into_iter().map(Tuple))
    })?;
    write_attribute(out, film, "point3f[] points", &mut |out, moment| {
        write_list(out, moment.positions[part.clone()].iter().map(|p| Tuple(single(*p))))
    })?;
    if piece.is_cloth {
        write_maps(out, film, piece)?;
    }
    if with_normals {
        let mut normals = Vec::new();
        let attribute = "normal3f[] normals (\n            interpolation = \"vertex\"\n        )\n        normal3f[] normals";
        write_attribute(out, film, attribute, &mut |out, moment| {
            subject.normals(&moment.positions, &mut normals);
            write_list(out, normals[part.clone()].iter().map(|n| Tuple(single(*n))))
        })?;
    }
    Ok(())
}

/// Writes the maps of the fit of a piece, and colours that stand for one of them.
fn write_maps<W: Write>(out: &mut W, film: &mut Film, piece: &Piece) -> Result<(), ExportError> {
    let vertex = |attribute: &str| {
        format!("{attribute} (\n            interpolation = \"vertex\"\n        )\n        {attribute}")
    };
    let part = piece.points.clone();
    for (k, map) in film.shaping.maps.which.clone().into_iter().enumerate() {
        let attribute = vertex(&format!("float[] primvars:{map}"));
        write_attribute(out, film, &attribute, &mut |out, moment| {
            write_list(out, moment.maps[k][part.clone()].iter().map(|x| *x as f32))
        })?;
    }
    if film.shaping.maps.is_coloured() {
        write_attribute(out, film, &vertex("color3f[] primvars:displayColor"), &mut |out, moment| {
            write_list(out, moment.colours[part.clone()].iter().map(|c| Tuple(linear_light(*c))))
        })?;
    }
    Ok(())
}

/// Writes all samples of an attribute; a time code is the number of a frame.
fn write_attribute<W: Write>(
    out: &mut W,
    film: &mut Film,
    attribute: &str,
    value: &mut dyn FnMut(&mut W, &Moment) -> io::Result<()>,
) -> Result<(), ExportError> {
    let mut begun = false;
    let last = film.survey.last;
    film.play(&mut |moment| {
        if !std::mem::replace(&mut begun, true) {
            writeln!(out, "        {attribute}.timeSamples = {{")?;
        }
        write!(out, "            {}: ", moment.number)?;
        value(out, moment)?;
        out.write_all(b",\n")?;
        if moment.number == last { out.write_all(b"        }\n") } else { Ok(()) }
    })
}

/// Writes a collider: a shape with its place, which has samples where it moves.
fn write_collider<W: Write>(out: &mut W, film: &mut Film, collider: &Collider) -> Result<(), ExportError> {
    let (moving, pose) = (film.survey.moving[collider.body], film.survey.poses[collider.body]);
    let plane_size = solid::plane_size(film.survey.low, film.survey.high);
    let failed = film.failed();
    write_shape(out, collider, plane_size).map_err(&failed)?;
    if moving {
        let pose = |moment: &Moment| moment.poses[collider.body];
        write_attribute(out, film, "double3 xformOp:translate", &mut |out, moment| {
            write!(out, "{}", translation(&pose(moment)))
        })?;
        write_attribute(out, film, "quatd xformOp:orient", &mut |out, moment| {
            write!(out, "{}", orientation(&pose(moment)))
        })?;
    } else {
        writeln!(out, "        double3 xformOp:translate = {}", translation(&pose)).map_err(&failed)?;
        writeln!(out, "        quatd xformOp:orient = {}", orientation(&pose)).map_err(&failed)?;
    }
    let scale =
        if matches!(collider.shape, Drawn::Closed(Shape::Box { .. })) { ", \"xformOp:scale\"" } else { "" };
    let order = format!("[\"xformOp:translate\", \"xformOp:orient\"{scale}]");
    writeln!(out, "        uniform token[] xformOpOrder = {order}\n    }}").map_err(&failed)
}

/// Writes a body on its skeleton: joints, where they are in every frame, and the mesh that hangs on them.
fn write_skinned<W: Write>(out: &mut W, film: &mut Film, body: &Skinned) -> Result<(), ExportError> {
    let failed = film.failed();
    let (number, pose) = (body.body, film.survey.poses[body.body]);
    let root = format!("/World/{}", body.name);
    let mut paths: Vec<String> = Vec::with_capacity(body.joints.len());
    for joint in &body.joints {
        let above = joint.parent.map_or(String::new(), |parent| format!("{}/", paths[parent]));
        paths.push(format!("{above}{}", joint.name));
    }
    let joints = || paths.iter().map(|path| format!("\"{path}\""));
    let mut begin = || {
        open_prim(out, "SkelRoot", &body.name, &body.called, BODIES)?;
        writeln!(
            out,
            "        def Skeleton \"Skeleton\" (\n            prepend apiSchemas = [\"SkelBindingAPI\"]"
        )?;
        write!(out, "        )\n        {{\n        rel skel:animationSource = <{root}/Animation>")?;
        write!(out, "\n        uniform token[] joints = ")?;
        write_list(out, joints())?;
        write!(out, "\n        uniform matrix4d[] bindTransforms = ")?;
        write_list(out, body.joints.iter().map(|joint| matrix(&joint.unbound.inverse())))?;
        write!(out, "\n        uniform matrix4d[] restTransforms = ")?;
        write_list(
            out,
            body.pose(film.survey.first_time, &pose).iter().map(|place| matrix(&place.matrix())),
        )?;
        write!(
            out,
            "\n        }}\n        def SkelAnimation \"Animation\"\n        {{\n        uniform token[] joints = "
        )?;
        write_list(out, joints())?;
        write!(out, "\n        half3[] scales = ")?;
        write_list(out, body.joints.iter().map(|_| "(1, 1, 1)"))?;
        writeln!(out)
    };
    begin().map_err(&failed)?;
    let places = |moment: &Moment| body.pose(moment.time, &moment.poses[number]);
    write_attribute(out, film, "float3[] translations", &mut |out, moment| {
        write_list(out, places(moment).iter().map(|place| Tuple(single(place.shift))))
    })?;
    write_attribute(out, film, "quatf[] rotations", &mut |out, moment| {
        let turn = |place: &JointPlace| {
            let [x, y, z, w] = place.turn.to_array().map(|x| x as f32);
            Tuple([w, x, y, z])
        };
        write_list(out, places(moment).iter().map(turn))
    })?;
    out.write_all(b"        }\n").map_err(&failed)?;
    write_attribute(out, film, "float3[] extent", &mut |out, moment| {
        write_list(out, body.bounds(moment.time, &moment.poses[number]).into_iter().map(Tuple))
    })?;
    let mut end = || {
        writeln!(
            out,
            "        def Mesh \"Surface\" (\n            prepend apiSchemas = [\"SkelBindingAPI\"]\n        )\n        {{"
        )?;
        write_faces(out, &body.rest, &body.normals, &body.triangles)?;
        writeln!(out, "        rel skel:skeleton = <{root}/Skeleton>")?;
        writeln!(out, "        matrix4d primvars:skel:geomBindTransform = {}", matrix(&DAffine3::IDENTITY))?;
        let about = format!(
            " (\n            elementSize = {}\n            interpolation = \"vertex\"\n        )",
            body.width
        );
        write!(out, "        int[] primvars:skel:jointIndices = ")?;
        write_list(out, body.held.iter().map(|(joint, _)| *joint))?;
        write!(out, "{about}\n        float[] primvars:skel:jointWeights = ")?;
        write_list(out, body.held.iter().map(|(_, share)| *share))?;
        writeln!(out, "{about}\n        }}\n    }}")
    };
    end().map_err(&failed)
}

/// A transform; USD's vectors are rows.
fn matrix(matrix: &DAffine3) -> Tuple<String, 4> {
    let [x, y, z] = [matrix.matrix3.x_axis, matrix.matrix3.y_axis, matrix.matrix3.z_axis];
    let rows = [(x, 0), (y, 0), (z, 0), (matrix.translation, 1)];
    Tuple(rows.map(|(row, last)| format!("({}, {}, {}, {last})", row.x, row.y, row.z)))
}

/// Opens a collider's mesh and writes its surface.
fn write_surface(out: &mut impl Write, collider: &Collider, solid: &Solid) -> io::Result<()> {
    open_prim(out, "Mesh", &collider.name, &collider.called, BODIES)?;
    write_faces(out, &solid.points, &solid.normals, &solid.triangles)
}

/// Writes a surface that keeps its points.
fn write_faces(
    out: &mut impl Write,
    points: &[DVec3],
    normals: &[DVec3],
    triangles: &[[u32; 3]],
) -> io::Result<()> {
    write!(out, "        uniform bool doubleSided = 1\n        float3[] extent = ")?;
    write_list(out, bounds(points).into_iter().map(Tuple))?;
    write!(out, "\n        int[] faceVertexCounts = ")?;
    write_list(out, triangles.iter().map(|_| 3))?;
    write!(out, "\n        int[] faceVertexIndices = ")?;
    write_list(out, triangles.iter().flatten())?;
    write!(out, "\n        uniform token orientation = \"rightHanded\"\n        point3f[] points = ")?;
    write_list(out, points.iter().map(|p| Tuple(single(*p))))?;
    write!(out, "\n        normal3f[] normals = ")?;
    write_list(out, normals.iter().map(|n| Tuple(single(*n))))?;
    writeln!(
        out,
        " (\n            interpolation = \"vertex\"\n        )\n        uniform token subdivisionScheme = \"none\""
    )
}

/// Opens a collider's prim and writes its size.
fn write_shape(out: &mut impl Write, collider: &Collider, plane_size: f64) -> io::Result<()> {
    let shape = match &collider.shape {
        Drawn::Closed(shape) => *shape,
        Drawn::Mesh(solid) => return write_surface(out, collider, solid),
    };
    let mut open = |kind: &str, half: DVec3| {
        let extent = [Tuple(single(-half)), Tuple(single(half))];
        open_prim(out, kind, &collider.name, &collider.called, BODIES)?;
        write!(out, "        float3[] extent = ")?;
        write_list(out, extent.into_iter())?;
        writeln!(out)
    };
    match shape {
        Shape::Sphere { radius } => {
            open("Sphere", DVec3::splat(radius))?;
            writeln!(out, "        double radius = {radius}")
        }
        Shape::Capsule { radius, half_length } => {
            open("Capsule", DVec3::new(radius, half_length + radius, radius))?;
            let height = 2.0 * half_length;
            writeln!(out, "        uniform token axis = \"Y\"")?;
            writeln!(out, "        double height = {height}\n        double radius = {radius}")
        }
        // A cube has one size, so a cuboid is a cube of size 2, scaled.
        Shape::Box { half_size } => {
            open("Cube", DVec3::ONE)?;
            let scale = Tuple(half_size.to_array());
            writeln!(out, "        double size = 2\n        double3 xformOp:scale = {scale}")
        }
        Shape::Plane => {
            open("Plane", DVec3::new(0.5 * plane_size, 0.0, 0.5 * plane_size))?;
            writeln!(out, "        uniform token axis = \"Y\"\n        uniform bool doubleSided = 1")?;
            writeln!(out, "        double length = {plane_size}\n        double width = {plane_size}")
        }
    }
}

fn translation(pose: &Pose) -> Tuple<f64, 3> {
    Tuple(pose.position.to_array())
}

/// The real part comes first.
fn orientation(pose: &Pose) -> Tuple<f64, 4> {
    let [x, y, z, w] = pose.rotation.to_array();
    Tuple([w, x, y, z])
}

/// Numbers in parentheses.
struct Tuple<T, const N: usize>([T; N]);

impl<T: std::fmt::Display, const N: usize> std::fmt::Display for Tuple<T, N> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        for (k, number) in self.0.iter().enumerate() {
            write!(f, "{}{number}", if k == 0 { "(" } else { ", " })?;
        }
        f.write_str(")")
    }
}

/// Values in brackets.
fn write_list<T: std::fmt::Display>(out: &mut impl Write, values: impl Iterator<Item = T>) -> io::Result<()> {
    out.write_all(b"[")?;
    for (k, value) in values.enumerate() {
        if k > 0 {
            out.write_all(b", ")?;
        }
        write!(out, "{value}")?;
    }
    out.write_all(b"]")
}
