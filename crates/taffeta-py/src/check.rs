//! The certificate: of a simulation, and of anybody's frames.

use crate::arrays::{points, rows};
use crate::errors::refused;
use crate::work::on_all_threads;
use numpy::{PyReadonlyArray2, PyReadonlyArray3};
use pyo3::prelude::*;
use taffeta::check::{self, self_intersections, strain};
use taffeta::math::DVec3;
use taffeta_bench::{figures, percent};
use taffeta_scene::Mesh;

/// What is certified of one state, measured by code that is not the solver.
#[pyclass(module = "taffeta", frozen, get_all)]
#[derive(Debug, Clone)]
pub struct Certificate {
    /// Largest strain of a structural edge [1].
    max_strain: f64,
    /// Mean strain of structural edges [1].
    mean_strain: f64,
    /// Pairs of cloth triangles that intersect.
    cloth_cloth: usize,
    /// Cloth triangles that cut into a collider.
    cloth_body: usize,
    /// Smallest distance between cloth and colliders, negative inside [m]; infinite without colliders.
    min_gap: f64,
    /// Largest strain that is good [1]; None where nobody asked for one.
    tolerance: Option<f64>,
}

impl Certificate {
    /// With the tolerance that it is held against.
    pub fn new(measured: check::Certificate, tolerance: Option<f64>) -> Self {
        let check::Certificate { max_strain, mean_strain, cloth_cloth, cloth_body, min_gap } = measured;
        Self { max_strain, mean_strain, cloth_cloth, cloth_body, min_gap, tolerance }
    }
}

#[pymethods]
impl Certificate {
    /// Intersections of both kinds.
    #[getter]
    fn intersections(&self) -> usize {
        self.cloth_cloth + self.cloth_body
    }

    /// Whether nothing intersects and the strain is within the tolerance, if there is one.
    #[getter]
    fn holds(&self) -> bool {
        self.intersections() == 0 && self.tolerance.is_none_or(|tolerance| self.max_strain <= tolerance)
    }

    fn __repr__(&self) -> String {
        let kept = match self.tolerance {
            Some(tolerance) if self.max_strain > tolerance => {
                format!(" (tolerance {}, MISSED)", percent(tolerance))
            }
            Some(tolerance) => format!(" (tolerance {}, held)", percent(tolerance)),
            None => String::new(),
        };
        let gap = if self.min_gap.is_finite() {
            format!(", smallest gap {} mm", figures(1e3 * self.min_gap))
        } else {
            String::new()
        };
        format!(
            "<Certificate: largest strain {}{kept}, {} cloth through cloth, {} through bodies{gap}>",
            percent(self.max_strain),
            self.cloth_cloth,
            self.cloth_body
        )
    }

    fn _repr_html_(&self) -> String {
        let colour = if self.holds() { "#2e7d32" } else { "#c62828" };
        let row = |name: &str, value: String| {
            format!("<tr><th style='text-align:left'>{name}</th><td>{value}</td></tr>")
        };
        let gap = if self.min_gap.is_finite() {
            format!("{} mm", figures(1e3 * self.min_gap))
        } else {
            "no bodies".into()
        };
        format!(
            "<table style='border-left:4px solid {colour}'>{}{}{}{}{}</table>",
            row("largest strain", percent(self.max_strain)),
            row("tolerance", self.tolerance.map_or("none".into(), percent)),
            row("cloth through cloth", self.cloth_cloth.to_string()),
            row("cloth through bodies", self.cloth_body.to_string()),
            row("smallest gap", gap),
        )
    }

    fn __reduce__(&self, py: Python) -> PyResult<Reduced> {
        let make = py.import("taffeta._taffeta")?.getattr("Certificate")?.unbind();
        Ok((
            make,
            (
                (self.max_strain, self.mean_strain, self.cloth_cloth, self.cloth_body, self.min_gap),
                self.tolerance,
            ),
        ))
    }

    #[new]
    fn made(numbers: Numbers, tolerance: Option<f64>) -> Self {
        let (max_strain, mean_strain, cloth_cloth, cloth_body, min_gap) = numbers;
        Self { max_strain, mean_strain, cloth_cloth, cloth_body, min_gap, tolerance }
    }
}

/// The numbers of a certificate, in their order.
type Numbers = (f64, f64, usize, usize, f64);
/// How it is made again, and of what.
type Reduced = (Py<PyAny>, (Numbers, Option<f64>));

/// Certifies frames `(frames, points, 3)` of a surface of triangles and quads by the lengths that its edges have at rest.
#[pyfunction]
pub fn certify(
    py: Python,
    frames: PyReadonlyArray3<f64>,
    triangles: PyReadonlyArray2<u32>,
    quads: PyReadonlyArray2<u32>,
    rest: PyReadonlyArray2<f64>,
    tolerance: Option<f64>,
) -> PyResult<Vec<Certificate>> {
    let (positions, triangles, quads) =
        (points(&rest, "rest")?, rows(&triangles, "faces")?, rows(&quads, "faces")?);
    let at_rest = Mesh { positions, triangles, quads, ..Mesh::default() };
    let topology = at_rest.topology().map_err(|problems| {
        let told: Vec<String> =
            problems.iter().map(|problem| format!("{problem}; {}", problem.remedy())).collect();
        refused(format!("the rest shape is no cloth: {}", told.join("\n")))
    })?;
    let length = |[a, b]: &[u32; 2]| at_rest.positions[*a as usize].distance(at_rest.positions[*b as usize]);
    let lengths: Vec<f64> = topology.edges.iter().map(length).collect();
    let frames = frames.as_array();
    let (_, found, width) = frames.dim();
    let count = at_rest.positions.len();
    if (found, width) != (count, 3) {
        return Err(refused(format!(
            "a frame has the shape ({found}, {width}), the rest shape ({count}, 3); all must be of one cloth"
        )));
    }
    let numbers: Vec<f64> = frames.iter().copied().collect();
    on_all_threads(py, |_| {
        let (vectors, _) = numbers.as_chunks::<3>();
        let frames = vectors.chunks(count.max(1)).map(|frame| {
            let positions: Vec<DVec3> = frame.iter().map(|v| DVec3::from(*v)).collect();
            let strain = strain(&positions, &topology.edges, &lengths);
            let measured = check::Certificate {
                max_strain: strain.max,
                mean_strain: strain.mean,
                cloth_cloth: self_intersections(&positions, &topology.triangles).len(),
                cloth_body: 0,
                min_gap: f64::INFINITY,
            };
            Certificate::new(measured, tolerance)
        });
        frames.collect()
    })
}
