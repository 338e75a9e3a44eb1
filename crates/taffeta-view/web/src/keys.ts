// Every number, switch and choice of the scene by its name, with unit, range and meaning from the JSON Schema.

import { fabricKeys, type Hello, type Json, type Table } from "./protocol";

type Field = HTMLInputElement | HTMLSelectElement;
type Value = boolean | number | string | null;

interface Row { path: string; name: string; group: string; value: Value | number[]; schema: Table; unit: string; about: string }

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
          title.textContent = groupWords(group);
          title.title = group;
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
      element.querySelectorAll<Field>("input, select").forEach((field, k) => {
        if (field !== document.activeElement) put(field, values[k] ?? null);
      });
    }
  }

  private row(row: Row): HTMLElement {
    const element = document.createElement("div");
    element.className = "key";
    element.title = `${row.path}\n${row.about}`;
    element.dataset.path = row.path;
    const name = document.createElement("span");
    name.textContent = words(row.name);
    const fields = document.createElement("div");
    const count = Array.isArray(row.value) ? row.value.length : 1;
    for (let k = 0; k < count; k++) {
      const field = fieldOf(row.schema);
      const path = Array.isArray(row.value) ? `${row.path}[${k}]` : row.path;
      field.setAttribute("aria-label", `${path}${row.unit ? `, ${row.unit}` : ""}`);
      field.addEventListener("change", () => {
        this.set(path, taken(field)).then(() => field.classList.remove("refused"), () => field.classList.add("refused"));
      });
      fields.append(field);
    }
    const unit = document.createElement("i");
    unit.textContent = row.unit;
    element.append(name, fields, unit);
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

/** A key in words: `steps_per_frame` is "Steps per frame". */
function words(key: string): string {
  const text = key.replace(/[_-]/g, " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A table in words: `cloth[0].sheet` is "Cloth 1, sheet". */
function groupWords(path: string): string {
  const parts = path.split(".").map((part) => words(part.replace(/\[(\d+)\]/g, (_, index) => ` ${Number(index) + 1}`).replace(/"/g, "")));
  return path === "" ? "Scene" : parts.map((part, k) => (k === 0 ? part : part.toLowerCase())).join(", ");
}

const typesOf = (schema: Table) => ([] as Json[]).concat(schema.type ?? []);
const choicesOf = (schema: Table) => ((schema.oneOf ?? []) as Table[]).map((one) => String(one.const));

/** An empty field for values of a kind. */
function fieldOf(schema: Table): Field {
  const choices = choicesOf(schema), types = typesOf(schema);
  if (choices.length > 0) {
    const select = document.createElement("select");
    select.append(...choices.map((choice) => new Option(choice)));
    return select;
  }
  const input = document.createElement("input");
  if (types.includes("boolean")) return Object.assign(input, { type: "checkbox" });
  const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
  Object.assign(input, { type: "number", step: types.includes("integer") ? "1" : "any", placeholder: "auto" });
  if (minimum !== undefined) input.min = String(minimum);
  if (maximum !== undefined) input.max = String(maximum);
  return input;
}

function put(field: Field, value: Value): void {
  if (field.type === "checkbox") (field as HTMLInputElement).checked = value === true;
  else field.value = value === null ? "" : String(value);
}

/** What a field holds; an empty one takes the key out of the scene. */
function taken(field: Field): Value {
  if (field instanceof HTMLSelectElement) return field.value;
  if (field.type === "checkbox") return field.checked;
  return field.value === "" ? null : Number(field.value);
}

/** All keys that are numbers, switches or choices: those that the scene has, and those that its tables could have. */
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
    const types = typesOf(schema);
    const isPlain = types.includes("number") || types.includes("integer") || types.includes("boolean") || choicesOf(schema).length > 0;
    const about = String(schema.description ?? "");
    if (isPlain && (value === undefined || value === null || typeof value !== "object")) {
      rows.push({ path, name, group, value: value ?? null, schema, ...unitOf(about) });
    } else if (Array.isArray(value)) {
      const items = resolve((schema.items ?? {}) as Table);
      if (value.length === 3 && value.every((item) => typeof item === "number")) {
        rows.push({ path, name, group, value: value as number[], schema: items, ...unitOf(about) });
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
  const used = new Set(fabricKeys(scene).map(({ fabric }) => fabric));
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
