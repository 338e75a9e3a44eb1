//! Pictures as arrays: height × width × 3 bytes.

use crate::errors::refused;
use numpy::ndarray::Array3;
use numpy::{IntoPyArray, PyArray3};
use pyo3::prelude::*;
use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta::model::{Form, Model};
use taffeta_render::{BodyView, Camera, Framing, Image, Picture, Quality, RenderError, SceneView, render};

/// Where to stand and what to look at [m].
pub type Stand = ([f64; 3], [f64; 3]);

/// A picture of this size in the quality of previews.
pub fn picture(width: u32, height: u32, stand: Option<Stand>) -> Picture {
    let camera = stand.map(|(position, target)| Camera {
        position: DVec3::from(position),
        target: DVec3::from(target),
        field_of_view: 28.0,
    });
    Picture { width, height, quality: Quality::Preview, camera, scale: None }
}

/// Takes a picture of the present state.
pub fn taken(simulation: &Simulation, mut picture: Picture) -> Result<Image, RenderError> {
    let (model, state): (&Model, _) = (simulation.model(), simulation.state());
    let meshes: Vec<(Vec<DVec3>, &[[u32; 3]])> = model
        .colliders
        .iter()
        .zip(model.poses(state))
        .filter_map(|(collider, pose)| match &collider.form {
            Form::Mesh(mesh) => Some((mesh.points(state.time, &pose), mesh.triangles())),
            Form::Closed(_) => None,
        })
        .collect();
    let mut view = SceneView::of(model, &state.positions, state.time);
    view.bodies.extend(meshes.iter().map(|(positions, triangles)| BodyView::Mesh { positions, triangles }));
    let mut framing = Framing::new(picture.width.max(1), picture.height.max(1));
    framing.include(&view);
    view.ground = Some(framing.ground());
    picture.camera = picture.camera.or_else(|| Some(framing.camera()));
    render(&view, &picture)
}

/// The picture as an array.
pub fn array<'py>(py: Python<'py>, image: Image) -> PyResult<Bound<'py, PyArray3<u8>>> {
    let shape = (image.height as usize, image.width as usize, 3);
    Ok(Array3::from_shape_vec(shape, image.data).map_err(refused)?.into_pyarray(py))
}
