//! `taffeta bench papers`: every experiment of the five papers, what they publish beside what we measure.

mod parts;
mod pictures;

use super::{Common, repeat};
use crate::BenchError;
use crate::measure::machine;
use crate::table::Table;
use crate::tell::tell;
use serde_json::{Value, json};

/// Repeats the experiments of P1 to P5 and makes a page of them: tables with the published figures, plots, pictures.
///
/// Every table is one `taffeta bench` command, which stands below it. Published figures are those of the papers' machines and are
/// never divided by ours. With --quick sizes and frames are small: the page is made to be looked at, in two minutes.
#[derive(clap::Args)]
pub struct Args {
    /// Leave out the pictures.
    #[arg(long)]
    no_pictures: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Runs all experiments.
pub fn measure(args: &Args) -> Result<Table, BenchError> {
    let mut all = Table { title: Some("The experiments of the papers"), ..Table::default() };
    let threads = match args.common.threads.is_empty() {
        true => up_to(machine::cores()),
        false => args.common.threads.clone(),
    };
    for part in parts::parts(args.common.quick, &threads) {
        let mut rows = Vec::new();
        let mut section = (part.section)();
        for command in &part.commands {
            tell(format_args!("\n== {} : taffeta bench {command}", section.title))?;
            let table = repeat(command)?;
            all.failed |= table.failed;
            section.plots.extend(table.plots);
            rows.extend(table.rows);
        }
        section.commands = part.commands.iter().map(|command| format!("taffeta bench {command}")).collect();
        all.rows.extend(rows.iter().map(|row| named(part.name, row)));
        section.plots.extend((part.plots)(&rows));
        section.rows = (part.shown)(&rows);
        if !args.no_pictures {
            tell(format_args!("pictures"))?;
            machine::pool(threads.last().copied())?
                .install(|| pictures::add(part.name, args.common.quick, &mut section))?;
        }
        all.page.push(section);
    }
    Ok(all)
}

/// 1, 2, 4 ... and the number itself.
fn up_to(most: usize) -> Vec<usize> {
    let doubled = std::iter::successors(Some(1), |n| Some(2 * n)).take_while(|n| *n < most);
    doubled.chain([most]).collect()
}

/// A row that tells which experiment it is of.
fn named(name: &str, row: &Value) -> Value {
    let mut all = json!({ "experiment": name });
    if let (Some(all), Some(row)) = (all.as_object_mut(), row.as_object()) {
        all.extend(row.clone());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_double_up_to_the_machine_s() {
        assert_eq!(up_to(1), [1]);
        assert_eq!(up_to(6), [1, 2, 4, 6]);
        assert_eq!(up_to(8), [1, 2, 4, 8]);
    }

    #[test]
    fn all_commands_are_understood() {
        for quick in [false, true] {
            for part in parts::parts(quick, &[1, 2, 4]) {
                for command in &part.commands {
                    let words = std::iter::once("bench").chain(command.split_whitespace());
                    let parsed = <crate::experiments::Alone as clap::Parser>::try_parse_from(words);
                    assert!(
                        parsed.is_ok(),
                        "{command}: {}",
                        parsed.err().map_or(String::new(), |e| e.to_string())
                    );
                }
            }
        }
    }
}
