"""What is told of a frame: the object that `report.json` has of it."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from typing import Any

from ._taffeta import Certificate


@dataclass(frozen=True, repr=False)
class Report:
    """What is told of a frame."""

    frame: int
    """The frame; 0 is the start."""
    time: float
    """Simulated time [s]."""
    converged: bool
    """Whether every step reached what its method promises."""
    certificate: Certificate
    """Strain and intersections, measured by code that is not the solver."""
    substeps: int
    """Sub-steps taken."""
    iterations: int
    """Iterations of the solver."""
    contacts: int
    """What touches at the end."""
    energy: dict[str, float]
    """Kinetic, gravity and elastic energy [J]."""
    momentum: tuple[float, float, float]
    """Momentum of all particles [kg·m/s]."""
    wall_ms: float
    """Wall time of stepping [ms]."""
    stage_ms: dict[str, float]
    """Wall time of its stages [ms]."""
    state_hash: str
    """Fingerprint of every bit of the state: the same as from the program."""
    told: dict[str, Any]
    """All that the program tells of the frame, as in `report.json`."""

    @staticmethod
    def of(text: str, tolerance: float | None) -> Report:
        """The report that the compiled part of the package has written as JSON."""
        told = json.loads(text)

        def number(key: str) -> float:
            return float("inf") if told[key] is None else float(told[key])

        measured = (number("max_strain"), number("mean_strain"), told["cloth_cloth"], told["cloth_body"], number("min_gap_m"))
        return Report(
            frame=told["frame"], time=told["time_s"], converged=told["converged"],
            certificate=Certificate(measured, tolerance), substeps=told["substeps"], iterations=told["iterations"],
            contacts=told["contacts"], energy=told["energy_j"], momentum=tuple(told["momentum"]), wall_ms=told["wall_ms"],
            stage_ms=told["stage_ms"], state_hash=told["state_hash"], told=told,
        )

    @property
    def good(self) -> bool:
        """Whether the frame converged and its certificate holds."""
        return self.converged and self.certificate.holds

    def __repr__(self) -> str:
        ended = "converged" if self.converged else "NOT converged"
        return (f"<Report: frame {self.frame} at {self.time:.3f} s, {ended} in {self.substeps} sub-steps, {self.wall_ms:.1f} ms, "
                f"{self.certificate!r}>")

    def _repr_html_(self) -> str:
        rows = [
            ("frame", f"{self.frame} at {self.time:.3f} s"),
            ("converged", "yes" if self.converged else "NO"),
            ("sub-steps, iterations", f"{self.substeps}, {self.iterations}"),
            ("contacts", str(self.contacts)),
            ("energy", ", ".join(f"{name} {value:.4g} J" for name, value in self.energy.items())),
            ("wall time", f"{self.wall_ms:.1f} ms"),
            ("state", f"<code>{self.state_hash}</code>"),
        ]
        body = "".join(f"<tr><th style='text-align:left'>{html.escape(name)}</th><td>{value}</td></tr>" for name, value in rows)
        return f"<table>{body}</table>{self.certificate._repr_html_()}"
