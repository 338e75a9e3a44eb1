//! Plots, one below the other, as SVG.

use super::axis::Axis;
use super::{Plot, Stroke};
use std::fmt::Write;

/// Of the page.
const WIDTH: f64 = 480.0;
/// Of the frame that lines are drawn in.
const FRAME: [f64; 4] = [68.0, 40.0, 398.0, 190.0];
/// Of plain text; at 390 pixels of width it is still 10 pixels high.
const FONT: f64 = 13.0;
/// Colours that remain apart for colour-blind readers (Okabe & Ito 2008, yellow darkened).
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#7f3c8d", "#444444"];
/// Points of a line before it is thinned to what the page can show.
const MOST_POINTS: usize = 1000;

/// All plots on one page.
pub fn page(plots: &[Plot]) -> String {
    let mut body = String::new();
    let mut top = 0.0;
    for plot in plots {
        top += panel(&mut body, plot, top);
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {top}\" width=\"{}\" height=\"{}\" \
         font-family=\"system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif\" font-size=\"{FONT}\" fill=\"#222\">\n\
         <rect width=\"{WIDTH}\" height=\"{top}\" fill=\"#fff\"/>\n{body}</svg>\n",
        1.5 * WIDTH,
        1.5 * top
    )
}

/// Draws one plot and returns how high it is.
fn panel(body: &mut String, plot: &Plot, top: f64) -> f64 {
    let points = || plot.lines.iter().flat_map(|line| &line.points);
    let levels = plot.levels.iter().map(|level| level.y);
    let x = Axis::over(points().map(|p| p[0]), plot.log_x, true);
    let y = Axis::over(points().map(|p| p[1]).chain(levels), plot.log_y, false);
    let mut inner = String::new();
    let legend = legend(&mut inner, plot);
    let frame_top = FRAME[1] + legend;
    let place = Frame { x, y, top: frame_top };
    grid(&mut inner, plot, &place);
    for level in &plot.levels {
        if let Some([_, at]) = place.at_height(level.y) {
            let (left, right) = (FRAME[0], FRAME[0] + FRAME[2]);
            let _ = writeln!(
                inner,
                "<path d=\"M{left} {at:.1}H{right}\" stroke=\"#c0182b\" stroke-width=\"1.4\" stroke-dasharray=\"7 4\"/>"
            );
        }
    }
    for line in &plot.lines {
        let colour = COLOURS[line.colour % COLOURS.len()];
        draw_line(&mut inner, &place.pieces(&line.points), line.stroke, colour);
    }
    let height = frame_top + FRAME[3] + 50.0;
    let _ = writeln!(body, "<g transform=\"translate(0 {top})\">\n{inner}</g>");
    height
}

/// Where numbers lie on the page.
struct Frame {
    x: Axis,
    y: Axis,
    top: f64,
}

impl Frame {
    fn at(&self, [x, y]: [f64; 2]) -> Option<[f64; 2]> {
        let [_, down] = self.at_height(y)?;
        Some([FRAME[0] + FRAME[2] * self.x.place(x)?, down])
    }

    fn at_height(&self, y: f64) -> Option<[f64; 2]> {
        Some([FRAME[0], self.top + FRAME[3] * (1.0 - self.y.place(y)?)])
    }

    /// Unbroken runs of points on the page. Of many points in one column of the page the first, lowest, highest and last
    /// stay: they look the same.
    fn pieces(&self, points: &[[f64; 2]]) -> Vec<Vec<[f64; 2]>> {
        let placed: Vec<Option<[f64; 2]>> = points.iter().map(|p| self.at(*p)).collect();
        let runs = placed.split(Option::is_none).filter(|run| !run.is_empty());
        let thin = |run: &[Option<[f64; 2]>]| {
            let run: Vec<[f64; 2]> = run.iter().copied().flatten().collect();
            if run.len() <= MOST_POINTS {
                return run;
            }
            let columns = run.chunk_by(|a, b| a[0].floor() == b[0].floor());
            columns.flat_map(extremes).collect()
        };
        runs.map(thin).collect()
    }
}

fn extremes(column: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let by_height = |a: &&[f64; 2], b: &&[f64; 2]| a[1].total_cmp(&b[1]);
    let ends =
        [column.first(), column.iter().min_by(by_height), column.iter().max_by(by_height), column.last()];
    let mut kept: Vec<[f64; 2]> = ends.into_iter().flatten().copied().collect();
    kept.dedup();
    kept
}

/// Frame, ticks, labels and title.
fn grid(out: &mut String, plot: &Plot, place: &Frame) {
    let [left, _, width, height] = FRAME;
    let (top, bottom, right) = (place.top, place.top + height, left + width);
    for (y, text) in place.y.ticks() {
        if let Some([_, at]) = place.at_height(y) {
            let _ = writeln!(out, "<path d=\"M{left} {at:.1}H{right}\" stroke=\"#e4e6e9\"/>");
            let _ = writeln!(
                out,
                "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
                left - 6.0,
                at + 4.5
            );
        }
    }
    for (x, text) in place.x.ticks() {
        if let Some(t) = place.x.place(x) {
            let at = left + width * t;
            let _ = writeln!(out, "<path d=\"M{at:.1} {top}V{bottom}\" stroke=\"#e4e6e9\"/>");
            let _ = writeln!(
                out,
                "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{text}</text>",
                bottom + 17.0
            );
        }
    }
    let _ = writeln!(out, "<path d=\"M{left} {top}V{bottom}H{right}\" fill=\"none\" stroke=\"#666\"/>");
    let (middle, centre) = (left + 0.5 * width, top + 0.5 * height);
    let _ = writeln!(
        out,
        "<text x=\"{left}\" y=\"24\" font-size=\"16\" font-weight=\"600\">{}</text>\n\
         <text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n\
         <text transform=\"translate(14 {centre}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        escape(&plot.title),
        bottom + 36.0,
        escape(&plot.x_label),
        escape(&plot.y_label)
    );
}

fn draw_line(out: &mut String, pieces: &[Vec<[f64; 2]>], stroke: Stroke, colour: &str) {
    let dashes = match stroke {
        Stroke::Dashed => " stroke-dasharray=\"6 4\"",
        Stroke::Dotted => " stroke-dasharray=\"1.5 3.5\"",
        _ => "",
    };
    for piece in pieces {
        if stroke != Stroke::Marks {
            let mut path = String::new();
            for (i, [x, y]) in piece.iter().enumerate() {
                let _ = write!(path, "{}{x:.1} {y:.1}", if i == 0 { "M" } else { "L" });
            }
            let _ = writeln!(
                out,
                "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\" stroke-linejoin=\"round\" \
                 stroke-linecap=\"round\"{dashes}/>"
            );
        }
        // A point alone has no length to be seen by.
        if matches!(stroke, Stroke::Marked | Stroke::Marks) || piece.len() == 1 {
            for [x, y] in piece {
                let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>");
            }
        }
    }
}

/// Names of lines and levels under the title, in as many rows as they need; returns the height of the further rows.
fn legend(out: &mut String, plot: &Plot) -> f64 {
    let lines = plot.lines.iter().filter(|line| !line.name.is_empty());
    let lines = lines.map(|line| (line.name.as_str(), COLOURS[line.colour % COLOURS.len()], line.stroke));
    let levels = plot.levels.iter().map(|level| (level.name.as_str(), "#c0182b", Stroke::Dashed));
    let (mut x, mut y, mut any) = (FRAME[0], 42.0, false);
    for (name, colour, stroke) in lines.chain(levels) {
        let name = shortened(name);
        let width = 30.0 + 0.56 * FONT * name.chars().count() as f64;
        if any && x + width > WIDTH - 8.0 {
            (x, y) = (FRAME[0], y + 18.0);
        }
        let middle = y - 4.5;
        let shown = match stroke {
            Stroke::Marks | Stroke::Marked => vec![vec![[x + 9.0, middle]]],
            _ => vec![vec![[x, middle], [x + 18.0, middle]]],
        };
        draw_line(out, &shown, stroke, colour);
        let _ = writeln!(out, "<text x=\"{}\" y=\"{y}\">{}</text>", x + 23.0, escape(&name));
        x += width + 10.0;
        any = true;
    }
    if any { y - 30.0 } else { 0.0 }
}

/// A name that fits into one row.
fn shortened(name: &str) -> String {
    const MOST: usize = 48;
    if name.chars().count() <= MOST {
        return name.into();
    }
    name.chars().take(MOST - 1).chain(['…']).collect()
}

fn escape(text: &str) -> String {
    let legal = text.chars().filter(|c| !c.is_control());
    legal.fold(String::new(), |mut out, c| {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
        out
    })
}
