"""PositionBasedDynamics (pip install pyPBD): distance constraints, projected; diagonals are soft."""
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
from importlib.metadata import version

import numpy as np
import pypbd

from sheet import BALL, FRAME, FRICTION, drive

SHEAR = 100.0  # N/m


class Cloth:
    def __init__(self, sheet, settings):
        simulation = pypbd.Simulation.getCurrent()
        simulation.initDefault()
        self.model = model = simulation.getModel()
        cloth = model.addTriangleModel([np.array(x) for x in sheet.start], sheet.triangles.ravel().tolist(), [], [], False)
        self.particles = model.getParticles()
        for i in range(len(sheet.start)):
            self.particles.setMass(i, 0.0 if i in sheet.pins else sheet.particle_mass)
        for a, b in sheet.edges.tolist():
            model.addDistanceConstraint(a, b, 1.0)
        for a, b in sheet.diagonals.tolist():
            model.addDistanceConstraint_XPBD(a, b, SHEAR)
        self.step = simulation.getTimeStep()
        if sheet.scene == "drape":
            self.meet_ball(cloth, sheet)
        model.initConstraintGroups()
        # Contacts are looked for once in a step, lengths are solved in every sub-step: both are raised together.
        self.steps = max(1, settings["substeps"] // 10) if sheet.scene == "drape" else 1
        self.step.setValueUInt(pypbd.TimeStepController.NUM_SUB_STEPS, max(1, settings["substeps"] // self.steps))
        self.step.setValueUInt(pypbd.TimeStepController.MAX_ITERATIONS, 1)
        pypbd.TimeManager.getCurrent().setTimeStepSize(FRAME / self.steps)

    def meet_ball(self, cloth, sheet):
        """A fixed body with the distance field of a ball; its mesh is only looked at."""
        around, down = np.meshgrid(np.linspace(0, 2 * np.pi, 17), np.linspace(0, np.pi, 9))
        points = BALL * np.stack([np.sin(down) * np.cos(around), np.cos(down), np.sin(down) * np.sin(around)], -1).reshape(-1, 3)
        vertices, mesh = pypbd.VertexData(), pypbd.IndexedFaceMesh()
        faces = [(r * 17 + c, r * 17 + c + 1, (r + 1) * 17 + c + 1) for r in range(8) for c in range(16)]
        mesh.initMesh(len(points), 3 * len(faces), len(faces))
        for point in points:
            vertices.addVertex(point)
        for face in faces:
            mesh.addFace(list(face))
        mesh.buildNeighbors()
        ball = self.model.addRigidBody(
            1.0, vertices, mesh, translation=np.zeros(3), rotation=np.identity(3), scale=np.ones(3), testMesh=False, generateCollisionObject=False
        )
        ball.setMass(0.0)
        for body in (ball, cloth):
            body.setFrictionCoeff(FRICTION)
            body.setRestitutionCoeff(0.0)
        contact = pypbd.DistanceFieldCollisionDetection()
        contact.setTolerance(0.005)
        contact.addCollisionSphere(
            0, pypbd.CollisionObject.RigidBodyCollisionObjectType, ball.getGeometry().getVertexData(), 0, len(points), BALL, True, False
        )
        contact.addCollisionObjectWithoutGeometry(
            0, pypbd.CollisionObject.TriangleModelCollisionObjectType, self.particles, 0, len(sheet.start), True
        )
        self.step.setCollisionDetection(self.model, contact)
        self.kept = (contact, vertices, mesh)

    def frame(self):
        for _ in range(self.steps):
            self.step.step(self.model)

    def positions(self):
        return np.array(self.particles.getVertices())


drive("pyPBD", version("pypbd"), Cloth)
