"""Scenes from names, files, dicts and arrays; the certificate of anybody's frames."""

from types import SimpleNamespace

import numpy as np
import pytest
import taffeta


def grid(n, height=1.0):
    x, z = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, -1, n))
    vertices = np.stack([x.ravel(), np.full(n * n, height), z.ravel()], axis=1)
    k = np.arange(n * n).reshape(n, n)
    quads = np.stack([k[:-1, :-1], k[:-1, 1:], k[1:, 1:], k[1:, :-1]], axis=-1).reshape(-1, 4)
    return vertices, quads


def cube(size):
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * size / 2
    faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    return corners, faces


def test_a_scene_is_the_same_from_a_name_a_file_and_a_dict(tmp_path):
    scene = taffeta.Scene("hang", frames=3)
    (tmp_path / "hang.toml").write_text(scene.to_toml())
    hashes = {taffeta.Simulation(source).state_hash for source in (scene, tmp_path / "hang.toml", dict(scene), "hang")}
    assert len(hashes) == 1
    scene.set("cloth[0].sheet.rows", 7)
    scene["solver"]["tolerance"] = np.float64(0.02)
    sim = taffeta.Simulation(scene)
    assert sim.particles == 7 * 50 and sim.tolerance == 0.02 and sim.scene["cloth"][0]["sheet"]["rows"] == 7
    assert "hang" in repr(scene) and "hang" in taffeta.scenes() and "silk" in taffeta.fabrics()
    assert "impulse-strips" in taffeta.methods() and taffeta.schema()["properties"]["frames"]


def test_cloth_and_bodies_come_from_arrays():
    vertices, quads = grid(21)
    corners, faces = cube(0.6)
    scene = taffeta.Scene(frames=12)
    scene.add_cloth(vertices, quads, fabric="cotton", position=[-0.5, 0.31 - 1.0, 0.5])
    scene.add_collider(corners, faces, name="cube", friction=0.4)
    sim = taffeta.Simulation(scene)
    assert sim.particles == 441 and sim.colliders == ["cube"] and sim.cloths == [("cloth 0", 0, 441)]
    for frame in sim.run():
        assert frame.certificate.intersections == 0
    middle = sim.positions[220]
    assert middle[1] > 0.29 and sim.positions[:, 1].min() < 0.2, "it lies on the cube and hangs over its sides"
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    same = taffeta.Scene()
    same.add_cloth(SimpleNamespace(vertices=vertices, faces=triangles))
    assert taffeta.Simulation(same).triangles.shape == (800, 3)


def test_a_body_moves_from_moment_to_moment():
    vertices, quads = grid(11)
    corners, faces = cube(0.4)
    moments = np.stack([corners + [0.5, 0.75 + 0.02 * k, -0.5] for k in range(11)])
    scene = taffeta.Scene(frames=10)
    scene.add_cloth(vertices, quads)
    scene.add_collider(moments, faces, rate=30, thickness=0.002)
    sim = taffeta.Simulation(scene, gravity=[0, 0, 0])
    last = [frame for frame in sim.run()][-1]
    assert last.certificate.intersections == 0
    assert sim.positions[60, 1] > 1.1, "it is lifted by the cube, whose top ends at 1.15 m"


def test_seams_are_sewn():
    vertices, quads = grid(5)
    shifted = vertices + [1.2, 0, 0]
    lines = [[4 + 5 * k, 25 + 5 * k] for k in range(5)]
    scene = taffeta.Scene(gravity=[0, 0, 0])
    scene.add_cloth(np.concatenate([vertices, shifted]), np.concatenate([quads, quads + 25]), lines=lines, sewing=0.5)
    sim = taffeta.Simulation(scene)
    for _ in sim.run(60):
        pass
    apart = np.linalg.norm(sim.positions[[a for a, _ in lines]] - sim.positions[[b for _, b in lines]], axis=1)
    assert apart.max() < 2e-3


@pytest.mark.parametrize("wrong, words", [
    (lambda scene: scene.add_cloth([[0, 0, 0]]), "no surface"),
    (lambda scene: scene.add_cloth([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]]), "shape"),
    (lambda scene: scene.add_cloth(cube(1)[0], [[0, 1, 2, 3, 4]]), "corners"),
    (lambda scene: scene.add_collider(np.zeros((2, 8, 3)), cube(1)[1]), "rate"),
])
def test_arrays_that_are_no_surface_are_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        wrong(taffeta.Scene())


def test_surfaces_that_are_no_cloth_are_refused_with_their_key():
    scene = taffeta.Scene()
    scene.add_cloth([[0, 0, 0], [1, 0, 0], [0, 0, 1]], [[0, 1, 7]])
    with pytest.raises(taffeta.SceneError, match=r"cloth\[0\].*"):
        taffeta.Simulation(scene)


def test_frames_of_anybody_are_certified():
    vertices, quads = grid(9)
    stretched = vertices * [1.1, 1, 1]
    folded = vertices.copy()
    folded[:, 1] += 0.3 * np.abs(folded[:, 0] - 0.5)
    first, second = taffeta.check(np.stack([vertices, stretched]), quads, tolerance=0.05)
    assert first.holds and first.max_strain < 1e-12
    assert not second.holds and second.max_strain == pytest.approx(0.1) and second.cloth_cloth == 0
    assert taffeta.check(stretched, quads, rest=vertices)[0].max_strain == pytest.approx(0.1)
    crossing = np.concatenate([vertices, vertices[:, [1, 0, 2]]])
    both = np.concatenate([quads, quads + 81])
    assert taffeta.check(crossing, both)[0].cloth_cloth > 0
    mesh = SimpleNamespace(vertices=vertices, faces=quads)
    assert taffeta.check([mesh, SimpleNamespace(vertices=folded, faces=quads)])[1].max_strain > 0.01
    with pytest.raises(ValueError, match="one cloth"):
        taffeta.check(vertices[None], quads, rest=np.concatenate([vertices, [[9, 9, 9]]]))
    with pytest.raises(TypeError, match="arrays"):
        taffeta.check("frames.obj")
