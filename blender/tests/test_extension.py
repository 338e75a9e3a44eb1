"""The extension in the real Blender, without a window."""

import os
import re
import runpy
import subprocess
import sys
import sysconfig
import time
import tomllib
import zipfile
from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
import taffeta
from mathutils import Vector

from taffeta_extension import cache, collect, job, operators, panel


def sheet(size=1.2, cells=24, height=1.3, name="Sheet"):
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=cells, y_subdivisions=cells, size=size, location=(0, 0, height))
    obj = bpy.context.object
    obj.name, obj.taffeta.kind = name, "CLOTH"
    return obj


def suzanne():
    bpy.ops.mesh.primitive_monkey_add(size=1.0, location=(0, 0, 0.6))
    bpy.context.object.taffeta.kind = "COLLIDER"
    return bpy.context.object


def simulate(scene, frames):
    scene.frame_start, scene.frame_end = 1, 1 + frames
    return bpy.ops.taffeta.simulate()


def evaluated(obj, frame):
    """Vertices in the world as Blender shows them in a frame."""
    bpy.context.scene.frame_set(frame)
    seen = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = seen.to_mesh()
    points = np.array([seen.matrix_world @ v.co for v in mesh.vertices])
    seen.to_mesh_clear()
    return points


def recorded(scene, frame):
    """Positions of the recording, as Blender has its axes."""
    recording = taffeta.Recording(cache.folder_of(scene))
    return collect.to_blender(recording[frame - scene.frame_start].positions, scene.unit_settings.scale_length)


def render(path):
    scene = bpy.context.scene
    scene.render.engine, scene.cycles.samples, scene.cycles.device = "CYCLES", 8, "CPU"
    scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = 320, 240, 100
    scene.render.filepath = str(path)
    if scene.camera is None:
        bpy.ops.object.camera_add(location=(2.2, -2.6, 1.9))
        scene.camera = bpy.context.object
        scene.camera.rotation_euler = (Vector((0, 0, 0.6)) - scene.camera.location).to_track_quat("-Z", "Y").to_euler()
        bpy.ops.object.light_add(type="SUN", rotation=(0.6, 0.3, 0))
        bpy.context.object.data.energy = 4
    bpy.ops.render.render(write_still=True)


def test_a_sheet_on_suzanne_plays_after_it_is_opened_again(blend, tmp_path):
    suzanne()
    obj = sheet()
    assert simulate(blend, 20) == {"FINISHED"}
    for frame in (1, 7, 21):
        assert np.abs(evaluated(obj, frame) - recorded(blend, frame)).max() < 1e-6
    assert evaluated(obj, 21)[:, 2].min() < 0.9 < 1.0 < evaluated(obj, 21)[:, 2].max()
    told = cache.read_certificates(blend)
    assert len(told) == 21 and all(frame["good"] for frame in told) and told[-1]["words"][1] == "0 cloth through cloth, 0 through bodies"
    shown = evaluated(obj, 21)
    bpy.ops.wm.save_mainfile()
    # A farm has no extension: the modifier plays by itself.
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    again = bpy.data.objects["Sheet"]
    assert again.modifiers["Taffeta"].type == "MESH_CACHE" and again.modifiers["Taffeta"].filepath.startswith("//")
    assert np.array_equal(evaluated(again, 21), shown)
    render(tmp_path / "suzanne.png")
    pixels = np.array(bpy.data.images.load(str(tmp_path / "suzanne.png")).pixels[:]).reshape(240, 320, 4)
    assert pixels[..., :3].std() > 0.05, "something is in the picture"


def figure():
    """A trunk and two legs skinned to three bones; one leg swings."""
    armature = bpy.data.armatures.new("Bones")
    rig = bpy.data.objects.new("Rig", armature)
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bones = {}
    for name, head, tail in [("trunk", (0, 0, 1.0), (0, 0, 1.6)), ("left", (0.12, 0, 1.0), (0.12, 0, 0.1)),
                             ("right", (-0.12, 0, 1.0), (-0.12, 0, 0.1))]:
        bones[name] = armature.edit_bones.new(name)
        bones[name].head, bones[name].tail = head, tail
    bpy.ops.object.mode_set(mode="OBJECT")
    limbs = []
    for bone, radius, low, high, x in [("trunk", 0.17, 0.95, 1.6, 0), ("left", 0.085, 0.1, 1.0, 0.12), ("right", 0.085, 0.1, 1.0, -0.12)]:
        bpy.ops.mesh.primitive_cylinder_add(vertices=20, radius=radius, depth=high - low, location=(x, 0, (low + high) / 2))
        limb = bpy.context.object
        bpy.ops.object.transform_apply()
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_all(action="SELECT")
        bpy.ops.mesh.subdivide(number_cuts=3)
        bpy.ops.object.mode_set(mode="OBJECT")
        limb.vertex_groups.new(name=bone).add(range(len(limb.data.vertices)), 1.0, "REPLACE")
        limb.modifiers.new("Armature", "ARMATURE").object = limb.parent = rig
        limb.taffeta.kind = "COLLIDER"
        limbs.append(limb)
    leg = rig.pose.bones["left"]
    leg.rotation_mode = "XYZ"
    for frame, angle in [(1, 0.0), (9, 0.45), (17, -0.3)]:
        leg.rotation_euler.x = angle
        leg.keyframe_insert("rotation_euler", frame=frame)
    rig.location = (0, 0, 0)
    rig.keyframe_insert("location", frame=1)
    rig.location = (0, -0.3, 0)
    rig.keyframe_insert("location", frame=17)
    return rig, limbs


def skirt(rig):
    """A cone whose waist follows the trunk: the armature stands before the cloth."""
    bpy.ops.mesh.primitive_cone_add(vertices=40, radius1=0.42, radius2=0.2, depth=0.6, location=(0, 0, 0.95), end_fill_type="NOTHING")
    obj = bpy.context.object
    bpy.ops.object.transform_apply()
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide(number_cuts=7)
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.name, obj.taffeta.kind = "Skirt", "CLOTH"
    top = [v.index for v in obj.data.vertices if v.co.z > 1.2]
    obj.vertex_groups.new(name="waist").add(top, 1.0, "REPLACE")
    obj.vertex_groups.new(name="trunk").add(range(len(obj.data.vertices)), 1.0, "REPLACE")
    obj.taffeta.pin_group = "waist"
    obj.modifiers.new("Armature", "ARMATURE").object = obj.parent = rig
    return obj, top


def test_a_skirt_follows_a_skinned_figure_that_moves(blend, tmp_path):
    rig, _ = figure()
    obj, top = skirt(rig)
    assert simulate(blend, 16) == {"FINISHED"}
    for frame in (1, 9, 17):
        assert np.abs(evaluated(obj, frame) - recorded(blend, frame)).max() < 1e-6
    start, end = evaluated(obj, 1), evaluated(obj, 17)
    assert np.allclose((end - start)[top], [0, -0.3, 0], atol=1e-5), "the waist goes where the armature takes it"
    told = cache.read_certificates(blend)
    assert all(frame["intersections"] == 0 for frame in told)
    obj.modifiers.new("Subdivision", "SUBSURF").levels = 1
    assert len(evaluated(obj, 9)) > len(start), "modifiers behind the cache go on from it"
    bpy.context.scene.frame_set(17)
    render(tmp_path / "skirt.png")
    pixels = np.array(bpy.data.images.load(str(tmp_path / "skirt.png")).pixels[:])
    assert pixels.reshape(-1, 4)[:, :3].std() > 0.05


def test_units_scale_gravity_and_wind_are_those_of_the_scene(blend):
    blend.unit_settings.scale_length = 0.01
    blend.gravity = (0, 0, -981)
    obj = sheet(size=1.0, cells=6, height=0)
    obj.scale, obj.location = (60, 40, 1), (0, 0, 200)
    simulate(blend, 5)
    recording = taffeta.Recording(cache.folder_of(blend))
    extent = np.ptp(recording.rest_positions, axis=0)
    assert np.allclose(extent, [0.6, 0, 0.4], atol=1e-5), "metres, scale applied"
    fallen = 200 - evaluated(obj, 6)[:, 2].mean()
    assert fallen == pytest.approx(0.5 * 981 * (5 / 25) ** 2, rel=0.25), "centimetres, air and all"
    assert np.abs(evaluated(obj, 6) - recorded(blend, 6)).max() < 1e-4
    assert recording.frame_time == pytest.approx(1 / 25)
    bpy.ops.object.effector_add(type="WIND", rotation=(0, np.pi / 2, 0))
    bpy.context.object.field.strength = 12
    blend.gravity = (0, 0, 0)
    simulate(blend, 5)
    assert taffeta.Recording(cache.folder_of(blend)).scene["air"]["wind"] == pytest.approx([12, 0, 0], abs=1e-5)


def test_pins_seams_and_fabrics_arrive(blend):
    obj = sheet(cells=8)
    corners = [v.index for v in obj.data.vertices if abs(v.co.x) > 0.59 and v.co.y > 0.59]
    obj.vertex_groups.new(name="hold").add(corners, 1.0, "REPLACE")
    obj.taffeta.pin_group, obj.taffeta.use_laboratory = "hold", True
    obj.taffeta.fabric = "silk"
    obj.taffeta.density, obj.taffeta.thickness = 321.0, 0.77
    before = evaluated(obj, 1)
    simulate(blend, 5)
    fabric = taffeta.Recording(cache.folder_of(blend)).scene["fabrics"]["Sheet"]
    assert fabric["density"] == 321.0 and fabric["thickness"] == pytest.approx(0.77) and fabric["base"] == "silk"
    assert np.allclose(evaluated(obj, 6)[corners], before[corners], atol=1e-6) and evaluated(obj, 6)[:, 2].min() < 1.2
    bpy.ops.wm.read_factory_settings(use_empty=True)
    mesh = bpy.data.meshes.new("Two")
    points = [(x + 1.2 * piece, y, 1) for piece in (0, 1) for y in (0, 0.5, 1) for x in (0, 0.5, 1)]
    faces = [[9 * p + a for a in quad] for p in (0, 1) for quad in ([0, 1, 4, 3], [1, 2, 5, 4], [3, 4, 7, 6], [4, 5, 8, 7])]
    mesh.from_pydata(points, [(2, 9), (5, 12), (8, 15)], faces)
    two = bpy.data.objects.new("Two", mesh)
    bpy.context.collection.objects.link(two)
    two.taffeta.kind, two.taffeta.sewing, bpy.context.scene.use_gravity = "CLOTH", 0.4, False
    simulate(bpy.context.scene, 40)
    ends = evaluated(two, 41)
    assert np.linalg.norm(ends[[2, 5, 8]] - ends[[9, 12, 15]], axis=1).max() < 2e-3


def test_a_cancelled_or_crashed_simulation_goes_on_with_the_same_bits(blend):
    suzanne()
    sheet()
    simulate(blend, 12)
    folder = cache.folder_of(blend)
    whole, hashes = [file.read_bytes() for file in sorted(folder.glob("*.pc2"))], [f.state_hash for f in taffeta.Recording(folder)]
    file = folder / "recording.taffeta"
    file.write_bytes(file.read_bytes()[: 2 * file.stat().st_size // 3])
    for left in folder.glob("*.pc2"):
        left.unlink()
    simulate(blend, 12)
    assert [f.state_hash for f in taffeta.Recording(folder)] == hashes
    positions = [np.frombuffer(content[32:], "<f4") for content in whole]
    again = [np.frombuffer(left.read_bytes()[32:], "<f4") for left in sorted(folder.glob("*.pc2"))]
    assert all(np.abs(a - b).max() < 1e-6 for a, b in zip(positions, again))
    # A job that is told to end leaves what it has.
    worker = started(folder.with_name("other"))
    worker.cancel()
    worker.start()
    worker.join()
    assert worker.error is None and worker.done == 0 and len(taffeta.Recording(folder.with_name("other"))) == 1


def started(folder):
    """A job for what the scene holds, before its thread starts."""
    collecting = collect.collect(bpy.context)
    while True:
        try:
            next(collecting)
        except StopIteration as end:
            return job.Job(end.value, folder)


def test_cancel_ends_within_a_frame(blend, tmp_path):
    sheet(cells=40)
    # One frame of 20 s, which takes minutes.
    blend.render.fps, blend.render.fps_base, blend.taffeta.method = 1, 20.0, "verlet"
    blend.frame_start, blend.frame_end = 1, 3
    worker = started(tmp_path / "long")
    worker.start()
    while not (tmp_path / "long" / "recording.taffeta").exists():
        time.sleep(0.01)
    time.sleep(0.3)
    assert worker.is_alive()
    worker.cancel()
    worker.join(30)
    assert not worker.is_alive() and worker.error is None and worker.done == 0
    assert [frame.number for frame in taffeta.Recording(tmp_path / "long")] == [0]


def test_undo_takes_a_simulation_back_and_redo_brings_it_again(blend):
    obj = sheet(cells=6)
    obj.taffeta.kind = "NONE"
    blend.frame_start, blend.frame_end = 1, 5
    bpy.ops.ed.undo_push(message="a mesh")
    obj.taffeta.kind = "CLOTH"
    bpy.ops.ed.undo_push(message="cloth")
    assert bpy.ops.taffeta.simulate("EXEC_DEFAULT", True) == {"FINISHED"}
    shown = evaluated(obj, 5)
    # Undo reads the scene anew, so that names hold where objects do not.
    found = lambda: bpy.data.objects["Sheet"]
    bpy.ops.ed.undo()
    assert "Taffeta" not in found().modifiers and found().taffeta.kind == "CLOTH"
    bpy.ops.ed.undo()
    assert found().taffeta.kind == "NONE"
    bpy.ops.ed.redo()
    bpy.ops.ed.redo()
    assert found().modifiers["Taffeta"].type == "MESH_CACHE" and np.array_equal(evaluated(found(), 5), shown)


def test_a_thread_that_fails_does_not_pass_for_one_that_is_done(blend, monkeypatch):
    sheet(cells=4)
    monkeypatch.setattr(job.Job, "advance", lambda self, sim: {}["nothing"])
    with pytest.raises(RuntimeError, match="KeyError.*defect"):
        simulate(blend, 3)


def curves_of(action):
    """All curves of an action; Blender has them in layers from 4.4 on, and nowhere else from 5.0 on."""
    if not hasattr(action, "layers"):
        return list(action.fcurves)
    return [curve for layer in action.layers for strip in layer.strips for bag in strip.channelbags for curve in bag.fcurves]


def test_the_timeline_has_the_certificate_in_colours(blend):
    obj = sheet(cells=6)
    blend.taffeta.tolerance = 1e-6
    simulate(blend, 4)
    curves = curves_of(obj.animation_data.action)
    keys = [key for curve in curves if cache.PROPERTY in curve.data_path for key in curve.keyframe_points]
    told = cache.read_certificates(blend)
    assert len(keys) == len(told) == 5
    assert [key.type == "JITTER" for key in keys] == [frame["good"] for frame in told]
    assert [key.co.y for key in keys] == pytest.approx([100 * frame["max_strain"] for frame in told], rel=1e-5)
    assert bpy.ops.taffeta.clear() == {"FINISHED"} and "Taffeta" not in obj.modifiers


def test_what_cannot_be_simulated_is_refused_in_words(blend):
    def refused(words):
        with pytest.raises(RuntimeError, match=words):
            simulate(bpy.context.scene, 3)

    refused("nothing is cloth")
    obj = sheet(cells=3)
    obj.taffeta.pin_group = "nobody"
    refused("no vertex group 'nobody'")
    obj.taffeta.pin_group = ""
    mesh = obj.data
    mesh.clear_geometry()
    mesh.from_pydata([(0, 0, 0), (1, 0, 0)], [(0, 1)], [])
    refused("Sheet: the mesh has no faces")
    mesh.clear_geometry()
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (2, 0, 0)], [], [(0, 1, 2)])
    refused("Sheet: .*no area.*Degenerate Dissolve")
    mesh.clear_geometry()
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1)], [], [(0, 1, 2), (0, 1, 3), (0, 1, 4)])
    refused("Sheet: .*3 faces.*Non Manifold")
    bpy.context.scene.frame_end = bpy.context.scene.frame_start
    with pytest.raises(RuntimeError, match="more frames"):
        bpy.ops.taffeta.simulate()


def test_cloth_that_starts_in_itself_is_accepted_and_told(blend):
    obj = sheet(cells=6)
    other = obj.copy()
    other.data = obj.data.copy()
    bpy.context.collection.objects.link(other)
    other.rotation_euler.x, other.name = 0.7, "Across"
    blend.frame_end = 3
    running = operators.Running(blend)
    while running.work():
        if running.job is not None:
            running.job.join()
    heard = running.job.notes
    told = cache.read_certificates(blend)
    assert told[0]["intersections"] > 0 and not told[0]["good"]
    assert "starts with" in " ".join(heard)


def test_the_extension_is_packed_with_its_wheel(tmp_path):
    folder = Path(operators.__file__).parent
    packing = runpy.run_path(str(folder / "package.py"))
    wheel = tmp_path / f"taffeta-{taffeta.__version__}-cp310-abi3-manylinux_2_34_x86_64.whl"
    wheel.write_bytes(b"a wheel")
    with zipfile.ZipFile(packing["package"](wheel, tmp_path)) as archive:
        manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
        names = set(archive.namelist())
    assert manifest["version"] == taffeta.__version__ and manifest["platforms"] == ["linux-x64"]
    assert {name.removeprefix("./") for name in manifest["wheels"]} <= names
    assert {source.name for source in folder.glob("*.py")} - names == {"package.py"}
    with pytest.raises(SystemExit, match="no Blender"):
        packing["platform"](Path("taffeta-0.1.0-cp310-abi3-solaris_2_sparc.whl"))


def wheel_of(package, folder):
    """The package that is tested, as a wheel."""
    name = f"taffeta-{taffeta.__version__}"
    tag = f"cp310-abi3-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    about = {
        "METADATA": f"Metadata-Version: 2.1\nName: taffeta\nVersion: {taffeta.__version__}\n",
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: {tag}\n",
        "RECORD": "",
    }
    path = folder / f"{name}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file in (file for file in package.iterdir() if file.is_file()):
            archive.write(file, f"taffeta/{file.name}")
        for file, text in about.items():
            archive.writestr(f"{name}.dist-info/{file}", text)
    return path


INSTALLED = """
import os
import sys
import bpy

bpy.ops.extensions.package_install_files(filepath=sys.argv[1], repo="user_default", enable_on_install=True)
assert "bl_ext.user_default.taffeta" in bpy.context.preferences.addons
import taffeta
print(taffeta.__file__)
bpy.ops.mesh.primitive_grid_add(x_subdivisions=4, y_subdivisions=4, size=1)
bpy.context.object.taffeta.kind = "CLOTH"
bpy.context.scene.frame_end = 3
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[2])
assert bpy.ops.taffeta.simulate() == {"FINISHED"} and "Taffeta" in bpy.context.object.modifiers
# The module of 4.2 crashes when it ends, whatever operator is registered.
sys.stdout.flush()
os._exit(0)
"""


def test_blender_installs_the_extension_with_its_wheel_and_runs_it(tmp_path):
    packing = runpy.run_path(str(Path(operators.__file__).parent / "package.py"))
    archive = packing["package"](wheel_of(Path(taffeta.__file__).parent, tmp_path), tmp_path)
    # A Blender that knows no package but what the extension brings.
    own = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    words = [sys.executable, "-c", INSTALLED, str(archive), str(tmp_path / "scene.blend")]
    done = subprocess.run(words, env={**own, "BLENDER_USER_RESOURCES": str(tmp_path / "user")}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert str(tmp_path / "user" / "extensions" / ".local") in done.stdout
    assert (tmp_path / "taffeta_Scene" / "recording.taffeta").is_file()


def test_the_panel_draws_what_is_set(blend):
    class Layout:
        """Takes note of what a panel draws."""

        def __init__(self, told):
            self.told = told

        def prop(self, owner, name, **_):
            assert hasattr(owner, name)
            self.told.append(name)

        def prop_search(self, owner, name, *_):
            self.prop(owner, name)

        def operator(self, name, **_):
            self.told.append(name)

        def label(self, text="", **_):
            self.told.append(text)

        def separator(self):
            pass

        def row(self):
            return self

        column = box = row

    def drawn():
        told = []
        drawing = SimpleNamespace(layout=Layout(told))
        for name in ("draw_cloth", "draw_scene", "draw_job"):
            setattr(drawing, name, lambda *words, name=name: getattr(panel.TAFFETA_PT_physics, name)(drawing, *words))
        panel.TAFFETA_PT_physics.draw(drawing, bpy.context)
        return told

    obj = sheet(cells=4)
    assert {"fabric", "pin_group", "tolerance", "taffeta.simulate"} <= set(drawn()) and "density" not in drawn()
    obj.taffeta.use_laboratory = True
    assert "density" in drawn()
    simulate(blend, 2)
    bpy.context.scene.frame_set(3)
    bpy.context.view_layer.objects.active = obj
    assert "Certificate holds" in drawn() and "0 cloth through cloth, 0 through bodies" in drawn()
    obj.taffeta.kind = "COLLIDER"
    assert "collider_friction" in drawn() and "fabric" not in drawn()


def test_the_tutorial_is_true(blend, tmp_path):
    document = Path(operators.__file__).parents[1] / "docs" / "blender.md"
    blocks = re.findall(r"```python\n(.*?)```", document.read_text(), re.S)
    assert len(blocks) >= 3
    names = {}
    for block in blocks:
        exec(compile(block, str(document), "exec"), names)
    bpy.context.scene.frame_set(bpy.context.scene.frame_end)
    assert all(told["good"] for told in cache.read_certificates(bpy.context.scene))


def test_settings_are_saved_and_undone(blend, tmp_path):
    obj = sheet(cells=4)
    obj.taffeta.fabric = "wool" if "wool" in taffeta.fabrics() else "silk"
    chosen = obj.taffeta.fabric
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    again = bpy.data.objects["Sheet"].taffeta
    assert (again.kind, again.fabric) == ("CLOTH", chosen)
    assert again.density == pytest.approx(taffeta.fabrics()[chosen]["density"])
