//! A recording as an Alembic archive: a transform and a mesh for every cloth and every body.

use super::alembic::{Archive, Mesh, Object, Times, Transform};
use super::film::Film;
use super::pending::{Pending, settle};
use super::solid;
use super::subject::{Collider, GREY, Subject, linear_light, single};
use super::{ExportError, Format, Job};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;
use taffeta::math::{DMat3, Pose};

type Out = Archive<BufWriter<File>>;

/// Writes the archive.
pub(super) fn write(job: &mut Job) -> Result<(Vec<PathBuf>, u64), ExportError> {
    job.film.no_gap(Format::Alembic)?;
    job.film.plan(1);
    let (pending, out) = Pending::file(job.path, job.replace)?;
    let failed = job.film.failed();
    let animated = job.film.survey.count > 1;
    let times = Times { first: job.film.survey.first_time, step: job.frame_time };
    let mut archive = Archive::begin(out, times).map_err(&failed)?;
    let begun = Scene::begin(&mut archive, &job.subject, &job.film, job.normals, animated);
    let mut scene = begun.map_err(&failed)?;
    let mut normals = Vec::new();
    job.film.play(&mut |moment| {
        if job.normals {
            job.subject.normals(&moment.positions, &mut normals);
        }
        for (piece, (_, mesh)) in job.subject.pieces.iter().zip(&mut scene.pieces) {
            let part = piece.points.clone();
            let points = moment.positions[part.clone()].iter().map(|p| single(*p));
            let normals = normals.get(part).unwrap_or_default().iter().map(|n| single(*n));
            mesh.sample(&mut archive, points, normals)?;
            if !piece.is_cloth {
                continue;
            }
            for (k, numbers) in moment.maps.iter().enumerate() {
                let numbers: Vec<f32> = numbers[piece.points.clone()].iter().map(|x| *x as f32).collect();
                mesh.sample_measure(&mut archive, k, &numbers)?;
            }
            if let Some(colours) = moment.colours.get(piece.points.clone()) {
                let light: Vec<[f32; 3]> = colours.iter().map(|c| linear_light(*c)).collect();
                mesh.sample_measure(&mut archive, moment.maps.len(), light.as_flattened())?;
            }
        }
        for (collider, transform, _) in scene.colliders.iter_mut().filter(|(collider, ..)| collider.moving) {
            transform.sample(&mut archive, &matrix(&moment.poses[collider.body]))?;
        }
        Ok(())
    })?;
    let about =
        format!("FramesPerTimeUnit={};_ai_AlembicVersion=Alembic 1.8.3;_ai_Application=Taffeta", job.rate());
    let out = archive.finish(scene.finish(), &about).map_err(&failed)?;
    let bytes = settle(out).map_err(&failed)?;
    Ok((vec![pending.commit()?], bytes))
}

/// All objects while their samples are written.
struct Scene {
    pieces: Vec<(Transform, Mesh)>,
    colliders: Vec<(Place, Transform, Mesh)>,
}

/// Which of a frame's poses a collider follows, if it moves at all.
struct Place {
    body: usize,
    moving: bool,
}

impl Scene {
    fn begin(
        archive: &mut Out,
        subject: &Subject,
        film: &Film,
        with_normals: bool,
        animated: bool,
    ) -> io::Result<Scene> {
        let mut scene = Scene { pieces: Vec::new(), colliders: Vec::new() };
        for piece in &subject.pieces {
            // Readers expect a transform above every mesh, even one that does nothing.
            let mut transform = Transform::begin(archive, &piece.name, false)?;
            transform.sample(archive, &matrix(&Pose::IDENTITY))?;
            let triangles: Vec<[u32; 3]> = subject.local_triangles(piece).collect();
            let mut mesh =
                Mesh::begin(archive, &format!("{}Shape", piece.name), &triangles, with_normals, animated)?;
            if let Some((material, corners)) = subject.texture(piece) {
                let texture: Vec<[f32; 2]> = material.iter().map(|uv| uv.map(|x| x as f32)).collect();
                mesh.texture(archive, &texture, corners.as_ref().unwrap_or(&triangles))?;
            }
            let coloured = film.shaping.maps.is_coloured() && piece.is_cloth;
            if !coloured {
                mesh.paint(archive, piece.points.len(), piece.colour.map(|c| c as f32))?;
            }
            if let Some(origins) = subject.origins.get(piece.points.clone()) {
                mesh.number(archive, "particle", origins)?;
            }
            if piece.is_cloth {
                film.shaping.maps.which.iter().for_each(|map| mesh.measure(map.name(), animated));
            }
            if coloured {
                mesh.measure_colour(animated);
            }
            scene.pieces.push((transform, mesh));
        }
        for collider in &subject.colliders {
            scene.colliders.push(begin_collider(archive, film, collider)?);
        }
        Ok(scene)
    }

    fn finish(self) -> Vec<Object> {
        let colliders = self.colliders.into_iter().map(|(_, transform, mesh)| (transform, mesh));
        let all = self.pieces.into_iter().chain(colliders);
        all.map(|(transform, mesh)| transform.finish(vec![mesh.finish()])).collect()
    }
}

fn begin_collider(
    archive: &mut Out,
    film: &Film,
    collider: &Collider,
) -> io::Result<(Place, Transform, Mesh)> {
    let survey = &film.survey;
    let place = Place { body: collider.body, moving: survey.moving[collider.body] };
    let mut transform = Transform::begin(archive, &collider.name, place.moving)?;
    if !place.moving {
        transform.sample(archive, &matrix(&survey.poses[collider.body]))?;
    }
    let solid = collider.shape.solid(solid::plane_size(survey.low, survey.high));
    let shape = format!("{}Shape", collider.name);
    let mut mesh = Mesh::begin(archive, &shape, &solid.triangles, true, false)?;
    let (points, normals) =
        (solid.points.iter().map(|p| single(*p)), solid.normals.iter().map(|n| single(*n)));
    mesh.paint(archive, solid.points.len(), GREY.map(|c| c as f32))?;
    mesh.sample(archive, points, normals)?;
    Ok((place, transform, mesh))
}

/// A pose as a matrix for row vectors.
fn matrix(pose: &Pose) -> [[f64; 4]; 4] {
    let [x, y, z] = DMat3::from_quat(pose.rotation).to_cols_array_2d();
    let p = pose.position;
    [[x[0], x[1], x[2], 0.0], [y[0], y[1], y[2], 0.0], [z[0], z[1], z[2], 0.0], [p.x, p.y, p.z, 1.0]]
}
