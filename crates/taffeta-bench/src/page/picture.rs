//! Pictures for pages: a simulation as it stands, in its colours or by its strain.

use super::Figure;
use crate::BenchError;
use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta::model::Form;
use taffeta_render::{BodyView, Framing, Picture, Scale, SceneView, Values, render, values};

/// Width and height [pixels].
const SIZE: (u32, u32) = (640, 420);

/// Takes a picture; with a strain, the cloth is coloured by its own up to that.
pub fn taken(simulation: &Simulation, words: String, strain: Option<f64>) -> Result<Figure, BenchError> {
    let (model, state) = (simulation.model(), simulation.state());
    let percents = values::strain(&state.positions, &model.edges, &model.rest_lengths);
    let mut view = SceneView::of(model, &state.positions, state.time);
    // Bodies that are meshes are told by their points, which stand nowhere yet.
    let meshes = model.colliders.iter().zip(model.poses(state)).filter_map(|(body, pose)| match &body.form {
        Form::Mesh(mesh) => Some((mesh.points(state.time, &pose), mesh.triangles())),
        Form::Closed(_) => None,
    });
    let meshes: Vec<(Vec<DVec3>, &[[u32; 3]])> = meshes.collect();
    view.bodies.extend(meshes.iter().map(|(positions, triangles)| BodyView::Mesh { positions, triangles }));
    let mut framing = Framing::new(SIZE.0, SIZE.1);
    framing.include(&view);
    view.ground = Some(framing.ground());
    let scale = |most: f64| Scale { title: "strain".into(), unit: "%".into(), low: 0.0, high: most };
    if strain.is_some() {
        view.cloths.iter_mut().for_each(|cloth| cloth.values = Some(Values::Particles(&percents)));
    }
    let picture = Picture {
        width: SIZE.0,
        height: SIZE.1,
        camera: Some(framing.camera()),
        scale: strain.map(scale),
        ..Picture::default()
    };
    Figure::new(words, &render(&view, &picture).map_err(BenchError::picture)?)
}
