//! The contact pipeline: what it need not show a second time.

use taffeta::collide::ContactPipeline;
use taffeta::math::{DVec3, random::Random};
use taffeta::model::{Environment, Model};
use taffeta_scene::build;
use taffeta_scene::{Cloth, Scene, Sheet};

/// Two sheets, one this far above the other [m].
fn sheets(apart: f64) -> (Model, Vec<DVec3>) {
    let sheet = Sheet { width: 1.0, height: 1.0, columns: 14, rows: 14, slack: 1.0 };
    let at = |y: f64| Cloth { sheet: Some(sheet.clone()), position: [0.0, y, 0.0], ..Cloth::default() };
    let scene = Scene { cloth: vec![at(0.0), at(apart)], ..Scene::default() };
    let (model, state) = build(&scene, &Default::default()).unwrap();
    (model, state.positions)
}

#[test]
fn what_is_shown_at_the_start_need_not_be_shown_at_the_end() {
    let apart = 0.03;
    let (model, start) = sheets(apart);
    let mut random = Random::new(3);
    let (mut shown, mut hits) = (0, 0);
    for case in 0..20 {
        let mut pipelines = [(); 2].map(|_| ContactPipeline::new(&model, &Environment::new(&model)).unwrap());
        let pad = pipelines[0].pad();
        // The upper sheet comes near; then points move by up to twice the pad.
        let falls = |x: &DVec3| if x.y > 0.5 * apart { 2.0 * pad - apart } else { 0.0 };
        let ways: Vec<DVec3> = start.iter().map(|x| DVec3::Y * falls(x)).collect();
        let most = 0.1 * f64::from(case) * pad;
        let moved = |x: DVec3| x + DVec3::Y * random.between(-most, most);
        let ends: Vec<DVec3> = start.iter().zip(&ways).map(|(x, way)| *x + *way).map(moved).collect();
        for pipeline in &mut pipelines {
            pipeline.begin_step();
            pipeline.begin(&model, [0.0, 0.01], |i| start[i], |i| ways[i]);
        }
        shown += pipelines[0].shown();
        // The twin shows all of it again.
        pipelines[1].forget_shown();
        let settled = pipelines.each_mut().map(|pipeline| {
            pipeline.end(|i| ends[i]);
            pipeline.resolve()
        });
        assert_eq!(settled[0], settled[1], "case {case}");
        assert_eq!(pipelines[0].ends(), pipelines[1].ends(), "case {case}");
        hits += settled[0].hits;
    }
    assert!(shown > 0 && hits > 0, "{shown} pairs were shown apart at the start, {hits} met");
}
