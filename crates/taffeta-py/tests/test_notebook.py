"""The cloth in a notebook: what the widget is fed, and the tutorial, executed."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest
import taffeta

pytest.importorskip("anywidget", reason="anywidget is not installed")

SMALL = {"cloth[0].sheet.rows": 12, "cloth[0].sheet.columns": 12}


def unpacked(message):
    """A message of docs/viewer.md, taken apart."""
    assert message[:4] == b"TFV1"
    (length,) = struct.unpack("<I", message[4:8])
    head, at, arrays = json.loads(message[8 : 8 + length]), 8 + length, {}
    kinds = {"f32": "<f4", "u32": "<u4", "u16": "<u2", "u8": "<u1"}
    for name, kind, count in head["arrays"]:
        arrays[name] = np.frombuffer(message, kinds[kind], count, at)
        at += -(-arrays[name].nbytes // 4) * 4
    return head, arrays


def heard(widget, monkeypatch):
    """What the widget sends to its page."""
    sent = []
    monkeypatch.setattr(widget, "send", lambda message, buffers=(): sent.append((message, list(buffers))))
    return sent


def test_a_simulation_is_shown_stepped_and_touched(monkeypatch):
    sim = taffeta.Simulation("drape", **SMALL)
    widget = sim.show(height=300)
    sent = heard(widget, monkeypatch)
    widget.answer({"do": "start"})
    (_, (shape, frame)), = sent
    head, arrays = unpacked(shape)
    assert head["kind"] == "shape" and np.array_equal(arrays["triangles"].reshape(-1, 3), sim.triangles)
    widget.answer({"do": "next"})
    head, arrays = unpacked(sent[-1][1][0])
    assert head["frame"] == sim.frame == 1 and head["sides"][0]["certificate"]["cloth_cloth"] == 0
    shown = arrays["positions 0"].reshape(-1, 3) + head["sides"][0]["centre"]
    assert np.allclose(shown, sim.positions, atol=1e-6)
    widget.answer({"do": "hold", "particle": 5, "place": [0, 1, 0]})
    assert 5 in sim.held
    widget.answer({"do": "release", "particle": 5})
    assert 5 not in sim.held
    widget.answer({"do": "hold", "particle": 9999, "place": [0, 1, 0]})
    assert "no particle 9999" in sent[-1][0]["error"]


def test_a_recording_is_gone_through(tmp_path, monkeypatch):
    sim = taffeta.Simulation("drape", frames=3, **SMALL)
    for _ in sim.run(record=tmp_path):
        pass
    widget = taffeta.Recording(tmp_path).show()
    sent = heard(widget, monkeypatch)
    assert widget.frames == 4
    widget.answer({"do": "start"})
    widget.answer({"do": "frame", "frame": 3})
    head, arrays = unpacked(sent[-1][1][0])
    shown = arrays["positions 0"].reshape(-1, 3) + head["sides"][0]["centre"]
    assert head["frame"] == 3 and np.allclose(shown, sim.positions, atol=1e-6)


def test_the_widget_is_whole():
    from taffeta import _taffeta

    source = _taffeta.widget_source()
    if source is None:
        pytest.skip("npm was not there to build the widget")
    assert "export" in source and "import " not in source.split("\n")[0] and len(source) > 300_000


def test_the_tutorial_runs():
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    notebook = nbformat.read(Path(__file__).parents[1] / "examples" / "tutorial.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    assert {"application/vnd.jupyter.widget-view+json", "text/html"} <= kinds
