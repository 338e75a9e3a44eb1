//! All built-in scenes in all formats: the points of the cloth and of the bodies, and nothing that is the engine's own.

use super::readers::{Abc, Glb, Points, files, read_mdd, read_obj, read_pc2, read_ply, usd_points, usd_prim};
use std::path::{Path, PathBuf};
use taffeta::math::DVec3;
use taffeta::model::{BodyMesh, Form, Model};
use taffeta_io::catalogue;
use taffeta_io::export::{Bodies, Format, Options, UpAxis, export};
use taffeta_io::recording::{Frame, Header, Reader, Writer};
use taffeta_io::scene_file::{self, SceneSource};
use tempfile::TempDir;

/// A mesh in a frame: how many points it has, and the corners of the box around them [m].
type Box3 = (usize, [DVec3; 2]);

fn boxed(points: impl Iterator<Item = DVec3> + Clone) -> Box3 {
    let corner = |pick: fn(DVec3, DVec3) -> DVec3| points.clone().reduce(pick).unwrap();
    (points.clone().count(), [corner(DVec3::min), corner(DVec3::max)])
}

fn boxed_f32(points: &Points) -> Box3 {
    boxed(points.iter().map(|p| DVec3::from(p.map(f64::from))))
}

/// The bodies that deform, with their numbers and names.
fn deforming(model: &Model) -> impl Iterator<Item = (usize, &str, &BodyMesh)> {
    model.colliders.iter().enumerate().filter_map(|(i, collider)| match &collider.form {
        Form::Mesh(mesh) if mesh.deforms() => Some((i, collider.name.as_str(), mesh)),
        _ => None,
    })
}

/// Records the start and, unsolved, what is 0.4 s later; tells what the model has in both: every cloth, then every body that deforms.
fn record(name: &str, path: &Path) -> Vec<[Box3; 2]> {
    let asked = scene_file::load(&SceneSource::find(name).unwrap(), &[]).unwrap();
    let simulation = taffeta_scene::simulation(&asked.scene, &asked.meshes).unwrap();
    let (model, mut state) = (simulation.model(), simulation.state().clone());
    let mut writer = Writer::create(path, &Header::of_run(&asked.scene, name, model, 1)).unwrap();
    let mut truth = vec![Vec::new(); model.cloths.len() + deforming(model).count()];
    for number in 0..2 {
        state.time = 0.4 * f64::from(number);
        state.positions.iter_mut().for_each(|p| p.y += state.time * p.x);
        let mut frame = Frame { number, time: state.time, ..Frame::default() };
        frame.set_positions(&state.positions);
        frame.bodies.extend(model.poses(&state));
        writer.frame(&frame).unwrap();
        for (i, cloth) in model.cloths.iter().enumerate() {
            let mut own: Vec<u32> = model.triangles[cloth.triangles.clone()].as_flattened().to_vec();
            own.sort_unstable();
            own.dedup();
            let spares: usize = model.tearing.iter().filter(|t| t.cloth == i).map(|t| t.spares.len()).sum();
            // Soft solids are stuffed; of all others every particle is part of the surface.
            let stuffed = ["jelly", "sponge", "sponge-stairs"].contains(&name);
            assert!(stuffed || own.len() + spares == cloth.particles.len(), "{name}");
            truth[i].push(boxed(own.iter().map(|p| state.positions[*p as usize])));
        }
        for (k, (i, _, mesh)) in deforming(model).enumerate() {
            let points = mesh.points(state.time, &frame.bodies[i]);
            truth[model.cloths.len() + k].push(boxed(points.into_iter()));
        }
    }
    writer.finish().unwrap();
    truth.into_iter().map(|frames| frames.try_into().unwrap()).collect()
}

/// All frames of all meshes whose points a file holds; one mesh of all where the format knows no other.
fn read(format: Format, path: &Path) -> Vec<Vec<Box3>> {
    let text = || std::fs::read_to_string(path).unwrap();
    let frame_files = || {
        files(path)
            .into_iter()
            .filter(|file| file.extension().unwrap() == format.extension())
            .collect::<Vec<_>>()
    };
    let wide = |points: &[[f64; 3]]| boxed(points.iter().map(|p| DVec3::from(*p)));
    match format {
        Format::Obj => {
            let read = |file: &PathBuf| wide(&read_obj(&std::fs::read_to_string(file).unwrap()).points);
            vec![frame_files().iter().map(read).collect()]
        }
        Format::Ply => {
            let read = |file: &PathBuf| wide(&read_ply(&std::fs::read(file).unwrap()).points);
            vec![frame_files().iter().map(read).collect()]
        }
        Format::Pc2 => vec![read_pc2(&std::fs::read(path).unwrap()).1.iter().map(boxed_f32).collect()],
        Format::Mdd => vec![read_mdd(&std::fs::read(path).unwrap()).1.iter().map(boxed_f32).collect()],
        Format::Usd => {
            let text = text();
            let names = text.split("def Mesh \"").skip(1).map(|rest| rest.split('"').next().unwrap());
            let prims = names.map(|name| usd_prim(&text, "Mesh", name));
            let moving = prims.filter(|prim| prim.contains("points.timeSamples"));
            moving.map(|prim| usd_points(prim).iter().map(boxed_f32).collect()).collect()
        }
        Format::Gltf => {
            let glb = Glb::read(&std::fs::read(path).unwrap());
            let nodes = glb.root["nodes"].as_array().unwrap().len();
            let played = (0..nodes).map(|node| glb.played(node, "POSITION"));
            played.filter(|frames| frames.len() > 1).map(|f| f.iter().map(boxed_f32).collect()).collect()
        }
        Format::Alembic => {
            let abc = Abc::read(std::fs::read(path).unwrap());
            let points = abc.properties.iter().filter(|p| p.0.ends_with("/.geom/P") && p.3.len() > 1);
            points.map(|p| abc.points(&p.0).iter().map(boxed_f32).collect()).collect()
        }
        Format::Usdz | Format::Csv => Vec::new(),
    }
}

/// The same count, and the same corners but for single precision.
fn same(a: &Box3, b: &Box3, bound: f64, what: &str) {
    let off = a.1.iter().zip(&b.1).map(|(p, q)| (*p - *q).length()).fold(0.0, f64::max);
    assert!(a.0 == b.0 && off < bound, "{what}: {a:?} instead of {b:?}");
}

fn check(name: &str) {
    let folder = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
    let recording = folder.path().join("run.taffeta");
    let truth = record(name, &recording);
    let mut reader = Reader::open(&recording).unwrap();
    let cloths = reader.header().about["cloths"].as_array().unwrap().len();
    for format in Format::ALL.into_iter().filter(|format| !matches!(format, Format::Usdz | Format::Csv)) {
        let bodies = if format.is_one_mesh() { Bodies::None } else { Bodies::Points };
        let up = (format == Format::Ply).then_some(UpAxis::Y);
        let options = Options { bodies, up, ..Options::default() };
        let to = folder.path().join(format!("out_{format}.{}", format.extension()));
        export(&mut reader, format, &to, &options, &mut |_, _| {}).unwrap();
        let found = read(format, &to);
        let what = format!("{name} in {format}");
        let largest = truth.iter().flatten().flat_map(|(_, b)| b).fold(0.0, |m: f64, p| m.max(p.length()));
        let bound = 1e-6 * largest.max(1.0);
        if format.is_one_mesh() {
            // All cloths together.
            for frame in 0..2 {
                let own = truth[..cloths].iter().map(|frames| &frames[frame]);
                let corners = own.clone().flat_map(|(_, corners)| *corners);
                let all = (own.map(|(count, _)| count).sum(), boxed(corners).1);
                same(&found[0][frame], &all, bound, &what);
            }
        } else {
            assert_eq!(found.len(), truth.len(), "{what}");
            for (found, truth) in found.iter().zip(&truth) {
                found.iter().zip(truth).for_each(|(found, truth)| same(found, truth, bound, &what));
            }
        }
    }
}

#[test]
fn every_scene_arrives_with_its_points_and_no_others() {
    let seen: Vec<&str> =
        catalogue::scenes().iter().map(|scene| scene.name).inspect(|name| check(name)).collect();
    // Those with points of the engine's own: free bodies, spares.
    assert!(seen.contains(&"objects") && seen.contains(&"catch"));
}

#[test]
fn bodies_are_part_of_the_one_mesh() {
    let folder = TempDir::new().unwrap();
    let recording = folder.path().join("run.taffeta");
    let truth = record("shirt", &recording);
    let mut reader = Reader::open(&recording).unwrap();
    let points: usize = truth.iter().map(|frames| frames[1].0).sum();
    for format in [Format::Pc2, Format::Mdd] {
        let to = folder.path().join(format!("shirt_{format}.{format}"));
        export(&mut reader, format, &to, &Options::default(), &mut |_, _| {}).unwrap();
        let found = read(format, &to);
        let corners = boxed(truth.iter().flat_map(|frames| frames[1].1)).1;
        same(&found[0][1], &(points, corners), 1e-5, format.name());
        let rest = read_obj(&std::fs::read_to_string(to.with_extension("obj")).unwrap());
        assert_eq!((rest.points.len(), rest.groups.len()), (points, truth.len()));
    }
}
