//! From a scene to files for other programs: simulate, record, export to every format.
//!
//! `cargo run --release -p taffeta-io --example record_sample -- FOLDER`

use serde_json::json;
use std::{collections::BTreeMap, error::Error, path::Path};
use taffeta::Simulation;
use taffeta_io::export::{Format, Options, UpAxis, export};
use taffeta_io::recording::{Frame, FullState, Header, Reader, Writer};
use taffeta_scene::{
    BoxShape, CapsuleShape, Cloth, Collider, Corner, Keyframe, Pin, PlaneShape, Scene, Sheet, Side,
    SphereShape, Strip,
};

/// A sheet held by two corners, a ball that swings through it, a ribbon, and one collider of every other shape.
fn scene() -> Scene {
    let sheet = Sheet { width: 1.0, height: 1.0, columns: 20, rows: 20, slack: 1.0 };
    let pin = Pin { corners: vec![Corner::UpperLeft, Corner::UpperRight], ..Pin::default() };
    let cloth = Cloth {
        name: "curtain".into(),
        sheet: Some(sheet),
        position: [0.0, 1.2, 0.0],
        pin: vec![pin],
        ..Cloth::default()
    };
    let swing = |time: f64, z: f64, degrees: f64| Keyframe {
        time,
        shift: [0.0, 0.0, z],
        turn: [degrees, 30.0, 0.0],
        ease: Default::default(),
    };
    let ball = Collider {
        name: "ball".into(),
        position: [0.1, 0.7, -1.0],
        sphere: Some(SphereShape { radius: 0.25 }),
        keyframe: vec![swing(0.0, 0.0, 0.0), swing(1.0, 1.0, 90.0)],
        ..Collider::default()
    };
    let floor = Collider { name: "floor".into(), plane: Some(PlaneShape {}), ..Collider::default() };
    let block = Collider {
        name: "block".into(),
        position: [1.0, 0.2, 0.0],
        rotation: [0.0, 0.0, 30.0],
        cuboid: Some(BoxShape { size: [0.2, 0.4, 0.6] }),
        ..Collider::default()
    };
    let pole = Collider {
        name: "pole".into(),
        position: [-1.0, 0.5, 0.0],
        capsule: Some(CapsuleShape { radius: 0.1, length: 0.5 }),
        keyframe: vec![swing(0.0, 0.0, 0.0), swing(1.0, 0.5, 60.0)],
        ..Collider::default()
    };
    let ribbon = Cloth {
        name: "ribbon".into(),
        strip: Some(Strip { length: 0.8, width: 0.1, segments: 16 }),
        position: [0.0, 1.6, 0.5],
        pin: vec![Pin { sides: vec![Side::Left], ..Pin::default() }],
        ..Cloth::default()
    };
    Scene {
        frames: 30,
        cloth: vec![cloth, ribbon],
        collider: vec![ball, floor, block, pole],
        ..Scene::default()
    }
}

fn header(scene: &Scene, simulation: &Simulation) -> Header {
    let model = simulation.model();
    let cloth = |c: &taffeta::model::ClothPiece| {
        json!({
            "name": c.name, "colour": "#c04030",
            "particles": [c.particles.start, c.particles.end],
            "triangles": [c.triangles.start, c.triangles.end],
        })
    };
    let collider = |c: &taffeta::model::Collider| json!({ "name": c.name, "shape": c.form });
    Header {
        scene: String::new(),
        about: json!({
            "version": env!("CARGO_PKG_VERSION"),
            "method": model.method.name(),
            "cloths": model.cloths.iter().map(cloth).collect::<Vec<_>>(),
            "colliders": model.colliders.iter().map(collider).collect::<Vec<_>>(),
        }),
        frame_time: scene.frame_time,
        triangles: model.triangles.clone(),
        edges: model.edges.clone(),
        rest_lengths: model.rest_lengths.clone(),
        rest_positions: model.rest_positions.clone(),
        material: model.material.clone(),
        pinned: model.pins.iter().flat_map(|group| group.particles.iter().copied()).collect(),
    }
}

fn record(path: &Path) -> Result<(), Box<dyn Error>> {
    let scene = scene();
    let mut simulation =
        taffeta_scene::simulation(&scene, &BTreeMap::new()).map_err(|faults| format!("{faults:?}"))?;
    let mut writer = Writer::create(path, &header(&scene, &simulation))?;
    let mut frame = Frame::default();
    for number in 0..=scene.frames {
        let report = if number == 0 { None } else { Some(simulation.step()?) };
        let state = simulation.state();
        (frame.number, frame.time, frame.state_hash) = (number, state.time, state.hash());
        frame.set_positions(&state.positions);
        frame.bodies = simulation.model().colliders.iter().map(|c| c.pose(state.time)).collect();
        frame.report =
            json!({ "contacts": report.map(|r| r.contacts), "substeps": report.map(|r| r.substeps) });
        writer.frame(&frame)?;
    }
    writer.state(&FullState { frame: scene.frames, bytes: simulation.state().to_bytes() })?;
    Ok(writer.finish()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("name the folder to write to")?;
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let recording = folder.join("sample.taffeta");
    record(&recording)?;
    let mut reader = Reader::open(&recording)?;
    // All that there is, the floor too.
    let plain = Options { floor: true, ..Options::default() };
    for format in Format::ALL {
        let extension = if matches!(format, Format::Obj | Format::Ply) { "" } else { format.extension() };
        write(
            &mut reader,
            format,
            &folder.join(format!("sample_{format}")).with_extension(extension),
            &plain,
        )?;
    }
    // Other axes, units and normals, which readers must see through.
    let turned = Options { up: Some(UpAxis::Z), scale: 100.0, ..plain.clone() };
    write(&mut reader, Format::Usd, &folder.join("turned.usda"), &turned)?;
    let smooth = Options { normals: Some(true), ..plain };
    write(&mut reader, Format::Alembic, &folder.join("smooth.abc"), &smooth)
}

fn write(reader: &mut Reader, format: Format, path: &Path, options: &Options) -> Result<(), Box<dyn Error>> {
    let done = export(reader, format, path, options, &mut |_, _| {})?;
    println!("{format}: {} frames, {} bytes in {:?}", done.frames, done.bytes, done.paths);
    Ok(())
}
