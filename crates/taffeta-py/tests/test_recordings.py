"""Recordings: written, gone on with, read, sliced, exported, rendered."""

import json
import subprocess
import sys

import numpy as np
import pytest
import taffeta

SMALL = {"cloth[0].sheet.rows": 20, "cloth[0].sheet.columns": 20}


def record(folder, frames=6, **options):
    sim = taffeta.Simulation("drape", frames=frames, **{"output.full_state_every": 4}, **SMALL)
    return sim, list(sim.run(record=folder, **options))


def test_a_recording_is_a_sequence_of_frames(tmp_path):
    sim, told = record(tmp_path)
    recording = taffeta.Recording(tmp_path)
    assert len(recording) == 7 and recording.complete and recording.damage is None
    assert [frame.number for frame in recording[::2]] == [0, 2, 4, 6]
    last = recording[-1]
    assert last.state_hash == told[-1].state_hash == sim.state_hash
    assert np.allclose(last.positions, sim.positions, atol=1e-7)
    assert last.report.told == {**told[-1].told, "stage_ms": last.report.told["stage_ms"]}
    assert recording.positions.shape == (7, 400, 3)
    assert np.array_equal(recording.triangles, sim.triangles) and recording.scene["frames"] == 6
    with pytest.raises(IndexError):
        recording[7]


def test_the_program_takes_it_for_its_own(tmp_path):
    record(tmp_path)
    done = subprocess.run([sys.executable, "-m", "taffeta", "check", str(tmp_path), "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["checked"][0]["summary"]["frames"] == 7


def test_an_interrupted_run_goes_on_with_the_same_bits(tmp_path):
    _, whole = record(tmp_path / "whole")
    sim = taffeta.Simulation("drape", frames=6, **{"output.full_state_every": 4}, **SMALL)
    for frame in sim.run(record=tmp_path / "part"):
        if frame.frame == 3:
            break
    assert not taffeta.Recording(tmp_path / "part").complete
    again, rest = record(tmp_path / "part")
    assert [frame.state_hash for frame in rest] == [frame.state_hash for frame in whole[3:]]
    parts = [taffeta.Recording(tmp_path / name) for name in ("whole", "part")]
    assert [a.state_hash for a in parts[0]] == [b.state_hash for b in parts[1]]
    # Cut off in the midst of a block, as a crash leaves it.
    file = tmp_path / "part" / "recording.taffeta"
    file.write_bytes(file.read_bytes()[:-700])
    _, rest = record(tmp_path / "part")
    assert rest[-1].state_hash == whole[-1].state_hash
    other = taffeta.Simulation("drape", **{**SMALL, "gravity": [0, -1, 0]})
    with pytest.raises(taffeta.RecordingError, match="another scene"):
        next(other.run(record=tmp_path / "part"))
    assert next(other.run(record=tmp_path / "part", resume=False)).frame == 1
    assert (tmp_path / "part" / "recording.previous.taffeta").exists()


def test_a_run_that_ends_within_a_frame_goes_on_with_the_same_bits(tmp_path):
    several = {"solver.steps_per_frame": 4, "output.full_state_every": 2}
    whole = [frame.state_hash for frame in taffeta.Simulation("drape", frames=5, **several, **SMALL).run()]
    sim = taffeta.Simulation("drape", frames=5, **several, **SMALL)
    running = sim.run(record=tmp_path)
    for _ in range(3):
        next(running)
    # Where an interrupt leaves it: two of four steps.
    sim.step(), sim.step()
    running.close()
    again = taffeta.Simulation("drape", frames=5, **several, **SMALL)
    assert [frame.state_hash for frame in again.run(record=tmp_path)][-2:] == whole[-2:]
    assert [frame.state_hash for frame in taffeta.Recording(tmp_path)][1:] == whole


def test_a_recording_is_exported_and_rendered(tmp_path):
    record(tmp_path, frames=2)
    recording = taffeta.Recording(tmp_path)
    written = recording.export(tmp_path / "cloth.pc2", frames=(1, 2))
    assert {path.suffix for path in written} >= {".pc2"}
    assert int.from_bytes((tmp_path / "cloth.pc2").read_bytes()[28:32], "little") == 2
    with pytest.raises(taffeta.RecordingError, match="exists already"):
        recording.export(tmp_path / "cloth.pc2")
    with pytest.raises(ValueError, match="no export format"):
        recording.export(tmp_path / "cloth.xyz")
    plain, coloured = recording.render(0, 96, 54), recording.render(-1, 96, 54, color="strain")
    assert plain.shape == coloured.shape == (54, 96, 3) and not np.array_equal(plain, coloured)
    with pytest.raises(ValueError, match="curvature"):
        recording.render(color="taste")
    with pytest.raises(ValueError, match="no frame 3"):
        recording.render(3)


def test_what_is_no_recording_is_refused(tmp_path):
    (tmp_path / "x.taffeta").write_bytes(b"nothing of the kind")
    with pytest.raises(taffeta.RecordingError, match="no recording"):
        taffeta.Recording(tmp_path / "x.taffeta")
    with pytest.raises(OSError):
        taffeta.Recording(tmp_path / "missing.taffeta")
