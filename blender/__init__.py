"""Taffeta inside Blender: Physics > Taffeta makes meshes cloth or colliders, and simulates them.

    collect  ->  job            ->  cache
    the scene    a thread           files that Blender plays by itself
"""

from . import operators, panel, properties

MODULES = (properties, operators, panel)


def register():
    """Called by Blender when the extension is switched on."""
    for module in MODULES:
        module.register()


def unregister():
    """Called by Blender when it is switched off. Caches go on playing without it."""
    for module in reversed(MODULES):
        module.unregister()
