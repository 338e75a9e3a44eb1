//! Faults of a scene, each with the line it stands in underlined.

use crate::certificate::counted;
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, Report};
use std::io::IsTerminal;
use taffeta::scene::Fault;
use taffeta_io::scene_file::{LocatedFault, SceneFaults};

/// Faults that only showed when the scene was built, where no text is at hand to point into.
pub fn when_built(origin: &str, faults: Vec<Fault>) -> SceneFaults {
    let faults = faults.into_iter().map(Into::into).collect();
    SceneFaults { origin: origin.into(), text: String::new(), faults }
}

/// Lines longer than this are not drawn [bytes].
const LONGEST_LINE: usize = 500;

/// All faults at once, as they are shown on stderr.
pub fn shown(faults: &SceneFaults) -> String {
    let sets = faults.faults.iter().filter_map(|fault| fault.from_command_line.as_deref());
    if faults.text.lines().chain(sets).any(|line| line.len() > LONGEST_LINE) {
        // Plain text clips long lines; a picture would fill the screen with them.
        return format!("{faults}{}", counted(faults.faults.len(), "fault"));
    }
    let terminal = std::io::stderr().is_terminal();
    let theme = match (terminal, std::env::var_os("NO_COLOR")) {
        (true, None) => GraphicalTheme::unicode(),
        (true, Some(_)) => GraphicalTheme::unicode_nocolor(),
        (false, _) => GraphicalTheme::none(),
    };
    let handler = GraphicalReportHandler::new_themed(theme).with_links(false).with_width(110);
    let mut text = String::new();
    for fault in &faults.faults {
        let report = report(faults, fault);
        // A `String` takes everything; a fault that cannot be drawn is told in plain words.
        if handler.render_report(&mut text, report.as_ref()).is_err() {
            text += &fault.fault.to_string();
        }
        text += "\n";
    }
    text + &counted(faults.faults.len(), "fault")
}

fn report(faults: &SceneFaults, located: &LocatedFault) -> Report {
    let fault = &located.fault;
    let subject = match (fault.key.as_str(), fault.value.as_str()) {
        (key, "") => key.to_string(),
        ("", value) => value.to_string(),
        (key, value) => format!("{key} = {value}"),
    };
    let about = |head: &str| MietteDiagnostic::new(head).with_help(fault.remedy.clone());
    let underlined = |span: std::ops::Range<usize>, name: &str, text: String| {
        let label = LabeledSpan::at(span, fault.reason.clone());
        Report::new(about(&subject).with_label(label)).with_source_code(NamedSource::new(name, text))
    };
    // What came from the command line is underlined there, as if that were a file.
    match (&located.from_command_line, &located.span) {
        (Some(set), _) => underlined(0..6 + set.len(), "command line", format!("--set {set}")),
        (None, Some(span)) => underlined(span.clone(), &faults.origin, faults.text.clone()),
        (None, None) => Report::new(about(format!("{subject} {}", fault.reason).trim_start())),
    }
}
