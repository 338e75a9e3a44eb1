"""Counts the pairs of cloth triangles that intersect with CGAL and compares them with the certificates of a recording.

Usage: python cgal.py RECORDING [STEP]; every STEP-th frame is counted, 10 if left out.
"""

import sys

import numpy as np
from CGAL import CGAL_Polygon_mesh_processing as processing
from CGAL.CGAL_Kernel import Point_3
from CGAL.CGAL_Polyhedron_3 import Polyhedron_3
from recording import Recording

recording = Recording(sys.argv[1])
step = int(sys.argv[2]) if len(sys.argv) > 2 else 10


def intersecting_pairs(points, triangles):
    used, triangles = np.unique(triangles, return_inverse=True)
    soup, polygons = processing.Point_3_Vector(), processing.Polygon_Vector()
    for point in points[used]:
        soup.append(Point_3(*map(float, point)))
    for triangle in triangles.reshape(-1, 3):
        corners = processing.Int_Vector()
        for corner in triangle:
            corners.append(int(corner))
        polygons.append(corners)
    mesh, pairs = Polyhedron_3(), []
    processing.polygon_soup_to_polygon_mesh(soup, polygons, mesh)
    assert mesh.size_of_facets() == len(triangles.reshape(-1, 3)), "not one surface to CGAL"
    processing.self_intersections(mesh, pairs)
    return len(pairs)


counted, differing = 0, []
for k in range(0, len(recording.numbers), step):
    certified = recording.reports[k].get("cloth_cloth")
    if certified is None:
        continue
    counted += 1
    if (found := intersecting_pairs(recording.positions[k], recording.triangles)) != certified:
        differing.append(f"frame {recording.numbers[k]}: {certified} certified, {found} found")
print(f"{'self-intersections, certificate and CGAL':44} {counted} frames, {len(differing)} differ")
assert counted and not differing, "; ".join(differing)
