// The gallery: everything that can be opened, as small pictures with titles, in groups.

import type { Status } from "./protocol";

type Choice = Status["choices"][number];

/** The built-in scenes as one looks for them; what is in no group stands in the last. */
const GROUPS: [title: string, scenes: string[]][] = [
  ["Flags and curtains", ["flag", "flag-pole", "flag-calm", "flag-wind", "flag-storm", "curtain", "curtain-gusts", "hang", "whip"]],
  ["Cloth on bodies", ["drape", "drape-box", "disc", "tablecloth", "tablecloth-pull", "spin", "stack", "capsules", "edge", "needle", "tube"]],
  ["Garments", ["mannequin", "shirt", "skirt-spin", "layers", "pleats", "dress", "hoodie", "suit"]],
  ["Folds, knots and piles", ["crumple", "crush", "twist", "wring", "wash", "cage", "pile", "ring", "knot-ribbon"]],
  ["Things that fall, bounce and tear", ["objects", "hammock", "trampoline", "catch", "balloon", "jelly", "sponge", "sponge-stairs"]],
];
const OTHERS = "Files and recordings";

export class Gallery {
  private shown = "";

  constructor(private readonly box: HTMLDialogElement, private readonly list: HTMLElement, private readonly open: (choice: string) => void) {
    // A click beside it closes it.
    box.addEventListener("click", (event) => event.target === box && box.close());
  }

  show(choices: Choice[], chosen: string): void {
    const told = JSON.stringify([choices, chosen]);
    if (told === this.shown) return;
    this.shown = told;
    const known = new Map(choices.map((choice) => [choice.id, choice]));
    const groups = GROUPS.map(([title, scenes]): [string, Choice[]] => [title, scenes.flatMap((scene) => known.get(scene) ?? [])]);
    const grouped = new Set(GROUPS.flatMap(([, scenes]) => scenes));
    groups.push([OTHERS, choices.filter(({ id }) => !grouped.has(id))]);
    this.list.replaceChildren(...groups.filter(([, members]) => members.length > 0).map(([title, members]) => {
      const group = document.createElement("section");
      const heading = document.createElement("h3");
      heading.textContent = title;
      const cards = document.createElement("div");
      cards.className = "cards";
      cards.append(...members.map((choice) => this.card(choice, choice.id === chosen)));
      group.append(heading, cards);
      return group;
    }));
  }

  private card({ id, title, recording }: Choice, chosen: boolean): HTMLElement {
    const card = document.createElement("button");
    card.className = "card";
    card.dataset.choice = id;
    if (chosen) card.setAttribute("aria-current", "true");
    const picture = Object.assign(new Image(240, 150), { alt: "", loading: "lazy" });
    // What has no picture keeps its ground.
    picture.onerror = () => (picture.style.visibility = "hidden");
    if (recording) picture.style.visibility = "hidden";
    else picture.src = `scenes/${encodeURIComponent(id)}.webp`;
    const name = document.createElement("b"), about = document.createElement("small");
    name.textContent = id.split("/").pop() ?? id;
    about.textContent = title;
    card.append(picture, name, about);
    card.addEventListener("click", () => {
      this.box.close();
      this.open(id);
    });
    return card;
  }
}
