//! Pictures of small scenes: the same bytes on any number of threads, and the right colours in the right places.

use crate::common::{sheet, view};
use taffeta::math::{DVec3, Pose, trig};
use taffeta::model::{PosedShape, Shape};
use taffeta_render::{
    BodyView, Camera, ClothView, Image, Picture, Quality, RenderError, Scale, SceneView, Values, colour,
    render,
};

fn small() -> Picture {
    Picture { width: 96, height: 64, ..Picture::default() }
}

/// Straight down from 3 m above the origin.
fn from_above() -> Picture {
    let camera = Camera { position: DVec3::new(0.0, 3.0, 0.0), target: DVec3::ZERO, field_of_view: 40.0 };
    Picture { width: 80, height: 80, camera: Some(camera), ..Picture::default() }
}

fn body(shape: Shape, position: DVec3) -> BodyView<'static> {
    BodyView::Shape(PosedShape { shape, pose: Pose { position, ..Pose::IDENTITY } })
}

/// How bright a pixel is, 0..255.
fn brightness(image: &Image, x: u32, y: u32) -> u32 {
    let [r, g, b] = image.pixel(x, y).unwrap();
    (u32::from(r) + u32::from(g) + u32::from(b)) / 3
}

#[test]
fn the_bytes_are_the_same_on_one_two_and_three_threads() {
    let cloth = sheet(12, 1.0, |u, v| DVec3::new(u, 0.3 + 0.1 * (u * v - u * u), v));
    let mut scene = view(&cloth);
    scene.bodies.push(body(Shape::Sphere { radius: 0.25 }, DVec3::ZERO));
    scene.bodies.push(body(Shape::Box { half_size: DVec3::splat(0.2) }, DVec3::new(0.6, -0.2, 0.0)));
    scene.ground = Some(-0.5);
    for quality in [Quality::Preview, Quality::Final] {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            // Higher than a band, so that bands meet inside the picture.
            let picture = Picture {
                width: 64,
                height: if quality == Quality::Preview { 250 } else { 40 },
                quality,
                ..small()
            };
            pool.install(|| render(&scene, &picture).unwrap())
        };
        let one = on(1);
        assert!(one == on(2) && one == on(3), "{quality:?}");
    }
}

#[test]
fn a_red_cloth_on_a_grey_floor_throws_a_shadow() {
    let cloth = sheet(4, 0.6, |u, v| DVec3::new(u, 0.5, v));
    let mut scene = view(&cloth);
    scene.cloths[0].colour = colour::from_hex("#c01010").unwrap();
    scene.ground = Some(0.0);
    let image = render(&scene, &from_above()).unwrap();
    let [r, g, b] = image.pixel(40, 40).unwrap();
    assert!(r > 150 && g < 80 && b < 80, "the cloth is {r} {g} {b}");
    let corner = image.pixel(2, 2).unwrap();
    assert!(corner.iter().all(|c| c.abs_diff(corner[0]) < 12), "the floor is {corner:?}");
    let darkest = (0..6400).map(|i| (i % 80, i / 80)).filter(|(x, y)| {
        let [r, g, _] = image.pixel(*x, *y).unwrap();
        r.abs_diff(g) < 30
    });
    let darkest = darkest.map(|(x, y)| brightness(&image, x, y)).min().unwrap();
    assert!(2 * darkest < brightness(&image, 2, 2) * 3 / 2, "the darkest floor is {darkest}");
    assert!(darkest > 20, "the shadow is black");
}

#[test]
fn both_sides_are_lit_and_the_back_is_darker() {
    let up = sheet(3, 2.0, |u, v| DVec3::new(u, 0.0, v));
    let down = sheet(3, 2.0, |u, v| DVec3::new(-u, 0.0, v));
    let mid = |cloth| brightness(&render(&view(cloth), &from_above()).unwrap(), 40, 40);
    let (front, back) = (mid(&up), mid(&down));
    let (front, back) = (front.max(back), front.min(back));
    assert!(back < front - 5 && back > front / 2, "front {front}, back {back}");
}

#[test]
fn a_flat_cloth_has_no_acne_and_no_holes() {
    let cloth = sheet(30, 4.0, |u, v| DVec3::new(u, 0.0, v));
    let mut scene = view(&cloth);
    scene.cloths[0].material = &[];
    let image = render(&scene, &from_above()).unwrap();
    let all: Vec<u32> = (0..6400).map(|i| brightness(&image, i % 80, i / 80)).collect();
    let (low, high) = (all.iter().min().unwrap(), all.iter().max().unwrap());
    assert!(high - low < 8, "a plain cloth runs from {low} to {high}");
}

#[test]
fn a_coarse_bent_cloth_shades_smoothly_across_its_triangles() {
    // Four cells round 160 degrees of a tube: flat shading would jump, and where light grazes, triangles would shade each other.
    let bend = |u: f64, v: f64| DVec3::new(0.7 * trig::sin(1.4 * u), 0.7 * trig::cos(1.4 * u), v);
    let cloth = sheet(5, 2.0, bend);
    let mut scene = view(&cloth);
    scene.cloths[0].material = &[];
    let image = render(&scene, &Picture { width: 240, height: 240, ..from_above() }).unwrap();
    let row: Vec<u32> = (52..197).map(|x| brightness(&image, x, 120)).collect();
    let jump = row.windows(3).map(|w| w[0].abs_diff(w[2])).max().unwrap();
    let run = row.iter().max().unwrap() - row.iter().min().unwrap();
    assert!(jump < 9 && run > 60, "jumps by {jump} in {run}: {row:?}");
}

#[test]
fn values_and_groups_have_their_colours() {
    let cloth = sheet(2, 4.0, |u, v| DVec3::new(u, 0.0, v));
    let hue = |image: &Image, x, y| {
        let [r, g, b] = image.pixel(x, y).unwrap().map(f32::from);
        let most = r.max(g).max(b);
        [r / most, g / most, b / most]
    };
    let near = |a: [f32; 3], b: [f32; 3]| {
        let most = b[0].max(b[1]).max(b[2]);
        a.iter().zip(b).all(|(x, y)| (x - y / most).abs() < 0.15)
    };
    let mut scene = view(&cloth);
    scene.cloths[0].values = Some(Values::TriangleGroups(&[0, 1]));
    let image = render(&scene, &from_above()).unwrap();
    let (one, other) = (hue(&image, 20, 20), hue(&image, 60, 60));
    let expected = [colour::category(0), colour::category(1)];
    let right = (near(one, expected[0]) && near(other, expected[1]))
        || (near(one, expected[1]) && near(other, expected[0]));
    assert!(right, "{one:?} {other:?}, not {expected:?}");

    let values = [1.0, f64::NAN];
    scene.cloths[0].values = Some(Values::Triangles(&values));
    let image = render(&scene, &from_above()).unwrap();
    let colours = [hue(&image, 20, 20), hue(&image, 60, 60)];
    assert!(
        colours.iter().any(|c| near(*c, colour::viridis(0.0))),
        "of one value alone, the first: {colours:?}"
    );
    assert!(colours.iter().any(|c| near(*c, [1.0; 3])), "not a number is grey: {colours:?}");
    scene.cloths[0].values = Some(Values::Particles(&[1.0, 1.0, 1.0, 1.0]));
    let scale = Scale { title: "t".into(), unit: String::new(), low: 0.0, high: 1.0 };
    let image = render(&scene, &Picture { scale: Some(scale), ..from_above() }).unwrap();
    assert!(near(hue(&image, 60, 8), colour::viridis(1.0)), "{:?}", image.pixel(60, 8));
    let groups = [0, 0, 3, 3];
    scene.cloths[0].values = Some(Values::ParticleGroups(&groups));
    assert!(render(&scene, &small()).is_ok());
}

#[test]
fn the_legend_is_in_the_corner_only_when_asked_for() {
    let cloth = sheet(2, 1.0, |u, v| DVec3::new(u, 0.0, v));
    let values = [0.0, 0.5, 1.0, 2.0];
    let mut scene = view(&cloth);
    scene.cloths[0].values = Some(Values::Particles(&values));
    let picture = Picture { width: 320, height: 200, ..Picture::default() };
    let plain = render(&scene, &picture).unwrap();
    let scale = Scale { title: "strain".into(), unit: "%".into(), low: 0.0, high: 2.0 };
    let with = render(&scene, &Picture { scale: Some(scale), ..picture }).unwrap();
    let white = |image: &Image| image.data.chunks_exact(3).filter(|c| c.iter().all(|b| *b > 210)).count();
    assert!(white(&with) > white(&plain) + 60, "{} white pixels, {} without", white(&with), white(&plain));
    assert_eq!(with.pixel(310, 5), plain.pixel(310, 5));
}

#[test]
fn broken_numbers_make_no_black_pixels() {
    let mut cloth = sheet(8, 1.0, |u, v| DVec3::new(u, 0.2 * u * v, v));
    cloth.positions[9] = DVec3::NAN;
    cloth.positions[20] = cloth.positions[21];
    cloth.positions[40] = DVec3::splat(1e300);
    let mut scene = view(&cloth);
    scene.bodies.push(body(Shape::Sphere { radius: f64::NAN }, DVec3::ZERO));
    scene.bodies.push(body(Shape::Plane, DVec3::NAN));
    scene.ground = Some(-0.5);
    let camera = Camera { position: DVec3::new(1.0, 1.0, 2.0), target: DVec3::ZERO, field_of_view: 35.0 };
    let image = render(&scene, &Picture { camera: Some(camera), ..small() }).unwrap();
    assert!(image.data.chunks_exact(3).all(|c| c != [0, 0, 0]));
}

#[test]
fn framing_finds_the_cloth_by_itself_and_an_empty_scene_is_a_picture_too() {
    let far = DVec3::new(5000.0, 300.0, -2000.0);
    let cloth = sheet(6, 1.0, |u, v| far + DVec3::new(u, v, 0.3 * u));
    let mut scene = view(&cloth);
    scene.cloths[0].colour = [0.0, 0.5, 0.0];
    let image = render(&scene, &small()).unwrap();
    let green = image.data.chunks_exact(3).filter(|c| c[1] / 2 > c[0].max(c[2])).count();
    assert!(green > 800, "{green} of 6144 pixels are cloth");
    let empty = SceneView { ground: Some(0.0), ..SceneView::default() };
    assert!(render(&empty, &small()).is_ok());
}

#[test]
fn a_mesh_body_looks_like_the_solid_it_approximates() {
    // A box of twelve triangles against the closed form: creases must not be shaded round.
    let corner = |i: usize| DVec3::new([-0.4, 0.4][i & 1], [-0.4, 0.4][i >> 1 & 1], [-0.4, 0.4][i >> 2]);
    let positions: Vec<DVec3> = (0..8).map(corner).collect();
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles: Vec<[u32; 3]> =
        quads.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
    let mesh = BodyView::Mesh { positions: &positions, triangles: &triangles };
    let solid = body(Shape::Box { half_size: DVec3::splat(0.4) }, DVec3::ZERO);
    let camera = Camera { position: DVec3::new(1.5, 1.2, 2.0), target: DVec3::ZERO, field_of_view: 30.0 };
    let take = |body| {
        let scene = SceneView { bodies: vec![body], ground: Some(-0.4), ..SceneView::default() };
        render(&scene, &Picture { camera: Some(camera), ..small() }).unwrap()
    };
    let (a, b) = (take(mesh), take(solid));
    let differ = a.data.iter().zip(&b.data).filter(|(a, b)| a.abs_diff(**b) > 12).count();
    assert!(differ < a.data.len() / 100, "{differ} of {} bytes differ", a.data.len());
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let cloth = sheet(3, 1.0, |u, v| DVec3::new(u, v, 0.0));
    let refused = |scene: &SceneView, picture: &Picture| render(scene, picture).unwrap_err().to_string();
    let mut scene = view(&cloth);
    scene.cloths[0].positions = &cloth.positions[..5];
    assert!(refused(&scene, &small()).contains("only 5 points"));
    let mut scene = view(&cloth);
    scene.cloths[0].values = Some(Values::Triangles(&[1.0]));
    assert!(refused(&scene, &small()).contains("1 values of triangles were given, 8 are needed"));
    let scene = view(&cloth);
    for (width, height) in [(0, 10), (10, 0), (1 << 20, 1 << 20)] {
        assert!(matches!(
            render(&scene, &Picture { width, height, ..small() }),
            Err(RenderError::Size { .. })
        ));
    }
    for (position, field_of_view) in
        [(DVec3::ZERO, 30.0), (DVec3::NAN, 30.0), (DVec3::X, 0.0), (DVec3::X, 180.0)]
    {
        let camera = Some(Camera { position, target: DVec3::ZERO, field_of_view });
        assert!(matches!(render(&scene, &Picture { camera, ..small() }), Err(RenderError::Camera { .. })));
    }
    let triangles = [[0, 1, 9]];
    let body = BodyView::Mesh { positions: &cloth.positions, triangles: &triangles };
    let scene = SceneView { bodies: vec![body], ..SceneView::default() };
    assert!(refused(&scene, &small()).contains("body 0: triangle 0"));
    let unused = ClothView { triangles: &[], ..view(&cloth).cloths[0] };
    assert!(render(&SceneView { cloths: vec![unused], ..SceneView::default() }, &small()).is_ok());
}
