//! The experiments of the papers as commands, with what was published and how their tables look.

use crate::page::{Column, Form, Section, column, figure, text};
use serde_json::{Value, json};
use taffeta_render::plot::{Level, Line, Plot, Stroke};

/// One table of the page.
pub struct Part {
    pub name: &'static str,
    /// What is measured: `taffeta bench` and these words.
    pub commands: Vec<String>,
    /// Title, words and columns.
    pub section: fn() -> Section,
    /// The rows as the page shows them.
    pub shown: fn(&[Value]) -> Vec<Value>,
    /// Plots besides those of the commands.
    pub plots: fn(&[Value]) -> Vec<Plot>,
}

impl Part {
    /// A table of all rows as they are.
    fn new(name: &'static str, section: fn() -> Section, commands: Vec<String>) -> Self {
        Self { name, commands, section, shown: <[Value]>::to_vec, plots: |_| Vec::new() }
    }
}

/// All tables, small if `quick`, on these numbers of threads.
pub fn parts(quick: bool, threads: &[usize]) -> Vec<Part> {
    let mut parts = inextensible(quick, threads);
    parts.extend(integrators(quick));
    parts.extend(parallel(quick, threads));
    parts.extend(contact_and_limit(quick, threads));
    parts
}

fn either<'a>(quick: bool, small: &'a str, full: &'a str) -> &'a str {
    if quick { small } else { full }
}

fn listed(list: &[usize]) -> String {
    list.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn most(threads: &[usize]) -> usize {
    threads.last().copied().unwrap_or(1)
}

/// P1 and P2.
fn inextensible(quick: bool, threads: &[usize]) -> Vec<Part> {
    let most = most(threads);
    // P1 had four cores, P2 used one.
    let four = listed(&if most > 1 { vec![1, most.min(4)] } else { vec![1] });
    let sheet = format!("hang --papers --frames {} --threads {four}", either(quick, "12", "500"));
    let falls = |scene: &str, size: &str| {
        format!("drape --scene {scene} --method impulse-strips --tolerance 0.0001 --threads {most} {size}")
    };
    let figures = vec![
        falls("drape", either(quick, "--grid 40 --frames 30", "--frames 120")),
        falls("objects", either(quick, "--frames 20", "--frames 150")),
    ];
    vec![
        Part { shown: beside_threads, ..Part::new("hang", hang, vec![sheet]) },
        Part::new("drape", drape, figures),
    ]
}

/// P3.
fn integrators(quick: bool) -> Vec<Part> {
    let grids = either(quick, "--grid 5,10,20 --frames 15", "--grid 5,10,15,20,30,40,50 --frames 150");
    let rate = format!("hang --method verlet,backward-euler,bdf2 --tolerance 0.01 --threads 1 {grids}");
    let stable = format!("stable-step --grid {}", either(quick, "5,8", "5,8,12,16,20"));
    vec![
        Part {
            shown: with_frame_rate,
            plots: |rows| vec![frame_rate_plot(rows)],
            ..Part::new("frame-rate", frame_rate, vec![rate])
        },
        Part::new("stable-step", stable_step, vec![stable]),
    ]
}

/// P4.
fn parallel(quick: bool, threads: &[usize]) -> Vec<Part> {
    let sizes = either(quick, "--particles 599,2602 --frames 6", "--particles 599,2602,3520 --frames 90");
    let (each, frames) = if quick { (599, 6) } else { (2400, 60) };
    let grow = |threads: &usize| {
        let (particles, both) =
            (each * threads, if *threads > 1 { listed(&[1, *threads]) } else { "1".into() });
        format!("flags --particles {particles} --order striped --frames {frames} --threads {both}")
    };
    vec![
        Part {
            plots: |rows| vec![speed_up_plot(rows)],
            ..Part::new("flags", flags, vec![format!("flags {sizes} --threads {}", listed(threads))])
        },
        Part::new("isoefficiency", isoefficiency, threads.iter().map(grow).collect()),
    ]
}

/// P5.
fn contact_and_limit(quick: bool, threads: &[usize]) -> Vec<Part> {
    let sheet = |size: &str| {
        format!("drape --method verlet --no-self-contact --threads {} --grid {size}", most(threads))
    };
    let sizes = vec![
        sheet(either(quick, "10 --frames 30", "10 --frames 120")),
        sheet(either(quick, "50 --frames 10", "100 --frames 120")),
    ];
    let trees =
        either(quick, "tree --triangles 1000,10000 --steps 3", "tree --triangles 1000,10000,100000,1000000");
    vec![
        Part { shown: with_frame_rate, ..Part::new("sphere", sphere, sizes) },
        Part::new("tree", tree, vec![trees.into()]),
        Part::new("limit", limit, vec![format!("limit --grid {}", either(quick, "10", "10,20,40"))]),
    ]
}

fn section(title: &str, words: &[&str], columns: Vec<Column>) -> Section {
    let words = words.iter().map(|words| (*words).to_string()).collect();
    Section { title: title.into(), words, columns, ..Section::default() }
}

fn percent(heading: &str, key: &str) -> Column {
    column(heading, key, Form::Percent)
}

fn hang() -> Section {
    section(
        "P1, P2: the hanging sheet",
        &[
            "A sheet that starts level, two neighbouring corners pinned, steps of 1/30 s, a few particles kicked. Numbers are simulated time over wall time; above 1 is faster than real time. Edges are 1 m long: neither paper gives its length, mass or stiffness, and the length decides how hard the scene is, so this is our reading of it.",
            "Published figures are of a Core 2 Quad of 2.4 GHz, P1 on four cores. “fig. 4” has pictures and no time. A capped row stops after five iterations in a step, as the papers did, and says how often the tolerance was reached all the same.",
            "Constraints: 180 for 10 × 10 up to 4900 for 50 × 50, as P2 counts them. Springs: both diagonals of every quad (322 to 9602), where P2 counts one (241 to 7201).",
        ],
        vec![
            text("method", "method"),
            column("published", "published", Form::Word),
            figure("grid", "grid"),
            percent("tolerance", "tolerance"),
            figure("most iterations", "max_iterations"),
            figure("× real time, 1 thread", "one.realtime_factor"),
            figure("threads", "more.threads"),
            figure("× real time", "more.realtime_factor"),
            figure("speed-up", "speed_up"),
            figure("CPU ms a frame", "one.ms_per_frame.cpu"),
            figure("sub-steps", "one.substeps"),
            percent("largest strain", "one.max_strain"),
            column("frames within", "within", Form::Word),
        ],
    )
}

/// One row for every cell, its threads side by side.
fn beside_threads(rows: &[Value]) -> Vec<Value> {
    let same = |a: &Value, b: &Value| {
        ["method", "grid", "tolerance", "max_iterations", "published"].iter().all(|key| a[key] == b[key])
    };
    let fewest = rows.iter().filter_map(|row| row["threads"].as_u64()).min();
    let merged = |one: &Value| {
        let more = rows.iter().rfind(|row| same(row, one)).unwrap_or(one);
        let ratio = more["realtime_factor"].as_f64().zip(one["realtime_factor"].as_f64()).map(|(a, b)| a / b);
        json!({
            "method": one["method"], "published": one["published"], "grid": one["grid"], "tolerance": one["tolerance"],
            "max_iterations": one["max_iterations"], "one": one, "more": more, "speed_up": ratio,
            "within": format!("{} of {}", one["converged_frames"], one["frames"]),
        })
    };
    rows.iter().filter(|row| row["threads"].as_u64() == fewest).map(merged).collect()
}

fn drape() -> Section {
    section(
        "P2, figures 7 and 8: collisions with friction",
        &[
            "Figure 7: a sheet falls over a sphere, friction 0.3, strain within 0.01 %, cloth meets itself. The paper shows pictures and gives no time. Intersections are counted in every frame by code that is not the solver.",
            "Figure 8: a ball, boxes and capsules fall into a sheet that hangs between two bars, and push it and one another. Strain within 0.01 % again; pictures and no time there, too. Bodies and their masses are ours.",
        ],
        vec![
            text("scene", "scene"),
            column("method", "method", Form::Plain),
            figure("particles", "particles"),
            figure("threads", "threads"),
            figure("frames", "frames"),
            figure("ms a frame", "ms_per_frame.median"),
            figure("CPU ms a frame", "ms_per_frame.cpu"),
            figure("sub-steps", "substeps"),
            percent("tolerance", "tolerance"),
            percent("largest strain", "max_strain"),
            figure("intersections", "intersections"),
            figure("contacts at the end", "contacts"),
        ],
    )
}

fn frame_rate() -> Section {
    section(
        "P3: frames per second",
        &[
            "The hanging sheet of 1 m, frames of 1/30 s, by the explicit and the implicit methods on one thread. P3 plots frames per second of Verlet against the grid, without numbers in its text and on a machine that it does not name: level as long as the video card is what takes the time, then falling fast. Ours are of stepping alone.",
        ],
        vec![
            text("method", "method"),
            figure("grid", "grid"),
            figure("frames a second", "frames_per_second"),
            figure("CPU ms a frame", "ms_per_frame.cpu"),
            figure("sub-steps", "substeps"),
            percent("largest strain", "max_strain"),
            figure("fall [s]", "fall_time_s"),
        ],
    )
}

/// Rows with the frames that a second has room for, by the median frame.
fn with_frame_rate(rows: &[Value]) -> Vec<Value> {
    let mut rows = rows.to_vec();
    for row in &mut rows {
        row["frames_per_second"] = json!(row["ms_per_frame"]["median"].as_f64().map(|ms| 1e3 / ms));
    }
    rows
}

/// Lines through the rows of every name.
fn lines(
    rows: &[Value],
    name: impl Fn(&Value) -> String,
    point: impl Fn(&Value) -> Option<[f64; 2]>,
) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for row in rows {
        let (name, Some(point)) = (name(row), point(row)) else { continue };
        match lines.iter_mut().find(|line| line.name == name) {
            Some(line) => line.points.push(point),
            None => {
                let colour = lines.len();
                lines.push(Line { name, points: vec![point], colour, stroke: Stroke::Marked });
            }
        }
    }
    lines
}

fn frame_rate_plot(rows: &[Value]) -> Plot {
    let word = |row: &Value| row["method"].as_str().unwrap_or_default().to_string();
    let point = |row: &Value| Some([row["grid"].as_f64()?, 1e3 / row["ms_per_frame"]["median"].as_f64()?]);
    Plot {
        title: "Frames per second, one thread".into(),
        x_label: "particles along a side".into(),
        y_label: "frames per second".into(),
        log_y: true,
        lines: lines(rows, word, point),
        levels: vec![Level { name: "real time".into(), y: 30.0 }],
        ..Plot::default()
    }
}

fn stable_step() -> Section {
    section(
        "P3: the largest stable step",
        &[
            "A sheet of cotton of 1 m, by bisection between 1 µs and 100 s; 100 s means that no limit was found. P3 reports that the stable step of Verlet falls almost linearly with the particles along a side, and quotes Choi and Ko for steps of up to 100 s of the implicit method.",
        ],
        vec![
            text("integrator", "integrator"),
            figure("grid", "grid"),
            figure("stable step [s]", "stable_step"),
            figure("the method's own bound [s]", "bound"),
        ],
    )
}

fn flags() -> Section {
    section(
        "P4: flags in the wind",
        &[
            "Flags of 599, 2602 and 3520 particles that are numbered at random, in a wind of 6 m/s, by backward Euler: seconds for a second of motion, speed-up and efficiency against one thread, for the three orders of particles.",
            "Published for an SGI Origin 2000 (R10000 at 250 MHz): real time for 599 particles on six processors in striped order; more than linear speed-up for 3520; striped beats recursive from three processors on.",
        ],
        vec![
            figure("particles", "particles"),
            text("order", "order"),
            figure("threads", "threads"),
            figure("s for a second", "seconds_per_second"),
            figure("ms a frame", "ms_per_frame.median"),
            figure("CPU ms a frame", "ms_per_frame.cpu"),
            figure("speed-up", "speed_up"),
            figure("efficiency", "efficiency"),
            figure("iterations in a sub-step", "iterations_per_substep"),
            figure("product GB/s", "product_gb_per_s"),
            figure("memory GB/s", "memory_gb_per_s"),
        ],
    )
}

fn speed_up_plot(rows: &[Value]) -> Plot {
    let name = |row: &Value| format!("{} {}", row["particles"], row["order"].as_str().unwrap_or_default());
    let point = |row: &Value| Some([row["threads"].as_f64()?, row["speed_up"].as_f64()?]);
    Plot {
        title: "Speed-up".into(),
        x_label: "threads".into(),
        y_label: "times as fast as one thread".into(),
        lines: lines(rows, name, point),
        ..Plot::default()
    }
}

fn isoefficiency() -> Section {
    section(
        "P4: isoefficiency",
        &["Particles grow with threads, in striped order. P4: the efficiency then stays as it is."],
        vec![
            figure("particles", "particles"),
            figure("threads", "threads"),
            figure("ms a frame", "ms_per_frame.median"),
            figure("speed-up", "speed_up"),
            figure("efficiency", "efficiency"),
        ],
    )
}

fn sphere() -> Section {
    section(
        "P5, experiment I: a sheet on a sphere",
        &[
            "Springs, Verlet, the strain limit of a tenth by priority, no self-collision. Published: 2 frames a second for 100 × 100; the machine is not named. Our frames are 1/30 s of motion each; what a frame is there is not said.",
        ],
        vec![
            figure("particles", "particles"),
            figure("threads", "threads"),
            figure("frames a second", "frames_per_second"),
            figure("CPU ms a frame", "ms_per_frame.cpu"),
            figure("sub-steps", "substeps"),
            percent("largest strain", "max_strain"),
            figure("intersections", "intersections"),
        ],
    )
}

fn tree() -> Section {
    section(
        "P5, experiment II: a tree that follows",
        &[
            "A sheet falls, rolls up and twists; trees of boxes follow it. P5's update takes moved leaves out and puts them in again where they are near; it beats Selle's once the sheet is large, says the paper. Refit keeps the tree as it is, rebuild makes a new one; `heap` is what our contact uses. Times are CPU time of one thread for each triangle.",
        ],
        vec![
            figure("triangles", "triangles"),
            text("update", "update"),
            figure("update [ns]", "update_ns"),
            figure("query after it [ns]", "query_ns"),
            figure("depth", "depth"),
            figure("pairs for each", "pairs"),
        ],
    )
}

fn limit() -> Section {
    section(
        "P5, experiment III: sweeps of the strain limit",
        &[
            "A chain and a sheet, stretched by 30 %, are shortened until no edge exceeds the limit: sweeps by halves (Selle's way) and by priority (P5's). The paper implies the comparison and gives no number.",
        ],
        vec![
            text("what", "what"),
            figure("particles along", "particles"),
            percent("limit", "limit"),
            text("way", "way"),
            figure("sweeps", "sweeps"),
            figure("time [ms]", "ms"),
            column("reached", "done", Form::Verdict),
        ],
    )
}
