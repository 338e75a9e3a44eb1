"""Blender's cloth modifier (pip install bpy): implicit springs, `quality` steps in a frame. Its own units: only stiffness over mass matters."""
import bpy
import numpy as np

from sheet import BALL, FRICTION, GRAVITY, drive

VERTEX_MASS = 0.3  # kg, Blender's default
DISTANCE = 0.003  # m


class Cloth:
    def __init__(self, sheet, settings):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        self.scene = scene = bpy.context.scene
        scene.render.fps = 30
        scene.render.threads_mode, scene.render.threads = "FIXED", 1
        scene.gravity = (0, 0, -GRAVITY)
        scene.frame_start, scene.frame_end = 1, settings["frames"] + 2
        mesh = bpy.data.meshes.new("sheet")
        # z is up there.
        points = np.stack([sheet.start[:, 0], -sheet.start[:, 2], sheet.start[:, 1]], 1)
        mesh.from_pydata(points.tolist(), [], sheet.quads.tolist())
        self.sheet = bpy.data.objects.new("sheet", mesh)
        scene.collection.objects.link(self.sheet)
        drape = sheet.scene == "drape"
        if drape:
            self.add_ball()
        modifier = self.sheet.modifiers.new("cloth", "CLOTH")
        cloth, contact = modifier.settings, modifier.collision_settings
        stiffness = settings["stiffness"]
        cloth.quality = settings["substeps"]
        cloth.mass = VERTEX_MASS
        cloth.tension_stiffness = cloth.compression_stiffness = stiffness
        cloth.tension_stiffness_max = cloth.compression_stiffness_max = stiffness
        cloth.tension_damping = cloth.compression_damping = 5.0
        cloth.shear_stiffness = cloth.shear_damping = 5.0
        cloth.bending_stiffness = cloth.bending_damping = 0.0
        cloth.air_damping = 0.0
        if sheet.pins:
            self.sheet.vertex_groups.new(name="pins").add(sheet.pins, 1.0, "REPLACE")
            cloth.vertex_group_mass = "pins"
        contact.use_collision = drape
        contact.distance_min = DISTANCE
        contact.use_self_collision = drape and bool(settings.get("self_contact"))
        contact.self_distance_min = DISTANCE
        modifier.point_cache.frame_start, modifier.point_cache.frame_end = 1, settings["frames"] + 2
        scene.frame_set(1)

    def add_ball(self):
        import bmesh

        mesh, shape = bpy.data.meshes.new("ball"), bmesh.new()
        bmesh.ops.create_icosphere(shape, subdivisions=5, radius=BALL)
        shape.to_mesh(mesh)
        ball = bpy.data.objects.new("ball", mesh)
        self.scene.collection.objects.link(ball)
        ball.modifiers.new("collision", "COLLISION")
        ball.collision.cloth_friction = 10 * FRICTION  # of 0 to 80
        ball.collision.thickness_outer = 0.001

    def frame(self):
        self.scene.frame_set(self.scene.frame_current + 1)

    def positions(self):
        mesh = self.sheet.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        flat = np.empty(3 * len(mesh.vertices), np.float32)
        mesh.vertices.foreach_get("co", flat)
        x, y, z = flat.reshape(-1, 3).T
        return np.stack([x, z, -y], 1)


drive("Blender", bpy.app.version_string, Cloth)
