//! Places in a scene, written and read.

use taffeta_scene::place::{Place, Step, spelt, steps};

#[test]
fn a_place_is_written_as_its_steps_are_read() {
    let (root, fabrics) = (Place::Root, Place::Root.key("fabrics"));
    let (cloth, silk) = (root.key("cloth"), fabrics.key("my \"best\" silk"));
    let (first, warp) = (cloth.item(12), silk.key("warp"));
    let pin = first.key("pin");
    assert_eq!(pin.to_string(), "cloth[12].pin");
    assert_eq!(
        steps(&pin.to_string()),
        Some(vec![Step::Key("cloth".into()), Step::Item(12), Step::Key("pin".into())])
    );
    assert_eq!(warp.to_string(), r#"fabrics."my \"best\" silk".warp"#);
    assert_eq!(steps(&warp.to_string()).unwrap()[1], Step::Key("my \"best\" silk".into()));
    assert_eq!(steps("cloth.12.pin"), steps("cloth[12].pin"));
    for path in ["cloth[12].pin", r#"fabrics."1".warp"#, r#"a."\u0001 x"[0][1]"#] {
        assert_eq!(spelt(&steps(path).unwrap()), path);
    }
}

#[test]
fn what_is_no_path_is_refused() {
    for text in ["", ".", "a.", ".a", "a..b", "a[", "a[x]", "a[1", "a[-1]", "a b", "a[1]b", "\"a", "a=b"] {
        assert_eq!(steps(text), None, "{text}");
    }
}
