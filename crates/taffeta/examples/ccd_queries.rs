//! Answers files of continuous collision queries with known truth: `ccd_queries [--separation METRES] FILE...`
//!
//! A line has id, source, scene, kind (vf or ee), expected (0 or 1), time of the first contact, least distance, class, whether all is exact in
//! single precision, then 24 coordinates: four points at the start, four at the end. The last line of the output is one JSON object.

use std::process::ExitCode;
use std::time::{Duration, Instant};
use taffeta::collide::ccd::distance::PairKind;
use taffeta::collide::ccd::time_of_impact::{TimeOfImpact, time_of_impact};
use taffeta::math::DVec3;

/// One query with its truth.
pub struct Query {
    /// Point and triangle, or two edges.
    pub kind: PairKind,
    /// The first contact, if there is one; closed sets, so touching counts [1].
    pub contact: Option<f64>,
    /// The least distance during the motion [m].
    pub least_distance: f64,
    /// Points at the start [m].
    pub from: [DVec3; 4],
    /// Points at the end [m].
    pub to: [DVec3; 4],
}

/// The queries of a file; the first line that cannot be read is told.
pub fn read(path: &str) -> Result<Vec<Query>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let lines = (1..).zip(text.lines()).skip(1).filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(number, line)| query(line).map_err(|what| format!("{path}:{number}: {what}"))).collect()
}

fn query(line: &str) -> Result<Query, String> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let [_, _, _, kind, expected, contact, least, _, _, coordinates @ ..] = &fields[..] else {
        return Err(format!("{} fields, needs 33", fields.len()));
    };
    let number = |field: &&str| field.parse::<f64>().map_err(|error| format!("'{field}': {error}"));
    let coordinates: Vec<f64> = coordinates.iter().map(number).collect::<Result<_, _>>()?;
    let points: Vec<DVec3> = coordinates.chunks_exact(3).map(DVec3::from_slice).collect();
    let (Some((from, to)), 24) = (points.split_first_chunk::<4>(), coordinates.len()) else {
        return Err(format!("{} coordinates, needs 24", coordinates.len()));
    };
    Ok(Query {
        kind: match *kind {
            "vf" => PairKind::PointTriangle,
            "ee" => PairKind::EdgeEdge,
            other => return Err(format!("kind '{other}', needs vf or ee")),
        },
        contact: match *expected {
            "0" => None,
            "1" => Some(number(contact)?),
            other => return Err(format!("expected '{other}', needs 0 or 1")),
        },
        least_distance: number(least)?,
        from: *from,
        to: to.try_into().map_err(|_| "points are missing")?,
    })
}

/// How answers compare with the truth.
#[derive(Default)]
pub struct Tally {
    /// All queries.
    pub queries: usize,
    /// Queries with a contact.
    pub hits: usize,
    /// Contacts that were called free.
    pub misses: usize,
    /// Meetings where there is no contact.
    pub false_positives: usize,
    /// Those of them that stay further apart than ten times the separation.
    pub far_false_positives: usize,
    /// Meetings told after the first contact.
    pub late: usize,
    /// Time of all answers.
    pub time: Duration,
}

impl Tally {
    /// Answers all queries.
    pub fn add(&mut self, queries: &[Query], separation: f64) {
        let started = Instant::now();
        let answers: Vec<TimeOfImpact> =
            queries.iter().map(|q| time_of_impact(q.kind, &q.from, &q.to, separation)).collect();
        self.time += started.elapsed();
        self.queries += queries.len();
        for (query, answer) in queries.iter().zip(answers) {
            self.hits += usize::from(query.contact.is_some());
            match (query.contact, answer) {
                (Some(_), TimeOfImpact::Free) => self.misses += 1,
                (Some(contact), TimeOfImpact::At(time)) => self.late += usize::from(time > contact),
                (None, TimeOfImpact::At(_)) => {
                    self.false_positives += 1;
                    let far = query.least_distance > 10.0 * separation;
                    self.far_false_positives += usize::from(far);
                }
                (None, TimeOfImpact::Free) => {}
            }
        }
    }

    fn ns_per_query(&self) -> f64 {
        self.time.as_nanos() as f64 / self.queries.max(1) as f64
    }
}

fn main() -> ExitCode {
    let mut separation = 1e-6;
    let mut total = Tally::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--separation" {
            let given = arguments.next().and_then(|value| value.parse().ok());
            let Some(metres) = given.filter(|metres: &f64| *metres >= 0.0) else {
                eprintln!("--separation needs a number of metres, 0 or more");
                return ExitCode::FAILURE;
            };
            separation = metres;
            continue;
        }
        let queries = match read(&argument) {
            Ok(queries) => queries,
            Err(fault) => {
                eprintln!("{fault}");
                return ExitCode::FAILURE;
            }
        };
        let mut file = Tally::default();
        file.add(&queries, separation);
        total.add(&queries, separation);
        println!(
            "{argument}: {} queries, {} hits, {} misses, {} false positives ({} further than 10 separations), {} late, {:.0} ns per query",
            file.queries,
            file.hits,
            file.misses,
            file.false_positives,
            file.far_false_positives,
            file.late,
            file.ns_per_query()
        );
    }
    println!(
        "{{ \"queries\": {}, \"hits\": {}, \"misses\": {}, \"false_positives\": {}, \"late\": {}, \"ns_per_query\": {:.1} }}",
        total.queries,
        total.hits,
        total.misses,
        total.false_positives,
        total.late,
        total.ns_per_query()
    );
    ExitCode::SUCCESS
}
