//! One page of tables, plots and pictures in one HTML file that needs nothing else.

mod picture;

pub use picture::taken;

use crate::{BenchError, figures, percent};
use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::Value;
use std::fmt::Write;
use taffeta_render::Image;
use taffeta_render::film::save;
use taffeta_render::plot::{Plot, lines_svg};

/// A part of the page.
#[derive(Default)]
pub struct Section {
    pub title: String,
    /// Paragraphs of plain text.
    pub words: Vec<String>,
    /// What repeats it.
    pub commands: Vec<String>,
    pub columns: Vec<Column>,
    /// The rows of the table, as they stand in the JSON.
    pub rows: Vec<Value>,
    pub plots: Vec<Plot>,
    pub pictures: Vec<Figure>,
}

/// A picture and what it shows.
pub struct Figure {
    words: String,
    size: (u32, u32),
    png: Vec<u8>,
}

impl Figure {
    /// A picture as bytes of PNG, which the renderer writes as a file.
    pub fn new(words: String, image: &Image) -> Result<Self, BenchError> {
        let folder = tempfile::tempdir().map_err(BenchError::picture)?;
        let path = folder.path().join("picture.png");
        save(&path, image).map_err(BenchError::picture)?;
        Ok(Self {
            words,
            size: (image.width, image.height),
            png: std::fs::read(path).map_err(BenchError::picture)?,
        })
    }
}

/// A column of a table.
pub struct Column {
    pub heading: String,
    /// The way through a row to the value, with points between keys.
    pub key: String,
    pub form: Form,
}

/// How a value is written.
#[derive(Clone, Copy, PartialEq)]
pub enum Form {
    /// Words; those of the row before are not repeated.
    Text,
    /// Words in every row.
    Plain,
    /// Words that stand to the right, as numbers do.
    Word,
    /// To three figures.
    Figures,
    /// A ratio as a percentage.
    Percent,
    /// `true` is good.
    Verdict,
    /// `3 of 4`: good if it is all of them.
    Share,
}

/// A column of numbers to three figures.
pub fn figure(heading: &str, key: &str) -> Column {
    column(heading, key, Form::Figures)
}

/// A column of words.
pub fn text(heading: &str, key: &str) -> Column {
    column(heading, key, Form::Text)
}

/// Any column.
pub fn column(heading: &str, key: &str, form: Form) -> Column {
    Column { heading: heading.into(), key: key.into(), form }
}

/// Columns of all that rows hold, in the order of the first one.
pub fn all_columns(rows: &[Value]) -> Vec<Column> {
    let Some(first) = rows.first() else { return Vec::new() };
    let form = |value: &Value| if value.is_number() { Form::Figures } else { Form::Text };
    flat(first).iter().map(|(key, value)| column(&key.replace(['_', '.'], " "), key, form(value))).collect()
}

/// All values of a row that are no tables themselves, by the way to them.
pub fn flat(row: &Value) -> Vec<(String, &Value)> {
    fn add<'a>(way: &str, value: &'a Value, all: &mut Vec<(String, &'a Value)>) {
        let below = |key: &str| if way.is_empty() { key.into() } else { format!("{way}.{key}") };
        match value {
            Value::Object(map) => map.iter().for_each(|(key, value)| add(&below(key), value, all)),
            Value::Array(list) => {
                list.iter().enumerate().for_each(|(i, value)| add(&below(&i.to_string()), value, all));
            }
            plain => all.push((way.into(), plain)),
        }
    }
    let mut all = Vec::new();
    add("", row, &mut all);
    all
}

/// The value that a way leads to.
pub fn at<'a>(row: &'a Value, way: &str) -> &'a Value {
    way.split('.').fold(row, |value, key| match key.parse::<usize>() {
        Ok(i) if value.is_array() => &value[i],
        _ => &value[key],
    })
}

/// The whole page.
pub fn html(title: &str, about: &[(&str, String)], sections: &[Section]) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n<style>{STYLE}</style>\n</head>\n\
         <body>\n<header>\n<h1>{}</h1>\n<dl>\n",
        escape(title),
        escape(title)
    );
    for (name, value) in about {
        let _ = writeln!(page, "<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value));
    }
    page += "</dl>\n</header>\n";
    if sections.len() > 2 {
        page += "<nav>\n";
        for (i, section) in sections.iter().enumerate() {
            let _ = writeln!(page, "<a href=\"#s{i}\">{}</a>", escape(&section.title));
        }
        page += "</nav>\n";
    }
    page += "<main>\n";
    sections.iter().enumerate().for_each(|(i, section)| add_section(&mut page, i, section));
    page + "</main>\n</body>\n</html>\n"
}

/// The words and tables of the page as Markdown, for documents.
pub fn markdown(title: &str, about: &[(&str, String)], sections: &[Section]) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let about: Vec<String> = about.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let mut page = format!("# {title}\n\n{}\n", about.join("; "));
    for section in sections {
        let commands = section.commands.iter().map(|command| format!("`{command}`"));
        let words = section.words.iter().cloned().chain(commands).collect::<Vec<_>>().join("\n\n");
        let _ = write!(page, "\n## {}\n\n{words}\n\n", section.title);
        page += &line(section.columns.iter().map(|column| column.heading.clone()).collect());
        page += &line(
            section
                .columns
                .iter()
                .map(|column| if class(column.form).is_empty() { "---" } else { "---:" }.into())
                .collect(),
        );
        for row in &section.rows {
            page +=
                &line(section.columns.iter().map(|column| cell(at(row, &column.key), column.form)).collect());
        }
    }
    page
}

fn add_section(page: &mut String, number: usize, section: &Section) {
    let _ = writeln!(page, "<section id=\"s{number}\">\n<h2>{}</h2>", escape(&section.title));
    for words in &section.words {
        let _ = writeln!(page, "<p>{}</p>", prose(words));
    }
    if !section.commands.is_empty() {
        let _ = writeln!(page, "<pre>{}</pre>", escape(&section.commands.join("\n")));
    }
    if !section.plots.is_empty() {
        *page += "<div class=\"plots\">\n";
        section.plots.iter().for_each(|plot| {
            let _ = writeln!(page, "<figure>{}</figure>", lines_svg(plot));
        });
        *page += "</div>\n";
    }
    if !section.rows.is_empty() {
        add_table(page, &section.columns, &section.rows);
    }
    if !section.pictures.is_empty() {
        *page += "<div class=\"pictures\">\n";
        section.pictures.iter().for_each(|figure| add_picture(page, figure));
        *page += "</div>\n";
    }
    *page += "</section>\n";
}

fn add_picture(page: &mut String, Figure { words, size: (width, height), png }: &Figure) {
    let (png, words) = (BASE64_STANDARD.encode(png), escape(words));
    let _ = writeln!(
        page,
        "<figure><img src=\"data:image/png;base64,{png}\" width=\"{width}\" height=\"{height}\" alt=\"{words}\">\
         <figcaption>{words}</figcaption></figure>"
    );
}

fn add_table(page: &mut String, columns: &[Column], rows: &[Value]) {
    *page += "<div class=\"table\"><table>\n<thead><tr>";
    for column in columns {
        let _ = write!(page, "<th{}>{}</th>", class(column.form), escape(&column.heading));
    }
    *page += "</tr></thead>\n<tbody>\n";
    // A word that stays the same from row to row is written once.
    let mut before: Vec<String> = Vec::new();
    for row in rows {
        let cells: Vec<String> =
            columns.iter().map(|column| cell(at(row, &column.key), column.form)).collect();
        let mut same = true;
        *page += "<tr>";
        for (i, (cell, column)) in cells.iter().zip(columns).enumerate() {
            same &= column.form == Form::Text && before.get(i) == Some(cell);
            let hidden = if same { " class=\"same\"" } else { class(column.form) };
            let verdict = match (column.form, cell.as_str()) {
                (Form::Verdict, "yes") => " class=\"good\"",
                (Form::Verdict, "NO") => " class=\"bad\"",
                (Form::Share, share) => match share.split_once(" of ") {
                    Some((some, all)) if some == all => " class=\"number good\"",
                    Some(_) => " class=\"number bad\"",
                    None => " class=\"number\"",
                },
                _ => hidden,
            };
            let _ = write!(page, "<td{verdict}>{}</td>", escape(cell));
        }
        *page += "</tr>\n";
        before = cells;
    }
    *page += "</tbody>\n</table></div>\n";
}

fn class(form: Form) -> &'static str {
    if matches!(form, Form::Word | Form::Share | Form::Figures | Form::Percent) {
        " class=\"number\""
    } else {
        ""
    }
}

/// A value as it stands in a table.
pub fn cell(value: &Value, form: Form) -> String {
    match (value, form) {
        (Value::Null, _) => "–".into(),
        (Value::Bool(good), Form::Verdict) => (if *good { "yes" } else { "NO" }).into(),
        (Value::Number(number), Form::Percent) => number.as_f64().map_or("–".into(), percent),
        (Value::Number(number), Form::Figures) => match number.as_u64() {
            Some(whole) => whole.to_string(),
            None => number.as_f64().map_or("–".into(), figures),
        },
        (Value::String(text), _) => text.clone(),
        (other, _) => other.to_string(),
    }
}

/// Words in which what stands between backticks is code, as in Markdown.
fn prose(words: &str) -> String {
    let part = |(i, part): (usize, &str)| {
        let part = escape(part);
        if i % 2 == 1 { format!("<code>{part}</code>") } else { part }
    };
    words.split('`').enumerate().map(part).collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const STYLE: &str = include_str!("page.css");

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rows_become_a_table_and_nothing_becomes_markup() {
        let rows = vec![
            json!({ "name": "a<b", "ms": { "median": 1234.5 }, "ok": true }),
            json!({ "name": "a<b", "ms": { "median": null }, "ok": false }),
        ];
        let columns =
            vec![text("name", "name"), figure("ms", "ms.median"), column("ok", "ok", Form::Verdict)];
        let words = vec!["a `b<c`".into()];
        let section = Section { title: "T & t".into(), words, columns, rows, ..Section::default() };
        let page = html("page", &[("machine", "x".into())], &[section]);
        for part in [
            "T &amp; t",
            "<p>a <code>b&lt;c</code></p>",
            "<td>a&lt;b</td><td class=\"number\">1234</td><td class=\"good\">yes</td>",
            "<td class=\"same\">a&lt;b</td><td class=\"number\">–</td><td class=\"bad\">NO</td>",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
    }

    #[test]
    fn pictures_stand_in_the_page_itself() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            let figure = Figure { words: "a \"b\"".into(), size: (3, 2), png: bytes.into() };
            let section = Section { pictures: vec![figure], ..Section::default() };
            let page = html("page", &[], &[section]);
            let image = format!(
                "<img src=\"data:image/png;base64,{text}\" width=\"3\" height=\"2\" alt=\"a &quot;b&quot;\">"
            );
            assert!(page.contains(&image), "{image} in {page}");
        }
    }

    #[test]
    fn a_page_is_told_as_markdown() {
        let rows = vec![json!({ "name": "a", "share": 0.25 })];
        let columns = vec![text("name", "name"), column("share", "share", Form::Percent)];
        let section =
            Section { title: "T".into(), columns, rows, commands: vec!["do".into()], ..Section::default() };
        let told = markdown("page", &[("date", "now".into())], &[section]);
        assert_eq!(
            told,
            "# page\n\ndate: now\n\n## T\n\n`do`\n\n| name | share |\n| --- | ---: |\n| a | 25 % |\n"
        );
    }

    #[test]
    fn values_are_found_by_their_way() {
        let row = json!({ "a": { "b": [1, 2] }, "c": "d" });
        let ways: Vec<String> = flat(&row).into_iter().map(|(way, _)| way).collect();
        assert_eq!(ways, ["a.b.0", "a.b.1", "c"]);
        assert_eq!(at(&row, "a.b.1"), 2);
        assert!(at(&row, "a.x.1").is_null());
    }
}
