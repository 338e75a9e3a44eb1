//! Certificates on a thread of their own: always of the newest frame, so that the simulation never waits for one.

use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use taffeta::check::{self, Certificate};
use taffeta::model::{Model, State};

/// A state to be certified.
pub struct Exhibit {
    /// The shape that it belongs to.
    pub shape: u32,
    /// Which side it is.
    pub side: usize,
    /// Its frame.
    pub frame: u64,
    /// The model, as far as the check reads it.
    pub model: Arc<Model>,
    /// The state.
    pub state: State,
}

/// What was found of it.
pub struct Finding {
    /// The shape that it belongs to.
    pub shape: u32,
    /// Which side it is.
    pub side: usize,
    /// What the page is told.
    pub told: Value,
}

/// The thread that certifies.
pub struct Certifier {
    exhibits: Sender<Exhibit>,
    findings: Receiver<Finding>,
    /// Handed in and not found yet.
    under_way: usize,
}

impl Certifier {
    /// Starts the thread; it ends when this is dropped.
    pub fn start() -> Self {
        let (exhibits, waiting) = channel::<Exhibit>();
        let (found, findings) = channel();
        let work = move || {
            for Exhibit { shape, side, frame, model, state } in waiting {
                let told = told(frame, model.tolerance, &check::certify(&model, &state));
                if found.send(Finding { shape, side, told }).is_err() {
                    return;
                }
            }
        };
        // Without the thread nothing is certified, and pages say so.
        let _ = thread::Builder::new().name("certifier".into()).spawn(work);
        Self { exhibits, findings, under_way: 0 }
    }

    /// Whether all that was handed in has been looked at.
    pub fn is_free(&self) -> bool {
        self.under_way == 0
    }

    /// Hands a state in.
    pub fn hand_in(&mut self, exhibit: Exhibit) {
        if self.exhibits.send(exhibit).is_ok() {
            self.under_way += 1;
        }
    }

    /// What has been found since.
    pub fn found(&mut self) -> Vec<Finding> {
        let found: Vec<Finding> = self.findings.try_iter().collect();
        self.under_way -= found.len();
        found
    }
}

/// A model with no more than what the check reads.
pub fn for_the_check(model: &Model) -> Arc<Model> {
    let mut model = model.clone();
    (model.springs, model.bends) = Default::default();
    (model.mass, model.material) = Default::default();
    Arc::new(model)
}

fn told(frame: u64, tolerance: f64, certificate: &Certificate) -> Value {
    let finite = |number: f64| number.is_finite().then_some(number);
    json!({
        "frame": frame,
        "tolerance": tolerance,
        "max_strain": finite(certificate.max_strain),
        "mean_strain": finite(certificate.mean_strain),
        "cloth_cloth": certificate.cloth_cloth,
        "cloth_body": certificate.cloth_body,
        "min_gap_m": finite(certificate.min_gap),
    })
}
