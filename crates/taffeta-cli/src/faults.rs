//! Faults of a scene, each with the line it stands in underlined.

use crate::certificate::counted;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::io::IsTerminal;
use taffeta_io::scene_file::{LocatedFault, SceneFaults};

/// Lines longer than this are not drawn [bytes].
const LONGEST_LINE: usize = 500;

/// All faults at once, as they are shown on stderr.
pub fn shown(faults: &SceneFaults) -> String {
    let sets = faults.faults.iter().filter_map(|fault| fault.from_command_line.as_deref());
    if faults.text.lines().chain(sets).any(|line| line.len() > LONGEST_LINE) {
        // Plain text clips long lines; a picture would fill the screen with them.
        return format!("{faults}{}", counted(faults.faults.len(), "fault"));
    }
    let renderer = match (std::io::stderr().is_terminal(), std::env::var_os("NO_COLOR")) {
        (true, None) => Renderer::styled(),
        _ => Renderer::plain(),
    };
    let mut text = String::new();
    for fault in &faults.faults {
        text += &drawn(&renderer, faults, fault);
        text += "\n\n";
    }
    text + &counted(faults.faults.len(), "fault")
}

/// A fault with the place where it stands, its reason below it and the remedy after it.
fn drawn(renderer: &Renderer, faults: &SceneFaults, located: &LocatedFault) -> String {
    let fault = &located.fault;
    let subject = match (fault.key.as_str(), fault.value.as_str()) {
        (key, "") => key.to_string(),
        ("", value) => value.to_string(),
        (key, value) => format!("{key} = {value}"),
    };
    let set = located.from_command_line.as_ref().map(|set| format!("--set {set}"));
    // What came from the command line is underlined there, as if that were a file.
    let place = match (&set, &located.span) {
        (Some(set), _) => Some((0..set.len(), "command line", set.as_str())),
        (None, Some(span)) => Some((span.clone(), faults.origin.as_str(), faults.text.as_str())),
        (None, None) => None,
    };
    let remedy = Level::HELP.message(&fault.remedy);
    let report = match place {
        Some((span, path, source)) => {
            let underlined = AnnotationKind::Primary.span(span).label(&fault.reason);
            let source = Snippet::source(source).path(path).annotation(underlined);
            Level::ERROR.primary_title(subject).element(source).element(remedy)
        }
        None => {
            let told = format!("{subject} {}", fault.reason);
            Level::ERROR.primary_title(told.trim_start().to_string()).element(remedy)
        }
    };
    renderer.render(&[report])
}
