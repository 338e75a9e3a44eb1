"""What the user sets: on objects that are cloth or colliders, and on the scene."""

import bpy
import taffeta
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

FABRICS = [(name, name.replace("-", " ").capitalize(), fabric["about"]) for name, fabric in taffeta.fabrics().items()]
# Laboratory numbers: key, name, unit, least, most.
LABORATORY = [
    ("density", "Mass", "g/m²", 1, 1e5),
    ("warp", "Warp", "N/m", 0.1, 1e8),
    ("weft", "Weft", "N/m", 0.1, 1e8),
    ("bias", "Bias", "N/m", 0.01, 1e8),
    ("bending_warp", "Bend Warp", "µN·m", 0, 1e7),
    ("bending_weft", "Bend Weft", "µN·m", 0, 1e7),
    ("bending_twist", "Bend Twist", "µN·m", 0, 1e7),
    ("bending_hysteresis", "Bend Hysteresis", "mN", 0, 1e6),
    ("shear_hysteresis", "Shear Hysteresis", "N/m", 0, 1e6),
    ("tensile_resilience", "Tensile Resilience", "%", 40, 100),
    ("thickness", "Thickness", "mm", 1e-3, 100),
    ("friction", "Friction", "", 0, 10),
]


def number(fabric, key):
    """A laboratory number of a fabric; one that it does not give is 0."""
    return taffeta.fabrics()[fabric][key] or 0.0


def take_numbers(settings, _context):
    """A preset fills in its laboratory numbers, which can then be changed."""
    for key, *_ in LABORATORY:
        setattr(settings, key, number(settings.fabric, key))


class TaffetaObject(bpy.types.PropertyGroup):
    """Settings of an object."""

    kind: EnumProperty(name="Kind", items=[
        ("NONE", "None", "Taffeta leaves it alone"),
        ("CLOTH", "Cloth", "The mesh is cloth"),
        ("COLLIDER", "Collider", "Cloth cannot pass it; animation, armatures and shape keys move it"),
    ])
    fabric: EnumProperty(name="Fabric", items=FABRICS, default="cotton", update=take_numbers)
    use_laboratory: BoolProperty(name="Laboratory Numbers", description="Change the numbers of the fabric")
    pin_group: StringProperty(name="Pin Group", description="Vertices of this group with a weight above one half are held, and follow "
                              "what moves them: the object, an armature before the cloth, shape keys")
    sewing: FloatProperty(name="Sewing Time", description="Loose edges are seams that close in this time; 0 leaves them alone [s]",
                          default=0.0, min=0.0, max=1000.0)
    distance: FloatProperty(name="Thickness", description="Cloth keeps half of this from the surface [m]", default=0.002, min=0.0, max=1.0,
                            precision=4)
    collider_friction: FloatProperty(name="Friction", default=0.4, min=0.0, max=10.0)


for key, label, unit, least, most in LABORATORY:
    described = f"{label} [{unit}]" if unit else label
    TaffetaObject.__annotations__[key] = FloatProperty(
        name=described, min=least, max=most, default=number("cotton", key), precision=3)


class TaffetaScene(bpy.types.PropertyGroup):
    """Settings of a scene."""

    tolerance: FloatProperty(name="Tolerance", description="Largest strain that a frame may have; the certificate is held against it",
                             default=0.01, min=1e-6, max=1.0, precision=4)
    extensible: BoolProperty(name="Fabric Stretches", default=False,
                             description="Methods that keep lengths let a fabric stretch by its stiffness, up to six tenths of the tolerance")
    method: EnumProperty(name="Method", items=[(name, name, about) for name, about in taffeta.methods().items()],
                         default="impulse-strips")
    self_collision: BoolProperty(name="Cloth Meets Cloth", default=True)
    subframes: IntProperty(name="Sub-Frames", description="How often in a frame colliders, pins and wind are looked at", default=2, min=1,
                           max=32)
    air: FloatProperty(name="Air Density", description="[kg/m³]; 0 is a vacuum", default=1.2, min=0.0, max=1000.0)


def register():
    """Gives every object and scene its settings."""
    for kind in (TaffetaObject, TaffetaScene):
        bpy.utils.register_class(kind)
    bpy.types.Object.taffeta = PointerProperty(type=TaffetaObject)
    bpy.types.Scene.taffeta = PointerProperty(type=TaffetaScene)


def unregister():
    """Takes them away; files keep what was set."""
    del bpy.types.Object.taffeta, bpy.types.Scene.taffeta
    for kind in (TaffetaScene, TaffetaObject):
        bpy.utils.unregister_class(kind)
