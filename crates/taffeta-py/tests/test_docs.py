"""What the documents say is done literally."""

import doctest
import os
import pydoc
import re
from pathlib import Path

import pytest
import taffeta
import taffeta.batch
import taffeta.checking
import taffeta.scene

DOCUMENT = Path(__file__).parents[3] / "docs" / "python.md"


def test_the_tutorial_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.S)
    assert len(blocks) >= 9
    names = {}
    for block in blocks:
        exec(compile(block, str(DOCUMENT), "exec"), names)


@pytest.mark.parametrize("module", [taffeta, taffeta.batch, taffeta.checking, taffeta.scene])
def test_examples_of_docstrings_are_true(module):
    result = doctest.testmod(module)
    assert result.attempted and not result.failed


def test_everything_has_a_docstring_and_help_is_a_tutorial():
    text = pydoc.render_doc(taffeta, renderer=pydoc.plaintext)
    for word in ("A first simulation", "add_cloth", "Recording", "FoldTowel"):
        assert word in text
    for name in taffeta.__all__:
        thing = getattr(taffeta, name)
        if name.startswith("__"):
            continue
        assert thing.__doc__, name
        for member, value in vars(thing).items() if isinstance(thing, type) else ():
            if not member.startswith("_") and callable(value):
                assert value.__doc__, f"{name}.{member}"


def test_the_stubs_name_what_is_there():
    import taffeta._taffeta as compiled

    stubs = (Path(taffeta.__file__).parent / "_taffeta.pyi").read_text()
    told = {}
    for line in stubs.splitlines():
        if found := re.match(r"class (\w+)", line):
            members = told.setdefault(found[1], set())
        elif found := re.match(r"    (?:def )?(\w+)[(:]", line):
            members.add(found[1])
        elif found := re.match(r"def (\w+)", line):
            told[found[1]] = set()
    for name, members in told.items():
        there = dir(getattr(compiled, name)) + ["faults", "__new__"]
        assert members <= set(there), (name, members - set(there))
    for name in [name for name in dir(compiled) if not name.startswith("_")]:
        assert name in told, name
        own = {member for member in vars(getattr(compiled, name)) if not member.startswith("__")} if name in told and isinstance(getattr(compiled, name), type) else set()
        assert own <= told[name] | {"__module__"}, (name, own - told[name])


def test_types_are_right():
    mypy = pytest.importorskip("mypy.api", reason="mypy is not installed")
    told, wrong, code = mypy.run(["--strict", "--cache-dir", os.devnull, "-p", "taffeta"])
    assert code == 0, told + wrong
