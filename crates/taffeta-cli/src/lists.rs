//! What there is: scenes, methods, fabrics, and the keys of a scene file.

use crate::{Ending, Failure};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use taffeta_bench::figures;
use taffeta_bench::tell::tell;
use taffeta_io::{arcsim, catalogue, scene_file};
use taffeta_scene::{Method, Preset, presets};

/// Lists the built-in scenes.
#[derive(clap::Args)]
pub struct Scenes {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Scenes {
    /// Prints them.
    pub fn run(&self) -> Result<Ending, Failure> {
        print_pairs(catalogue::scenes().iter().map(|scene| (scene.name, scene.title())), "title", self.json)
    }
}

/// Lists the methods that move the cloth.
#[derive(clap::Args)]
pub struct Methods {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Methods {
    /// Prints them.
    pub fn run(&self) -> Result<Ending, Failure> {
        print_pairs(Method::ALL.iter().map(|method| (method.name(), method.about())), "about", self.json)
    }
}

/// Lists the built-in fabrics with their numbers and where these come from.
#[derive(clap::Args)]
pub struct Fabrics {
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Print instead the fabric of a material file of ARCSim, as a table for a scene.
    #[arg(long, value_name = "FILE.json", conflicts_with = "json")]
    arcsim: Option<PathBuf>,
}

/// A file that holds no fabric.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", path.display())]
struct NoFabric {
    path: PathBuf,
    why: String,
}

impl Fabrics {
    /// Prints them.
    pub fn run(&self) -> Result<Ending, Failure> {
        if let Some(path) = &self.arcsim {
            return print_material(path);
        }
        if self.json {
            return print_json(presets().iter().map(fabric_json).collect());
        }
        let presets = presets();
        tell(
            "            mass  stretch: warp     weft     bias  bending: warp   weft  twist  thickness  friction",
        )?;
        tell(
            "            g/m²            N/m      N/m      N/m         µN·m   µN·m   µN·m         mm         1",
        )?;
        for Preset { name, fabric, .. } in &presets {
            tell(format_args!(
                "{name:10} {:>5} {:>14} {:>8} {:>8} {:>12} {:>6} {:>6.1} {:>10} {:>9}",
                fabric.density,
                fabric.warp,
                fabric.weft,
                fabric.bias,
                fabric.bending_warp,
                fabric.bending_weft,
                fabric.twist(),
                fabric.thickness,
                fabric.friction
            ))?;
        }
        for Preset { name, about, source, .. } in &presets {
            tell(format_args!("\n{name}: {about}\n{}", wrapped(source, 100)))?;
        }
        Ok(Ending::Done)
    }
}

/// The table of a material, with what its rows span beside the numbers.
fn print_material(path: &Path) -> Result<Ending, Failure> {
    let fault = |why| Failure::input(NoFabric { path: path.into(), why });
    let text = std::fs::read_to_string(path).map_err(|error| fault(error.to_string()))?;
    let numbers = arcsim::fabric(&text).map_err(fault)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    tell(format_args!("[fabrics.{name:?}]\nbase = \"cotton\" # for thickness, friction and damping"))?;
    for (key, arcsim::Spanned { value, span: [low, high] }) in numbers {
        let span = if low < high { format!(" # {} to {}", figures(low), figures(high)) } else { "".into() };
        tell(format_args!("{key} = {}{span}", figures(value)))?;
    }
    Ok(Ending::Done)
}

/// Every number with its unit in its name, as the report does.
fn fabric_json(preset: &Preset) -> Value {
    let Preset { name, about, source, fabric } = preset;
    json!({
        "name": name,
        "about": about,
        "density_g_m2": fabric.density,
        "warp_n_m": fabric.warp,
        "weft_n_m": fabric.weft,
        "bias_n_m": fabric.bias,
        "bending_warp_un_m": fabric.bending_warp,
        "bending_weft_un_m": fabric.bending_weft,
        "bending_twist_estimated_un_m": fabric.twist(),
        "bending_hysteresis_mn": fabric.bending_hysteresis,
        "shear_hysteresis_n_m": fabric.shear_hysteresis,
        "tensile_resilience_percent": fabric.tensile_resilience,
        "thickness_mm": fabric.thickness,
        "friction": fabric.friction,
        "damping_ms": fabric.damping,
        "bending_damping_ms": fabric.bending_damping,
        "colour": fabric.colour,
        "source": source,
    })
}

/// Prints the JSON Schema of the scene file.
#[derive(clap::Args)]
pub struct Schema {
    /// Print the scene reference for people instead: every key with its unit, range, default and meaning.
    #[arg(long)]
    markdown: bool,
}

impl Schema {
    /// Prints it.
    pub fn run(&self) -> Result<Ending, Failure> {
        if self.markdown {
            tell(scene_file::reference_markdown().trim_end())?;
            return Ok(Ending::Done);
        }
        print_json(taffeta_scene::schema().clone())
    }
}

fn print_pairs(
    pairs: impl Iterator<Item = (&'static str, &'static str)> + Clone,
    about: &str,
    as_json: bool,
) -> Result<Ending, Failure> {
    if as_json {
        return print_json(pairs.map(|(name, words)| json!({ "name": name, about: words })).collect());
    }
    let width = pairs.clone().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, words) in pairs {
        tell(format_args!("{name:width$}  {words}"))?;
    }
    Ok(Ending::Done)
}

fn print_json(value: Value) -> Result<Ending, Failure> {
    tell(format_args!("{value:#}"))?;
    Ok(Ending::Done)
}

/// Text in lines of at most `width` characters, set in by two.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines = vec![String::from(" ")];
    for word in text.split_whitespace() {
        if lines.last().is_some_and(|line| line.chars().count() + 1 + word.chars().count() > width) {
            lines.push(" ".into());
        }
        if let Some(line) = lines.last_mut() {
            *line = format!("{line} {word}");
        }
    }
    lines.join("\n")
}
