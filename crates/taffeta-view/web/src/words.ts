// Numbers and certificates in plain words.

import type { Certificate, Report } from "./protocol";

/** A number to three figures, as short as that allows. */
export function figures(number: number): string {
  const size = Math.abs(number);
  if (size === 0) return "0";
  if (!Number.isFinite(number)) return "–";
  if (size < 1e-4 || size >= 1e7) return number.toExponential(1).replace("e+", "e");
  const text = number.toFixed(Math.max(0, 2 - Math.floor(Math.log10(size))));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** A ratio as a percentage; what is less than a billionth comes from rounding. */
export const percent = (ratio: number) => `${figures(Math.abs(ratio) < 1e-9 ? 0 : 100 * ratio)} %`;

export interface Words {
  /** null where nothing is known yet. */
  held: boolean | null;
  verdict: string;
  lines: { text: string; tone: "" | "bad" | "soft" }[];
}

/** What a frame and its certificate say. Strain is of the frame shown; intersections are of the frame that the certificate names. */
export function certificateWords(frame: number, tolerance: number, report: Report, certificate: Certificate | null, live: boolean): Words {
  const strain = report.max_strain ?? certificate?.max_strain ?? null;
  const lines: Words["lines"] = [];
  const strainHeld = strain !== null && strain <= tolerance;
  if (strain === null) lines.push({ text: "The strain could not be measured.", tone: "bad" });
  else {
    const text = `Largest strain ${percent(strain)}, ${strainHeld ? "within" : "beyond"} the tolerance of ${percent(tolerance)}.`;
    lines.push({ text, tone: strainHeld ? "" : "bad" });
  }
  if (report.converged === false) {
    lines.push({ text: `The solver did not reach its goal${report.shortfall ? `: ${report.shortfall}` : ""}.`, tone: "bad" });
  }
  if (!certificate) {
    lines.push({ text: live ? "Intersections: not measured yet." : "Intersections: taffeta check measures them in recordings.", tone: "soft" });
    return { held: strainHeld ? null : false, verdict: strainHeld ? `Frame ${frame}: strain held` : `Frame ${frame}: missed`, lines };
  }
  const late = certificate.frame === frame ? "" : ` (frame ${certificate.frame})`;
  const { cloth_body: body, cloth_cloth: cloth, min_gap_m: gap } = certificate;
  if (body > 0) lines.push({ text: `Cloth passes through bodies: ${counted(body, "triangle")}${late}.`, tone: "bad" });
  else if (gap !== null) {
    const near = gap < 1 ? `smallest gap ${figures(1000 * gap)} mm` : `the nearest is ${figures(gap)} m away`;
    lines.push({ text: `No cloth inside a body; ${near}${late}.`, tone: "" });
  }
  if (cloth > 0) lines.push({ text: `Cloth passes through cloth: ${counted(cloth, "pair")} of triangles${late}.`, tone: "bad" });
  else lines.push({ text: `No cloth passes through cloth${late}.`, tone: "" });
  const held = strainHeld && report.converged !== false && body === 0 && cloth === 0;
  return { held, verdict: `Frame ${frame}: ${held ? "all promises held" : "a promise is missed"}`, lines };
}

const counted = (count: number, thing: string) => `${count} ${thing}${count === 1 ? "" : "s"}`;
