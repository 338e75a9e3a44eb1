//! Motions that go back in time, jump, lack their files or come twice.

use crate::rules::{Faults, Rule, short, written};
use crate::scene::place::Place;
use crate::scene::{Keyframe, Mannequin, MeshBody, Sequence};

/// No body moves faster: cloth that it meets has to give way within a sub-step [m/s].
pub const FASTEST_BODY: f64 = 100.0;
/// The most files that a sequence may have.
const MOST_FILES: u32 = 10_000;

pub(super) fn check_times(keyframes: &[Keyframe], place: Place, faults: &mut Faults) {
    check_later(keyframes.iter().map(|keyframe| keyframe.time), place.key("keyframe"), faults);
}

/// The items of a list each have a later time than the one before.
fn check_later(times: impl Iterator<Item = f64> + Clone, list: Place, faults: &mut Faults) {
    for (index, (before, after)) in times.clone().zip(times.skip(1)).enumerate() {
        if after <= before {
            let detail = format!(", at {} s", short(before));
            let remedy = "put them in order, each at its own time";
            faults.report(
                Rule::TimeNotLater,
                list.item(index + 1).key("time"),
                short(after),
                &detail,
                remedy,
            );
        }
    }
}

/// A body that jumps would meet cloth everywhere on its way at once.
pub(super) fn check_speed(keyframes: &[Keyframe], place: Place, faults: &mut Faults) {
    let list = place.key("keyframe");
    for (index, pair) in keyframes.windows(2).enumerate() {
        let [before, after] = pair else { continue };
        let [x, y, z]: [f64; 3] = std::array::from_fn(|k| after.shift[k] - before.shift[k]);
        let (far, time) = ((x * x + y * y + z * z).sqrt(), after.time - before.time);
        if time > 0.0 && far > FASTEST_BODY * time {
            let detail =
                format!(": {} m at {:.0} m/s, where {FASTEST_BODY} is the most", short(far), far / time);
            let remedy = "give it more time, or place the body where it is needed from the start";
            faults.report(Rule::TooFast, list.item(index + 1).key("move"), "", &detail, remedy);
        }
    }
}

/// A sequence needs a name with room for numbers, and numbers that go up.
pub(super) fn check_sequence(mesh: &MeshBody, place: Place, faults: &mut Faults) {
    let Some(sequence) = &mesh.sequence else { return };
    if mesh.digits() == 0 {
        let remedy = "write `#` for each digit, all together: `walk-###.obj`";
        faults.report(
            Rule::NoNumberSigns,
            place.key("file"),
            written(&mesh.file.as_str().into()),
            "",
            remedy,
        );
    }
    let (place, Sequence { first, last, .. }) = (place.key("sequence"), sequence);
    if last < first {
        let detail = format!(", {first}");
        faults.report(Rule::LastBeforeFirst, place.key("last"), last, &detail, "exchange the two");
    } else if last - first >= MOST_FILES {
        let detail = format!(": {}, where {MOST_FILES} is the most", u64::from(last - first) + 1);
        faults.report(Rule::TooManyFiles, place.key("last"), last, &detail, "write fewer, and lower `rate`");
    }
}

/// A body deforms in one way.
pub(super) fn check_motions(mesh: &MeshBody, place: Place, faults: &mut Faults) {
    let ways = [
        ("sequence", mesh.sequence.is_some()),
        ("animation", mesh.animation.is_some()),
        ("cache", mesh.cache.is_some()),
    ];
    check_one_way(&ways, place, faults);
}

/// So does a mannequin, and its poses come one after the other.
pub(super) fn check_acts(mannequin: &Mannequin, place: Place, faults: &mut Faults) {
    let Mannequin { walk, pose, dance, .. } = mannequin;
    check_one_way(
        &[("walk", walk.is_some()), ("pose", !pose.is_empty()), ("dance", dance.is_some())],
        place,
        faults,
    );
    check_later(pose.iter().map(|posing| posing.time), place.key("pose"), faults);
}

fn check_one_way(ways: &[(&str, bool)], place: Place, faults: &mut Faults) {
    let mut given = ways.iter().filter(|(_, given)| *given);
    let Some((first, _)) = given.next() else { return };
    for (name, _) in given {
        let detail = format!(" beside `{first}`");
        faults.report(Rule::SeveralMotions, place.key(name), "{ .. }", &detail, "keep one of them");
    }
}
