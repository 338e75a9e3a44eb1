// A film of what is seen: every frame that is displayed, at the pace at which it is.

import type { Stage } from "./stage";

/** What browsers can write, the best first. */
const KINDS = ["video/mp4;codecs=avc1", "video/webm;codecs=vp9", "video/webm"];
/** Bits in a second. */
const RATE = 12_000_000;

export class Film {
  private readonly canvas = document.createElement("canvas");
  private recorder: MediaRecorder | null = null;

  /** `told` hears when it starts, and when it ends gets the film. */
  constructor(private readonly stage: Stage, private readonly told: (film: Blob | null) => void) {}

  get runs(): boolean {
    return this.recorder !== null;
  }

  toggle(): void {
    if (this.recorder) return this.recorder.stop();
    const kind = KINDS.find((kind) => MediaRecorder.isTypeSupported(kind));
    // Encoders want even numbers.
    [this.canvas.width, this.canvas.height] = this.stage.shownSize.map((pixels) => pixels & ~1) as [number, number];
    const parts: Blob[] = [];
    const recorder = new MediaRecorder(this.canvas.captureStream(), { mimeType: kind, videoBitsPerSecond: RATE });
    recorder.ondataavailable = ({ data }) => parts.push(data);
    recorder.onstop = () => {
      this.recorder = null;
      this.told(new Blob(parts, { type: kind }));
    };
    this.recorder = recorder;
    this.add();
    recorder.start();
    this.told(null);
  }

  /** A frame is on the screen. */
  add(): void {
    if (this.recorder) this.stage.copyTo(this.canvas);
  }
}
