"""Batches: the same bits as one by one."""

import numpy as np
import pytest
import taffeta

TOWEL = {
    "frames": 3,
    "cloth": [{"name": "towel", "fabric": "cotton", "position": [0, 0.05, 0],
               "sheet": {"width": 0.4, "height": 0.4, "columns": 12, "rows": 12}}],
    "collider": [{"name": "table", "plane": {}}],
}


def test_a_batch_has_the_bits_of_its_members_alone():
    heights = [0.02, 0.05, 0.1, 0.2, 0.03]
    batch = taffeta.Batch(TOWEL, 5, vary={"cloth[0].position": [[0, h, 0] for h in heights]})
    assert len(batch) == 5 and batch.positions.shape == (5, 144, 3) and not batch.positions.flags.writeable
    alone = [taffeta.Simulation(TOWEL, **{"cloth[0].position": [0, h, 0]}) for h in heights]
    for _ in range(3):
        batch.hold(2, [0, 11], [[-0.2, 0.3, 0.2], [0.2, 0.3, 0.2]], 1 / 30)
        alone[2].hold([0, 11], [[-0.2, 0.3, 0.2], [0.2, 0.3, 0.2]], 1 / 30)
        assert batch.step_frame().all()
        for sim in alone:
            sim.step_frame()
    assert batch.state_hashes == [sim.state_hash for sim in alone]
    assert all(np.array_equal(batch.positions[k], sim.positions) for k, sim in enumerate(alone))
    assert all(np.array_equal(batch.velocities[k], sim.velocities) for k, sim in enumerate(alone))
    assert all(certificate.holds for certificate in batch.certificates())


def test_members_start_again_by_themselves():
    batch = taffeta.Batch(TOWEL, 3)
    start, first = batch.snapshot(0), batch.state_hashes
    assert len(set(first)) == 1
    batch.hold(1, 0, [0, 0.4, 0], 0.1)
    batch.step_frame()
    batch.restore(start, [1])
    assert batch.state_hashes[1] == first[1] and batch.state_hashes[0] != first[0]
    assert np.array_equal(batch.positions[1], taffeta.Simulation(TOWEL).positions)
    batch.step_frame()
    fresh = taffeta.Simulation(TOWEL)
    fresh.step_frame()
    assert batch.state_hashes[1] == fresh.state_hash, "nobody holds it any more"


def test_what_cannot_be_a_batch_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        taffeta.Batch(TOWEL, 0)
    with pytest.raises(ValueError, match="one each"):
        taffeta.Batch(TOWEL, 3, vary={"seed": [1, 2]})
    with pytest.raises(ValueError, match="as many"):
        taffeta.Batch(TOWEL, 2, vary=lambda k: {"cloth[0].sheet.rows": 5 + k})
    with pytest.raises(ValueError, match="no member 9"):
        taffeta.Batch(TOWEL, 2).hold(9, 0, [0, 0, 0], 1.0)


def test_pictures_of_a_batch_are_one_array():
    batch = taffeta.Batch(TOWEL, 2, vary={"cloth[0].position": [[0, 0.05, 0], [0.2, 0.05, 0]]})
    pictures = batch.render(48, 32, camera=([0, 1.5, 0.5], [0, 0, 0]))
    assert pictures.shape == (2, 32, 48, 3) and not np.array_equal(pictures[0], pictures[1])
