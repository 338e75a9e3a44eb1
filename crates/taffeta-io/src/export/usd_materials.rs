//! Materials of a USD layer: colours of fabrics, the weave, or colours of the points themselves.

use super::subject::{GREY, Piece, Subject};
use super::weave;
use std::io::{self, Write};

/// The scope that materials lie in, and the material of all bodies that only move.
pub(super) const MATERIALS: &str = "Materials";
pub(super) const BODIES: &str = "Bodies";
/// Roughness of all materials [1].
pub(super) const ROUGHNESS: f64 = 0.8;

/// A material of every piece, and one of all bodies that only move.
pub(super) fn write_materials(
    out: &mut impl Write,
    subject: &Subject,
    picture: Option<&str>,
    coloured: bool,
) -> io::Result<()> {
    writeln!(out, "    def Scope \"{MATERIALS}\"\n    {{")?;
    let woven = |piece: &Piece| picture.filter(|_| subject.weaves(piece));
    let pieces = subject
        .pieces
        .iter()
        .map(|piece| (piece.name.as_str(), piece.colour, woven(piece), coloured && piece.is_cloth));
    let others = !(subject.colliders.is_empty() && subject.skinned.is_empty());
    let bodies = others.then_some((BODIES, GREY, None, false));
    for (name, colour, woven, coloured) in pieces.chain(bodies) {
        let [r, g, b] = colour.map(|c| c as f32);
        let diffuse = match woven {
            Some(_) => format!(".connect = </World/{MATERIALS}/{name}/weave.outputs:rgb>"),
            None if coloured => format!(".connect = </World/{MATERIALS}/{name}/colours.outputs:result>"),
            None => format!(" = ({r}, {g}, {b})"),
        };
        write!(
            out,
            r#"        def Material "{name}"
        {{
            token outputs:surface.connect = </World/{MATERIALS}/{name}/surface.outputs:surface>
            def Shader "surface"
            {{
                uniform token info:id = "UsdPreviewSurface"
                color3f inputs:diffuseColor{diffuse}
                float inputs:roughness = {ROUGHNESS}
                token outputs:surface
            }}
"#
        )?;
        if let Some(picture) = woven {
            write_weave(out, name, colour, picture)?;
        }
        if coloured {
            write!(
                out,
                r#"            def Shader "colours"
            {{
                uniform token info:id = "UsdPrimvarReader_float3"
                string inputs:varname = "displayColor"
                float3 outputs:result
            }}
"#
            )?;
        }
        writeln!(out, "        }}")?;
    }
    out.write_all(b"    }\n")
}

/// Writes how a picture of the weave, which repeats, gets its colour.
fn write_weave(out: &mut impl Write, name: &str, colour: [f64; 3], picture: &str) -> io::Result<()> {
    let [r, g, b] = weave::brightened(colour).map(|c| c as f32);
    let (at, repeats) = (format!("/World/{MATERIALS}/{name}"), weave::REPEATS);
    write!(
        out,
        r#"            def Shader "coordinates"
            {{
                uniform token info:id = "UsdPrimvarReader_float2"
                string inputs:varname = "st"
                float2 outputs:result
            }}
            def Shader "threads"
            {{
                uniform token info:id = "UsdTransform2d"
                float2 inputs:in.connect = <{at}/coordinates.outputs:result>
                float2 inputs:scale = ({repeats}, {repeats})
                float2 outputs:result
            }}
            def Shader "weave"
            {{
                uniform token info:id = "UsdUVTexture"
                asset inputs:file = @{picture}@
                float4 inputs:scale = ({r}, {g}, {b}, 1)
                token inputs:sourceColorSpace = "sRGB"
                float2 inputs:st.connect = <{at}/threads.outputs:result>
                token inputs:wrapS = "repeat"
                token inputs:wrapT = "repeat"
                float3 outputs:rgb
            }}
"#
    )
}
