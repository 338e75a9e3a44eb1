//! Certificates on a thread of their own: always of the newest frame, so that the simulation never waits for one.

use serde_json::{Value, json};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::Arc;
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
    exhibits: SyncSender<Exhibit>,
    findings: Receiver<Finding>,
}

impl Certifier {
    /// Starts the thread; it ends when this is dropped.
    pub fn start() -> Self {
        // One is looked at, and one more lies ready for each of two sides.
        let (exhibits, waiting) = sync_channel::<Exhibit>(2);
        let (found, findings) = sync_channel(8);
        thread::spawn(move || {
            for Exhibit { shape, side, frame, model, state } in waiting {
                let told = told(frame, model.tolerance, &check::certify(&model, &state));
                if found.send(Finding { shape, side, told }).is_err() {
                    return;
                }
            }
        });
        Self { exhibits, findings }
    }

    /// Hands a state in, unless the thread is busy; says whether it was taken. The state is copied only then.
    pub fn hand_in(&self, exhibit: Exhibit) -> bool {
        !matches!(self.exhibits.try_send(exhibit), Err(TrySendError::Full(_)))
    }

    /// What has been found since.
    pub fn found(&self) -> impl Iterator<Item = Finding> {
        self.findings.try_iter()
    }
}

/// A model with no more than what the check reads.
pub fn for_the_check(model: &Model) -> Arc<Model> {
    let mut model = model.clone();
    (model.springs, model.bends) = Default::default();
    (model.mass, model.inverse_mass, model.material) = Default::default();
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
