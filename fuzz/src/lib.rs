//! What every mesh and every pattern that a reader accepts must hold to.

use taffeta_scene::build::import::{NO_PARTICLE, import};
use taffeta_scene::{MeshShape, Panel, UpAxis};
use taffeta_io::mesh::{MeshFaults, MeshFile};

/// Asserts that a mesh that was read is sound, and that it can be made ready to be cloth or is refused.
pub fn judge(read: Result<MeshFile, MeshFaults>) {
    let file = match read {
        Ok(file) => file,
        Err(faults) => return assert!(faults.count > 0 && !faults.to_string().is_empty()),
    };
    let mesh = &file.mesh;
    let points = mesh.positions.len();
    let corners = mesh.triangles.as_flattened().iter().chain(mesh.quads.as_flattened());
    assert!(corners.chain(mesh.lines.as_flattened()).all(|i| (*i as usize) < points));
    assert!(mesh.positions.iter().all(|p| p.is_finite()));
    assert!(mesh.material.is_empty() || mesh.material.len() == points);
    assert!(mesh.material.iter().flatten().all(|c| c.is_finite()));
    for weld in [0.0, 0.01] {
        let shape = MeshShape { file: String::new(), scale: 1.0, up: UpAxis::Z, weld };
        let cloth = import(mesh, &shape);
        assert_eq!(cloth.particle_of.len(), points);
        let known = |p: &u32| *p == NO_PARTICLE || (*p as usize) < cloth.mesh.positions.len();
        assert!(cloth.particle_of.iter().all(known));
        if let Err(problems) = cloth.mesh.topology() {
            assert!(!problems.is_empty());
        }
    }
}

/// Asserts that a drawing that was read has panels with finite points, or was refused with a reason.
pub fn judge_pattern(read: Result<serde_json::Value, String>) {
    match read {
        Ok(pattern) => {
            let panels: Vec<Panel> = serde_json::from_value(pattern["panel"].clone()).expect("panels");
            assert!(!panels.is_empty());
            let points = panels.iter().flat_map(|panel| panel.edge.iter().map(|edge| edge.to));
            assert!(points.flatten().all(f64::is_finite));
        }
        Err(reason) => assert!(!reason.is_empty()),
    }
}
