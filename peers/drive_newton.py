"""Newton (pip install newton), on the CPU: springs by XPBD, or triangles by vertex block descent."""
import newton
import warp
from importlib.metadata import version

from sheet import BALL, FRAME, FRICTION, GRAVITY, MASS, SIZE, drive

RADIUS = 0.003  # m


class Cloth:
    def __init__(self, sheet, settings):
        warp.config.quiet = True
        self.steps = settings["substeps"]
        descent = settings["solver"] == "vbd"
        builder = newton.ModelBuilder(up_axis=newton.Axis.Y, gravity=(0.0, -GRAVITY, 0.0))
        points = [warp.vec3(*map(float, x)) for x in sheet.start]
        still = warp.vec3(0.0, 0.0, 0.0)
        if descent:
            builder.add_cloth_mesh(
                pos=still, rot=warp.quat_identity(), scale=1.0, vel=still, vertices=points, indices=sheet.triangles.ravel().tolist(),
                density=MASS / SIZE**2, tri_ke=settings["stiffness"], tri_ka=settings["stiffness"], tri_kd=0.0, edge_ke=0.0, edge_kd=0.0,
                particle_radius=RADIUS,
            )
            for i in range(len(points)):
                builder.particle_mass[i] = sheet.particle_mass
        else:
            for point in points:
                builder.add_particle(pos=point, vel=still, mass=sheet.particle_mass, radius=RADIUS)
            for a, b in sheet.edges.tolist():
                builder.add_spring(a, b, settings["stiffness"], 0.0, control=0.0)
            for a, b in sheet.diagonals.tolist():
                builder.add_spring(a, b, 1.0, 0.0, control=0.0)
        for pin in sheet.pins:
            builder.particle_mass[pin] = 0.0
            builder.particle_flags[pin] = int(builder.particle_flags[pin]) & ~int(newton.ParticleFlags.ACTIVE)
        if sheet.scene == "drape":
            builder.add_shape_sphere(-1, radius=BALL, cfg=newton.ModelBuilder.ShapeConfig(mu=FRICTION))
        if descent:
            builder.color(include_bending=False)
        self.model = model = builder.finalize(device="cpu")
        model.soft_contact_mu = FRICTION
        iterations = settings["iterations"]
        if descent and sheet.scene == "drape" and settings.get("self_contact"):
            self.solver = newton.solvers.SolverVBD(
                model, iterations=iterations, particle_enable_self_contact=True, particle_self_contact_margin=2 * RADIUS, particle_self_contact_gap=RADIUS
            )
        else:
            self.solver = (newton.solvers.SolverVBD if descent else newton.solvers.SolverXPBD)(model, iterations=iterations)
        self.now, self.next, self.control = model.state(), model.state(), model.control()
        self.contacts = model.contacts() if sheet.scene == "drape" else None

    def frame(self):
        if self.contacts is not None:
            self.model.collide(self.now, self.contacts)
        for _ in range(self.steps):
            self.now.clear_forces()
            self.solver.step(self.now, self.next, self.control, self.contacts, FRAME / self.steps)
            self.now, self.next = self.next, self.now
        warp.synchronize()

    def positions(self):
        return self.now.particle_q.numpy()


drive("Newton", version("newton"), Cloth)
