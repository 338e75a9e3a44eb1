//! The built-in scenes and patterns: the files of `scenes/`, carried in the program.

/// A built-in scene or pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltIn {
    /// Its name, that of its file without the ending.
    pub name: &'static str,
    /// Its text, TOML.
    pub text: &'static str,
}

impl BuiltIn {
    /// What it shows, in one line: the scene's own title.
    pub fn title(&self) -> &'static str {
        let title = |line: &'static str| line.strip_prefix("title = \"")?.strip_suffix('"');
        self.text.lines().find_map(title).unwrap_or_default()
    }
}

macro_rules! built_in {
    (in $folder:literal: $($name:literal),* $(,)?) => {
        &[$(BuiltIn { name: $name, text: include_str!(concat!("../../../scenes/", $folder, $name, ".toml")) }),*]
    };
}

/// All built-in patterns of garments, in alphabetical order.
pub fn patterns() -> &'static [BuiltIn] {
    built_in!(in "patterns/": "circle-dress", "collar-shirt", "hoodie", "jacket", "pleated-skirt", "skirt", "t-shirt", "tee", "trousers")
}

/// All built-in scenes, in alphabetical order.
pub fn scenes() -> &'static [BuiltIn] {
    built_in!(in "":
        "balloon",
        "cage",
        "capsules",
        "catch",
        "crumple",
        "crush",
        "curtain",
        "curtain-gusts",
        "disc",
        "drape",
        "drape-box",
        "dress",
        "edge",
        "flag",
        "flag-calm",
        "flag-pole",
        "flag-storm",
        "flag-wind",
        "hammock",
        "hang",
        "hoodie",
        "jelly",
        "knot-ribbon",
        "layers",
        "mannequin",
        "needle",
        "objects",
        "pile",
        "pleats",
        "ring",
        "shirt",
        "skirt-spin",
        "spin",
        "sponge",
        "sponge-stairs",
        "stack",
        "suit",
        "tablecloth",
        "tablecloth-pull",
        "trampoline",
        "tube",
        "twist",
        "wash",
        "whip",
        "wring",
    )
}
