"""Sweeps: tables that others read, and the same table from a cluster of which a node is lost."""

import json
import os
import subprocess
import sys

import pytest
from taffeta._taffeta import Sweep

SCENE = """
frames = 8
[[cloth]]
position = [0.0, 0.33, 0.0]
sheet = { width = 0.5, height = 0.5, columns = 10, rows = 10 }
[[collider]]
sphere = { radius = 0.3 }
"""

SWEEP = """
scene = "scene.toml"
record = true
[axis]
"cloth[0].fabric" = ["silk", "wool", "no such fabric"]
"collider[0].sphere.radius" = { low = 0.2, high = 0.3 }
[draw]
count = 8
seed = 2
[measure]
corner = { of = "height", particle = 0 }
missing = { of = "seam_opening_m" }
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "scene.toml").write_text(SCENE)
    (tmp_path / "sweep.toml").write_text(SWEEP)
    words = [sys.executable, "-m", "taffeta", "sweep", "sweep.toml", "--out", "here", "--quiet"]
    assert subprocess.run(words, cwd=tmp_path, capture_output=True).returncode == 1, "eight runs are refused"
    return tmp_path


def test_the_table_is_read_by_others(folder):
    pq = pytest.importorskip("pyarrow.parquet", reason="SKIPPED: pyarrow is not installed: the table was not read by another program")
    table = pq.read_table(folder / "here" / "table.parquet")
    assert table.num_rows == 24 and table.column_names[:4] == ["run", "address", "cloth[0].fabric", "collider[0].sphere.radius"]
    rows = table.to_pylist()
    assert [row["run"] for row in rows] == list(range(24))
    for row in rows:
        path = folder / "here" / "results" / row["address"][:2] / f"{row['address']}.json"
        outcome = json.loads(path.read_text())["outcome"]
        assert row["status"] == outcome["status"]
        if row["status"] == "done":
            assert (row["corner"], row["state_hash"]) == (outcome["measures"]["corner"], outcome["state_hash"])
            assert row["missing"] is None and row["reason"] is None and row["good"] is True
        else:
            assert row["corner"] is None and "no such fabric" in row["reason"]


def test_a_cluster_that_loses_a_node_makes_the_same_table(folder):
    reason = "SKIPPED: ray is not installed: sweeps on a cluster were not tested"
    ray = pytest.importorskip("ray", reason=reason)
    from ray.cluster_utils import Cluster
    from taffeta.sweep import on_ray

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
        cluster.wait_for_nodes()
        ray.init(address=cluster.address, log_to_driver=False)

        def kill_one(done, all_runs, failed):
            if done == 4:
                cluster.remove_node(nodes[0], allow_graceful=False)

        tally = on_ray(folder / "sweep.toml", folder / "there", told=kill_one)
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert tally == {"done": 16, "refused": 8}
    for name in ["table.parquet", "plan.json"]:
        assert (folder / "here" / name).read_bytes() == (folder / "there" / name).read_bytes()
    assert len(os.listdir(folder / "there" / "recordings")) == 16


def test_a_wrong_file_is_refused(folder):
    with pytest.raises(ValueError, match="begun here"):
        Sweep(folder / "sweep.toml", folder / "here", False)
    (folder / "sweep.toml").write_text('scene = "scene.toml"\nspeed = 3\n')
    with pytest.raises(ValueError, match="sweep.toml:2"):
        Sweep(folder / "sweep.toml", folder / "there", False)
