"""Simulations: the program's bits, arrays, hands, copies, errors, Ctrl-C."""

import ctypes
import gc
import json
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import taffeta

SMALL = {"cloth[0].sheet.rows": 20, "cloth[0].sheet.columns": 20}


def program(*words, **options):
    return subprocess.run([sys.executable, "-m", "taffeta", *words], capture_output=True, text=True, **options)


def test_the_bits_are_those_of_the_program(tmp_path):
    done = program("run", "drape", "--frames", "4", "--set", "cloth[0].sheet.rows=20", "--set", "cloth[0].sheet.columns=20",
                   "--out", str(tmp_path), "--quiet")
    assert done.returncode == 0, done.stderr
    told = [frame["state_hash"] for frame in json.loads((tmp_path / "report.json").read_text())["frames"]]
    sim = taffeta.Simulation("drape", frames=4, **SMALL)
    assert [frame.state_hash for frame in sim.run()] == told
    taffeta.set_threads(1)
    alone = taffeta.Simulation("drape", frames=4, **SMALL)
    assert [frame.state_hash for frame in alone.run()] == told
    taffeta.set_threads(None)


def test_the_program_ends_with_its_exit_codes_and_words():
    assert program("--version").stdout.strip() == f"taffeta {taffeta.__version__}"
    wrong = program("run", "drap")
    assert wrong.returncode == 2 and "did you mean `drape`" in wrong.stderr
    assert program("scenes").stdout.count("\n") >= len(taffeta.scenes())
    assert program("run").returncode == 2 and program("run", "--help").returncode == 0


def test_the_package_is_imported_quickly_and_needs_numpy_alone():
    code = "import sys, numpy; before = set(sys.modules); import taffeta; print(*sorted(set(sys.modules) - before))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    others = {name.split(".")[0] for name in loaded} - set(sys.stdlib_module_names) - {"numpy"}
    assert others == {"taffeta"}


def test_arrays_are_one_and_read_only_and_follow():
    sim = taffeta.Simulation("drape", **SMALL)
    positions, velocities = sim.positions, sim.velocities
    before = positions.copy()
    assert positions is sim.positions and not positions.flags.writeable and sim.triangles is sim.triangles
    with pytest.raises(ValueError):
        positions[0, 0] = 1
    sim.step()
    assert positions is sim.positions and not np.array_equal(positions, before)
    assert np.allclose(velocities.mean(axis=0)[1], -9.81 / 30, rtol=0.05)
    lengths = np.linalg.norm(positions[sim.edges[:, 0]] - positions[sim.edges[:, 1]], axis=1)
    assert np.abs(lengths / sim.rest_lengths - 1).max() == pytest.approx(sim.certificate().max_strain, abs=1e-12)
    # What was shown stays whole after its simulation.
    kept = positions.copy()
    del sim
    gc.collect()
    assert np.array_equal(positions, kept)


def test_hands_lead_hold_and_let_go():
    sim = taffeta.Simulation("hang", **SMALL)
    goal = sim.positions[57] + [0.0, 0.02, 0.0]
    sim.hold(57, goal)
    assert 57 in sim.held
    sim.step_frame()
    assert np.allclose(sim.positions[57], goal, atol=1e-9)
    pair = [100, 101]
    sim.hold(pair)
    where = sim.positions[pair].copy()
    sim.step_frame()
    assert np.allclose(sim.positions[pair], where, atol=1e-9)
    sim.release([57, 100, 101])
    assert not {57, 100, 101} & set(sim.held.tolist())
    sim.step_frame()
    assert np.linalg.norm(sim.positions[57] - goal) > 1e-3
    for wrong in [lambda: sim.hold(400, [0, 0, 0]), lambda: sim.hold(-1, [0, 0, 0]), lambda: sim.hold([1, 2], [[0, 0, 0]]),
                  lambda: sim.hold(1, [0, 0, np.nan]), lambda: sim.hold(1, [0, 0, 0], duration=0)]:
        with pytest.raises(ValueError):
            wrong()


def test_what_acts_from_outside_acts():
    free = {"collider": [], "contact": {"cloth_cloth": False}, "air": {"density": 0.0},
            "cloth": [{"name": "sheet", "sheet": {"width": 1, "height": 1, "columns": 5, "rows": 5}}]}
    sim = taffeta.Simulation(free)
    sim.set_gravity([0, 0, 0])
    sim.add_forces(sim.mass[:, None] * np.array([[3.0, 0, 0]]))
    sim.step()
    assert np.allclose(sim.velocities, [3.0 / 30, 0, 0])
    sim.step()
    assert np.allclose(sim.velocities, [3.0 / 30, 0, 0]), "forces act for one step"
    sim.set_positions(sim.positions + [0, 1, 0])
    sim.set_velocities(np.zeros((25, 3)))
    assert np.all(sim.positions[:, 1] == 1) and not sim.velocities.any()
    windy = taffeta.Simulation("flag-calm")
    windy.set_wind([0, 0, 20])
    for _ in range(5):
        windy.step_frame()
    assert windy.positions[:, 2].mean() > 0.02
    with pytest.raises(ValueError, match="25 particles"):
        sim.set_positions(np.zeros((24, 3)))
    with pytest.raises(ValueError, match="finite"):
        sim.set_wind([0, 0, float("inf")])


def test_clones_snapshots_and_pickles_go_on_with_the_same_bits():
    sim = taffeta.Simulation("drape", **SMALL)
    sim.hold(3)
    for _ in sim.run(5):
        pass
    kept, clone, pickled = sim.snapshot(), sim.clone(), pickle.dumps(sim)
    ahead = [frame.state_hash for frame in sim.run(5)]
    assert [frame.state_hash for frame in clone.run(5)] == ahead
    assert [frame.state_hash for frame in pickle.loads(pickled).run(5)] == ahead
    sim.restore(kept)
    assert sim.frame == 5 and [frame.state_hash for frame in sim.run(5)] == ahead
    with pytest.raises(ValueError, match="another scene"):
        taffeta.Simulation("hang").restore(kept)


def test_reports_tell_and_show():
    sim = taffeta.Simulation("drape", **SMALL)
    step = sim.step()
    assert step.converged and step.substeps > 0 and "converged" in repr(step)
    report = sim.report()
    assert report.good and report.frame == 1 and report.time == pytest.approx(1 / 30) and report.state_hash == sim.state_hash
    assert report.told["intersections"] == 0 and "Certificate" in repr(report)
    assert "<table" in report._repr_html_() and "held" in repr(report.certificate)
    assert pickle.loads(pickle.dumps(report)).told == report.told


def test_errors_have_the_words_the_key_and_the_line(tmp_path):
    text = 'frames = 0\n\n[[cloth]]\nfabric = "silk"\nsheet = { width = 1, height = 1, columns = 1, rows = 5 }\n'
    (tmp_path / "wrong.toml").write_text(text)
    with pytest.raises(taffeta.SceneError) as raised:
        taffeta.Simulation(tmp_path / "wrong.toml")
    assert {(fault.key, fault.line) for fault in raised.value.faults} == {("frames", 1), ("cloth[0].sheet.columns", 5)}
    told = program("run", str(tmp_path / "wrong.toml")).stderr
    for fault in raised.value.faults:
        assert fault.reason in told and fault.remedy in told and fault.reason in str(raised.value)
    with pytest.raises(taffeta.SceneError) as raised:
        taffeta.Simulation({"cloth": [{"shet": {}}]})
    assert raised.value.faults[0].line is None and "shet" in raised.value.faults[0].key
    with pytest.raises(TypeError, match="a scene is"):
        taffeta.Simulation(7)
    with pytest.raises(TypeError, match="complex"):
        taffeta.Simulation({"frames": 1j})
    with pytest.raises(taffeta.SceneError, match="solver.method"):
        taffeta.Simulation("drape", **{"solver.method": "magic"})
    with pytest.raises(ValueError, match="1 or more"):
        taffeta.set_threads(0)


def test_a_step_that_cannot_be_taken_raises_and_keeps_the_state():
    sim = taffeta.Simulation("hang", **{**SMALL, "solver.method": "verlet", "solver.substeps": 1})
    before = sim.state_hash
    with pytest.raises(taffeta.SimulationError, match="leave `solver.substeps` out"):
        sim.step()
    assert sim.state_hash == before and sim.time == 0.0


def test_the_lock_of_python_is_free_while_a_step_runs():
    sim = taffeta.Simulation("drape", **{"solver.method": "verlet", "solver.steps_per_frame": 1, "frame_time": 20.0})
    begun, cancel, ended = threading.Event(), threading.Event(), []

    def step_frame():
        begun.set()
        try:
            sim.step_frame(cancel=cancel)
            ended.append("finished")
        except taffeta.Cancelled:
            ended.append("cancelled")

    # Nobody is made to give up the lock now: this thread runs again only when the other one lets go of it, in the step.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        worker = threading.Thread(target=step_frame)
        worker.start()
        begun.wait()
        cancel.set()
        worker.join()
    finally:
        sys.setswitchinterval(interval)
    assert ended == ["cancelled"], "the step went on while this thread could not run"


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_ctrl_c_ends_a_step_and_keeps_the_state():
    sim = taffeta.Simulation("drape", **{"solver.method": "verlet", "solver.steps_per_frame": 1, "frame_time": 20.0})
    before = sim.state_hash
    threading.Timer(0.3, lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        sim.step()
    assert sim.state_hash == before and sim.time == 0.0


def test_another_thread_cancels_a_step_between_two_substeps():
    sim = taffeta.Simulation("drape", **{"solver.method": "verlet", "solver.steps_per_frame": 1, "frame_time": 20.0})
    before, cancel = sim.state_hash, threading.Event()
    threading.Timer(0.3, cancel.set).start()
    with pytest.raises(taffeta.Cancelled):
        sim.step_frame(cancel=cancel)
    assert sim.state_hash == before and sim.time == 0.0
    assert taffeta.Simulation("hang", **SMALL).step_frame(cancel=threading.Event()).converged


@pytest.mark.skipif(not hasattr(ctypes, "pythonapi") or sys.platform == "win32", reason="no fork")
def test_a_process_that_is_forked_off_steps_too():
    import os
    sim = taffeta.Simulation("hang", **SMALL)
    sim.step_frame()
    clone = sim.clone()
    child = os.fork()
    if child == 0:
        sim.step_frame()
        os._exit(0 if sim.frame == 2 else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert clone.step_frame().converged


def test_pictures_are_arrays():
    sim = taffeta.Simulation("drape", **SMALL)
    picture = sim.render(160, 90)
    assert picture.shape == (90, 160, 3) and picture.dtype == np.uint8 and picture.std() > 5
    assert np.array_equal(picture, sim.render(160, 90))
    above = sim.render(160, 90, camera=([0, 4, 0.01], [0, 0, 0]))
    assert not np.array_equal(above, picture)
    with pytest.raises(OSError, match="pixels"):
        sim.render(0, 90)
