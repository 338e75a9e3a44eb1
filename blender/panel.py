"""The panel: Physics > Taffeta."""

import bpy

from . import cache
from .operators import Running
from .properties import LABORATORY


class TAFFETA_PT_physics(bpy.types.Panel):
    """Cloth and colliders of Taffeta"""

    bl_label, bl_idname = "Taffeta", "TAFFETA_PT_physics"
    bl_space_type, bl_region_type, bl_context = "PROPERTIES", "WINDOW", "physics"

    @classmethod
    def poll(cls, context):
        return context.object is not None and context.object.type == "MESH"

    def draw(self, context):
        """Called by Blender."""
        layout, obj, scene = self.layout, context.object, context.scene
        layout.use_property_split = True
        layout.prop(obj.taffeta, "kind", expand=True)
        if obj.taffeta.kind == "CLOTH":
            self.draw_cloth(layout, obj)
        elif obj.taffeta.kind == "COLLIDER":
            layout.prop(obj.taffeta, "distance")
            layout.prop(obj.taffeta, "collider_friction")
        self.draw_scene(layout.column(), scene.taffeta)
        self.draw_job(layout, scene)

    def draw_cloth(self, layout, obj):
        """What it is made of, what holds it."""
        settings = obj.taffeta
        layout.prop(settings, "fabric")
        layout.prop(settings, "use_laboratory")
        if settings.use_laboratory:
            for key, *_ in LABORATORY:
                layout.prop(settings, key)
        layout.prop_search(settings, "pin_group", obj, "vertex_groups")
        layout.prop(settings, "sewing")

    def draw_scene(self, layout, settings):
        """What holds for all cloth of the scene."""
        layout.separator()
        for name in ("tolerance", "extensible", "method", "self_collision", "subframes", "air"):
            layout.prop(settings, name)

    def draw_job(self, layout, scene):
        """Buttons, progress, and the certificate of the present frame in words."""
        running = Running.now
        if running is None:
            row = layout.row()
            row.operator("taffeta.simulate", icon="PLAY")
            row.operator("taffeta.clear", icon="X")
        else:
            job = running.job
            share, text = (running.share, "Looking at the scene") if job is None else \
                (job.done / job.frames, f"Frame {job.done} of {job.frames}")
            layout.progress(factor=share, text=text)
            layout.operator("taffeta.cancel", icon="CANCEL")
        here = scene.frame_current - scene.frame_start
        for told in cache.read_certificates(scene):
            if told["frame"] == here:
                box = layout.box()
                box.label(text="Certificate holds" if told["good"] else "Certificate MISSED",
                          icon="CHECKMARK" if told["good"] else "ERROR")
                for words in told["words"]:
                    box.label(text=words)


def register():
    """Shows the panel."""
    bpy.utils.register_class(TAFFETA_PT_physics)


def unregister():
    """Hides it."""
    bpy.utils.unregister_class(TAFFETA_PT_physics)
