"""PyBullet (pip install pybullet): deformable mass-spring cloth from a mesh; diagonals are as stiff as edges."""
import os
import tempfile
from importlib.metadata import version

import numpy as np
import pybullet as bullet

from sheet import BALL, FRAME, FRICTION, GRAVITY, MASS, drive


class Cloth:
    def __init__(self, sheet, settings):
        self.steps = settings["substeps"]
        bullet.connect(bullet.DIRECT)
        bullet.resetSimulation(bullet.RESET_USE_DEFORMABLE_WORLD)
        bullet.setGravity(0, -GRAVITY, 0)
        bullet.setTimeStep(FRAME / self.steps)
        stiffness = settings["stiffness"]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "sheet.obj")
            with open(path, "w") as mesh:
                mesh.writelines("v %.9f %.9f %.9f\n" % tuple(x) for x in sheet.start)
                mesh.writelines("f %d %d %d\n" % tuple(t) for t in sheet.triangles + 1)
            self.cloth = bullet.loadSoftBody(
                path,
                mass=MASS,
                useMassSpring=1,
                useNeoHookean=0,
                useBendingSprings=0,
                springElasticStiffness=stiffness,
                # Without any it is not stable.
                springDampingStiffness=1e-3 * stiffness,
                springDampingAllDirections=0,
                useSelfCollision=int(sheet.scene == "drape" and bool(settings.get("self_contact"))),
                frictionCoeff=FRICTION,
                useFaceContact=1,
                collisionMargin=0.004,
            )
        if sheet.scene == "drape":
            shape = bullet.createCollisionShape(bullet.GEOM_SPHERE, radius=BALL)
            bullet.changeDynamics(bullet.createMultiBody(0, shape), -1, lateralFriction=FRICTION)
        # The loader renumbers points: each is found again where it started.
        loaded = self.loaded()
        order = np.lexsort((np.round(loaded[:, 0], 5), np.round(loaded[:, 2], 5)))
        if len(loaded) != len(sheet.start) or np.abs(loaded[order] - sheet.start).max() > 1e-4:
            raise SystemExit("the points of Bullet are not those of the sheet")
        self.order = order
        for pin in sheet.pins:
            bullet.createSoftBodyAnchor(self.cloth, int(order[pin]), -1, -1)

    def loaded(self):
        return np.array(bullet.getMeshData(self.cloth, -1, flags=bullet.MESH_DATA_SIMULATION_MESH)[1])

    def frame(self):
        for _ in range(self.steps):
            bullet.stepSimulation()

    def positions(self):
        return self.loaded()[self.order]


drive("PyBullet", version("pybullet"), Cloth)
