"""What buttons do."""

import time

import bpy

from . import cache
from .collect import MODIFIER, Refusal, collect
from .job import Job


# How long Blender is kept from the user at a time while frames are looked at [s].
PATIENCE = 0.05


class Running:
    """The simulation under way, if any: what is collected, then the job."""

    now = None

    def __init__(self, scene):
        self.scene, self.collecting, self.share, self.job = scene, collect(bpy.context), 0.0, None

    def work(self):
        """Goes on a little; whether there is more to do. Raises `Refusal`."""
        if self.job is None:
            until = time.monotonic() + PATIENCE
            try:
                while time.monotonic() < until:
                    self.share = next(self.collecting)
            except StopIteration as end:
                self.job = Job(end.value, cache.folder_of(self.scene))
                self.job.start()
            return True
        return self.job.is_alive()

    def show(self):
        """Lets the scene play what is there."""
        told = cache.read_certificates(self.scene)
        for number, part in enumerate(self.job.collected.parts):
            obj = self.scene.objects.get(part.name)
            if obj is not None:
                cache.play(self.scene, number, obj)
                cache.colour_timeline(self.scene, obj, told)
        self.scene.frame_set(self.scene.frame_current)


class TAFFETA_OT_simulate(bpy.types.Operator):
    """Simulate all cloth of the scene, from the start or from where the cache ends. Blender stays usable meanwhile"""

    bl_idname, bl_label, bl_options = "taffeta.simulate", "Simulate", {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, _context):
        return Running.now is None

    def execute(self, context):
        """Without a window: until all is done."""
        running = Running(context.scene)
        try:
            while running.work():
                if running.job is not None:
                    running.job.join()
        except Refusal as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        return self.conclude(running)

    def invoke(self, context, _event):
        """With one: a little at every tick of a timer."""
        if bpy.app.background:
            return self.execute(context)
        Running.now, self.shown = Running(context.scene), 0
        self.timer = context.window_manager.event_timer_add(0.1, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        """Called by Blender for every event."""
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        try:
            more = Running.now.work()
        except Refusal as refusal:
            self.finish(context)
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        job = Running.now.job
        if job is not None and job.done > self.shown:
            if self.shown == 0:
                Running.now.show()
            self.shown = job.done
            context.scene.frame_set(context.scene.frame_start + job.done)
        for area in context.screen.areas:
            area.tag_redraw()
        if more:
            return {"PASS_THROUGH"}
        running = Running.now
        self.finish(context)
        return self.conclude(running)

    def finish(self, context):
        """Nothing is under way any more."""
        context.window_manager.event_timer_remove(self.timer)
        Running.now = None

    def conclude(self, running):
        """Shows what is there and tells how it went."""
        job = running.job
        for note in job.notes:
            self.report({"WARNING"}, note)
        if job.error is not None:
            self.report({"ERROR"}, job.error)
            if job.done == 0:
                return {"CANCELLED"}
        running.show()
        missed = [told for told in cache.read_certificates(running.scene) if not told["good"]]
        if missed:
            frames = ", ".join(str(running.scene.frame_start + told["frame"]) for told in missed[:5])
            self.report({"WARNING"}, f"{len(missed)} frames miss their certificate, such as {frames}")
        else:
            self.report({"INFO"}, f"{job.done} of {job.frames} frames, all certified")
        return {"FINISHED"}


class TAFFETA_OT_cancel(bpy.types.Operator):
    """End at once. Simulate goes on from the last whole frame"""

    bl_idname, bl_label = "taffeta.cancel", "Cancel"

    @classmethod
    def poll(cls, _context):
        return Running.now is not None and Running.now.job is not None

    def execute(self, _context):
        """Asks the job to end."""
        Running.now.job.cancel()
        return {"FINISHED"}


class TAFFETA_OT_clear(bpy.types.Operator):
    """Take the cache off all cloth. Its files stay on disk until the next simulation"""

    bl_idname, bl_label, bl_options = "taffeta.clear", "Clear", {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, _context):
        return Running.now is None

    def execute(self, context):
        """Removes modifiers and keys."""
        for obj in context.scene.objects:
            if obj.type == "MESH" and MODIFIER in obj.modifiers:
                obj.modifiers.remove(obj.modifiers[MODIFIER])
                if cache.PROPERTY in obj:
                    for told in cache.read_certificates(context.scene):
                        obj.keyframe_delete(f'["{cache.PROPERTY}"]', frame=context.scene.frame_start + told["frame"])
                    del obj[cache.PROPERTY]
        return {"FINISHED"}


CLASSES = (TAFFETA_OT_simulate, TAFFETA_OT_cancel, TAFFETA_OT_clear)


def register():
    """Makes the buttons known."""
    for kind in CLASSES:
        bpy.utils.register_class(kind)


def unregister():
    """Forgets them."""
    for kind in reversed(CLASSES):
        bpy.utils.unregister_class(kind)
