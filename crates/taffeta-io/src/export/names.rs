//! Names as a format can write them: the user's own letters where it allows them, and each name once.

use super::Format;
use std::collections::BTreeSet;

/// The most characters of a name.
const LONGEST: usize = 100;

/// The names that are taken in a file.
pub(super) struct Names {
    format: Format,
    taken: BTreeSet<String>,
}

impl Names {
    /// None yet.
    pub fn new(format: Format) -> Names {
        Names { format, taken: BTreeSet::new() }
    }

    /// A name of its own for what the user calls `name`. Who has no name goes by a place such as `cloth[0]`: `cloth_0`.
    pub fn take(&mut self, name: &str) -> String {
        let plain = name.replace('[', "_").replace(']', "");
        let mut base: String = plain.chars().take(LONGEST).map(|c| self.allowed(c).unwrap_or('_')).collect();
        if self.format.has_identifiers() && !base.starts_with(|c| c == '_' || unicode_ident::is_xid_start(c))
        {
            base.insert(0, '_');
        }
        if base.is_empty() {
            base.push('_');
        }
        let mut numbered = (2..).map(|k| format!("{base}_{k}"));
        let mut unique = base.clone();
        while !self.taken.insert(unique.clone()) {
            unique = numbered.next().unwrap_or_default();
        }
        unique
    }

    /// The character, if it may stand in a name.
    fn allowed(&self, c: char) -> Option<char> {
        let fits = match self.format {
            format if format.has_identifiers() => unicode_ident::is_xid_continue(c),
            // Any text at all.
            Format::Gltf => !c.is_control(),
            // A slash goes from parent to child.
            Format::Alembic => !c.is_control() && c != '/',
            // A space ends a name.
            _ => !c.is_control() && !c.is_whitespace(),
        };
        fits.then_some(c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(format: Format, names: &[&str]) -> Vec<String> {
        let mut all = Names::new(format);
        names.iter().map(|name| all.take(name)).collect()
    }

    #[test]
    fn names_are_unique_and_keep_their_letters_where_the_format_allows_them() {
        let names = ["flag", "flag", "2 flags", "", "flag_2", "größe", "布/a", "cloth[0]"];
        assert_eq!(
            taken(Format::Usd, &names),
            ["flag", "flag_2", "_2_flags", "_", "flag_2_2", "größe", "布_a", "cloth_0"]
        );
        assert_eq!(
            taken(Format::Gltf, &names),
            ["flag", "flag_2", "2 flags", "_", "flag_2_2", "größe", "布/a", "cloth_0"]
        );
        assert_eq!(taken(Format::Alembic, &["布/a b\n"]), ["布_a b_"]);
        assert_eq!(taken(Format::Obj, &["布 a\nf 1"]), ["布_a_f_1"]);
    }
}
