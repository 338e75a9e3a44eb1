//! Certificates on a thread of their own: always of the newest frame, so that the simulation never waits for one. Where there are no threads they are made
//! in between.

use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use taffeta::check::{self, Certificate};
use taffeta::model::{Model, State};
use web_time::Instant;

/// From one certificate to the next at least this while it plays: a search costs as much as a step.
const EVERY: Duration = Duration::from_millis(200);
/// Where there are no threads, this many times what the last one took: a sixth of the time.
const REST: u32 = 5;

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

/// Who certifies.
pub struct Certifier {
    /// The way to the thread, where there can be one.
    exhibits: Option<Sender<Exhibit>>,
    found: Sender<Finding>,
    findings: Receiver<Finding>,
    /// Handed in and not found yet.
    under_way: usize,
    /// What is to pass before the next one while it plays.
    pub pause: Duration,
}

impl Certifier {
    /// Starts the thread; it ends when this is dropped.
    pub fn start() -> Self {
        let (found, findings) = channel();
        let exhibits = (!cfg!(target_family = "wasm")).then(|| {
            let (exhibits, waiting) = channel::<Exhibit>();
            let found = found.clone();
            let work = move || waiting.iter().try_for_each(|exhibit| found.send(exhibit.certified()));
            // Without the thread nothing is certified, and pages say so.
            let _ = std::thread::Builder::new().name("certifier".into()).spawn(work);
            exhibits
        });
        Self { exhibits, found, findings, under_way: 0, pause: EVERY }
    }

    /// Whether all that was handed in has been looked at.
    pub fn is_free(&self) -> bool {
        self.under_way == 0
    }

    /// Hands a state in.
    pub fn hand_in(&mut self, exhibit: Exhibit) {
        let handed_in = match &self.exhibits {
            Some(exhibits) => exhibits.send(exhibit).is_ok(),
            None => {
                let begun = Instant::now();
                let found = self.found.send(exhibit.certified()).is_ok();
                self.pause = EVERY.max(REST * begun.elapsed());
                found
            }
        };
        self.under_way += usize::from(handed_in);
    }

    /// What has been found since.
    pub fn found(&mut self) -> Vec<Finding> {
        let found: Vec<Finding> = self.findings.try_iter().collect();
        self.under_way -= found.len();
        found
    }
}

impl Exhibit {
    fn certified(self) -> Finding {
        let Self { shape, side, frame, model, state } = self;
        Finding { shape, side, told: told(frame, model.tolerance, &check::certify(&model, &state)) }
    }
}

/// A model with no more than what the check reads.
pub fn for_the_check(model: &Model) -> Arc<Model> {
    let mut model = model.clone();
    (model.springs, model.bends, model.twists) = Default::default();
    (model.membranes, model.plates) = Default::default();
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
