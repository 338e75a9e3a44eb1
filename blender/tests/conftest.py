"""The extension as Blender would load it, in a fresh file for every test."""

import importlib.util
import sys
from pathlib import Path

import bpy
import pytest

FOLDER = Path(__file__).parents[1]
spec = importlib.util.spec_from_file_location("taffeta_extension", FOLDER / "__init__.py", submodule_search_locations=[str(FOLDER)])
extension = importlib.util.module_from_spec(spec)
sys.modules["taffeta_extension"] = extension
spec.loader.exec_module(extension)


@pytest.fixture
def blend(tmp_path):
    """An empty scene, saved, so that the cache lies beside it."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    extension.register()
    bpy.context.scene.render.fps = 25
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    yield bpy.context.scene
    extension.unregister()
