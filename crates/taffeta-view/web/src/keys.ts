// Every number of the scene by its name, with unit, range and meaning from the JSON Schema.

import type { Hello, Json, Table } from "./protocol";

interface Row { path: string; name: string; group: string; value: number | number[] | null; schema: Table; unit: string; about: string; whole: boolean }

/** The list of keys. */
export class Keys {
  private shown = "";
  private rows = new Map<string, HTMLElement>();

  constructor(private readonly box: HTMLElement, private readonly filter: HTMLInputElement, private readonly set: (key: string, value: Json) => Promise<unknown>) {
    filter.addEventListener("input", () => this.sift());
  }

  show(hello: Hello, scene: Table, changed: string[]): void {
    const rows = list(hello, scene);
    const layout = rows.map((row) => row.path).join();
    // Rows are made anew only when other keys exist, so that nobody loses the one they are typing in.
    if (layout !== this.shown) {
      this.shown = layout;
      this.rows.clear();
      this.box.replaceChildren();
      let group = "\u0000";
      for (const row of rows) {
        if (row.group !== group) {
          group = row.group;
          const title = document.createElement("h4");
          title.textContent = group || "scene";
          this.box.append(title);
        }
        const element = this.row(row);
        this.rows.set(row.path, element);
        this.box.append(element);
      }
      this.sift();
    }
    for (const row of rows) {
      const element = this.rows.get(row.path);
      if (!element) continue;
      element.classList.toggle("changed", changed.some((key) => key === row.path || key.startsWith(`${row.path}[`)));
      const values = Array.isArray(row.value) ? row.value : [row.value];
      element.querySelectorAll("input").forEach((input, k) => {
        if (input !== document.activeElement) input.value = values[k] === null || values[k] === undefined ? "" : String(values[k]);
      });
    }
  }

  private row(row: Row): HTMLElement {
    const element = document.createElement("div");
    element.className = "key";
    element.title = row.about;
    element.dataset.path = row.path;
    const name = document.createElement("span");
    name.textContent = row.name;
    const inputs = document.createElement("div");
    const count = Array.isArray(row.value) ? row.value.length : 1;
    const { minimum, maximum } = row.schema as { minimum?: number; maximum?: number };
    for (let k = 0; k < count; k++) {
      const input = document.createElement("input");
      input.type = "number";
      input.step = row.whole ? "1" : "any";
      if (minimum !== undefined) input.min = String(minimum);
      if (maximum !== undefined) input.max = String(maximum);
      input.placeholder = "auto";
      const path = Array.isArray(row.value) ? `${row.path}[${k}]` : row.path;
      input.setAttribute("aria-label", `${path}${row.unit ? `, ${row.unit}` : ""}`);
      input.addEventListener("change", () => {
        const value = input.value === "" ? null : Number(input.value);
        this.set(path, value).then(() => input.classList.remove("refused"), () => input.classList.add("refused"));
      });
      inputs.append(input);
    }
    const unit = document.createElement("i");
    unit.textContent = row.unit;
    element.append(name, inputs, unit);
    return element;
  }

  private sift(): void {
    const wanted = this.filter.value.trim().toLowerCase();
    this.rows.forEach((row, path) => (row.hidden = !`${path} ${row.title}`.toLowerCase().includes(wanted)));
    // A title without rows says nothing.
    let title: HTMLElement | null = null;
    for (const child of this.box.children as HTMLCollectionOf<HTMLElement>) {
      if (child.tagName === "H4") (title = child).hidden = true;
      else if (!child.hidden && title) title.hidden = false;
    }
  }
}

/** All numeric keys: those that the scene has, and those that its tables could have. */
function list(hello: Hello, scene: Table): Row[] {
  const rows: Row[] = [];
  const root = hello.schema;
  const resolve = (schema: Table): Table => {
    const reference = schema.$ref ?? (schema.anyOf as Table[] | undefined)?.find((one) => one.$ref)?.$ref;
    if (typeof reference !== "string") return schema;
    const target = (root.$defs as Table)[reference.split("/").pop()!] as Table;
    return { ...target, description: schema.description ?? target.description ?? null };
  };
  const walk = (value: Json | undefined, given: Table, path: string, group: string, name: string): void => {
    const schema = resolve(given);
    const types = ([] as Json[]).concat(schema.type ?? []);
    const number = types.includes("number") || types.includes("integer");
    const about = String(schema.description ?? "");
    if (number && (typeof value === "number" || value === undefined)) {
      rows.push({ path, name, group, value: value ?? null, schema, ...unitOf(about), whole: types.includes("integer") });
    } else if (Array.isArray(value)) {
      const items = resolve((schema.items ?? {}) as Table);
      if (value.length === 3 && value.every((item) => typeof item === "number")) {
        rows.push({ path, name, group, value: value as number[], schema: items, ...unitOf(about), whole: items.type === "integer" });
      } else value.forEach((item, k) => typeof item === "object" && walk(item, items, `${path}[${k}]`, `${path}[${k}]`, ""));
    } else if (value && typeof value === "object") {
      const properties = (schema.properties ?? {}) as Table;
      const open = schema.additionalProperties as Table | undefined;
      for (const key of Object.keys(Object.keys(properties).length > 0 ? properties : value)) {
        const inner = (properties[key] ?? open ?? {}) as Table;
        const inside = value[key];
        const below = `${path ? `${path}.` : ""}${/^[A-Za-z_-][\w-]*$/.test(key) ? key : JSON.stringify(key)}`;
        const table = inside !== null && typeof inside === "object" && !Array.isArray(inside);
        walk(inside, inner, below, table ? below : group || path, key);
      }
    }
  };
  walk({ ...scene, fabrics: fabricsInUse(hello, scene) }, root, "", "", "");
  return rows;
}

/** The fabrics that the cloth is made of, with all their numbers: built-in ones and what the scene changes. */
function fabricsInUse(hello: Hello, scene: Table): Table {
  const own = (scene.fabrics ?? {}) as { [name: string]: Table };
  const used = new Set((scene.cloth as Table[]).map((cloth) => String(cloth.fabric)));
  const preset = (name: string) => hello.fabrics.find((fabric) => fabric.name === name)?.fabric;
  const merged = (name: string) => {
    const change = Object.entries(own[name] ?? {}).filter(([, value]) => value !== null);
    const base = own[name]?.base;
    return { ...((typeof base === "string" ? preset(base) : preset(name)) ?? preset("cotton")), ...Object.fromEntries(change) };
  };
  return Object.fromEntries([...used].map((name) => [name, merged(name)])) as Table;
}

/** The unit stands in brackets in the description; [1] is none. */
function unitOf(about: string): { unit: string; about: string } {
  const unit = /\[([^\]\d,][^\],]*|1\/s)\]/.exec(about)?.[1] ?? "";
  return { unit, about: about.replace(/ \[(1|[^\]\d,][^\],]*|1\/s)\]/, "") };
}
