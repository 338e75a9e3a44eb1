"""MuJoCo (pip install mujoco): a flex whose edges, one diagonal of each cell among them, are equality constraints; Newton's method."""
import mujoco
import numpy as np

from sheet import BALL, FRAME, FRICTION, GRAVITY, MASS, drive


class Cloth:
    def __init__(self, sheet, settings):
        self.steps = settings["substeps"]
        h = FRAME / self.steps
        drape = sheet.scene == "drape"
        rub = f'friction="{FRICTION} 0.005 0.0001" solref="{2 * h} 1"'
        ball = f'<geom type="sphere" size="{BALL}" {rub}/>' if drape else ""
        meets = int(drape)
        self_contact = "auto" if drape and settings.get("self_contact") else "none"
        pins = f'<pin id="{" ".join(map(str, sheet.pins))}"/>' if sheet.pins else ""
        height = sheet.start[0, 1]
        text = f"""
        <mujoco>
          <size memory="2G"/>
          <option timestep="{h}" solver="Newton" iterations="50" tolerance="1e-10" gravity="0 0 -{GRAVITY}"/>
          <worldbody>{ball}
            <flexcomp name="sheet" type="grid" count="{sheet.n} {sheet.n} 1" spacing="{sheet.edge} {sheet.edge} 1" mass="{MASS}" dim="2"
                radius="0.002" pos="0 0 {height}">
              <edge equality="true" solref="{2 * h} 1" solimp="0.9999 0.9999 0.001"/>
              <contact selfcollide="{self_contact}" contype="{meets}" conaffinity="{meets}" condim="3" {rub}/>
              {pins}
            </flexcomp>
          </worldbody>
        </mujoco>"""
        self.model = mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.model)
        mujoco.mj_forward(self.model, self.data)
        if np.abs(self.positions() - sheet.start).max() > 1e-6:
            raise SystemExit("the grid of MuJoCo is not numbered as ours")

    def frame(self):
        for _ in range(self.steps):
            mujoco.mj_step(self.model, self.data)

    def positions(self):
        # z is up there, and its grid goes along its second axis first.
        return self.data.flexvert_xpos[:, [1, 2, 0]]


drive("MuJoCo", mujoco.__version__, Cloth)
