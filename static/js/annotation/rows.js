// The dimensions on the page: which one is current, what is marked, which card is open. Pure view: a score goes out
// as an event "score" with { row, value, how }; "reach" says that the person went to a row by themselves.

const POINTED = 1000; // ms after a press within which what happens comes from it
export const STATES = ["stored", "pending", "clash", "missing"];

class Row {
  constructor(node) {
    this.node = node;
    this.key = node.dataset.row;
    this.name = node.querySelector(".dim").textContent.trim();
    this.card = node.closest(".cat");
    this.group = node.querySelector(".group");
    this.inputs = [...node.querySelectorAll("[type=radio]")];
    this.word = node.querySelector(".word");
  }

  get value() {
    const checked = this.inputs.find((input) => input.checked);
    return checked ? Number(checked.value) : null;
  }

  set value(value) {
    for (const input of this.inputs) input.checked = value !== null && Number(input.value) === value;
    const digit = this.card.querySelector(`[data-digit="${this.key}"]`);
    digit.textContent = value === null ? "" : value || "–";
  }

  // How this answer stands; "stored" shows the tick.
  state(state, word = "") {
    for (const one of STATES) this.node.toggleAttribute(`data-${one}`, one === state);
    this.word.textContent = word;
  }

  focus() {
    const input = this.inputs.find((one) => one.checked) ?? this.inputs[0];
    input.focus({ preventScroll: true });
  }
}

export class Rows extends EventTarget {
  constructor(root, words) {
    super();
    this.root = root;
    this.words = words;
    this.all = [...root.querySelectorAll(".row")].map((node) => new Row(node));
    this.byKey = new Map(this.all.map((row) => [row.key, row]));
    this.cards = [...root.querySelectorAll("details.cat")];
    this.current = this.firstOpen ?? this.all.at(-1);
    root.addEventListener("change", (event) => this.changed(event));
    root.addEventListener("pointerdown", () => (this.pointed = performance.now()));
    root.addEventListener("focusin", (event) => this.focused(event));
    for (const card of this.cards) this.listenTo(card);
    this.fold({ only: this.firstOpen?.card });
    for (const card of this.cards) this.count(card);
    root.classList.add("ready");
  }

  // A card that the person opens to answer in it becomes the one they work on.
  listenTo(card) {
    let pressed = false;
    card.querySelector(".head").addEventListener("click", () => (pressed = !card.open));
    card.addEventListener("toggle", ({ target }) => {
      const row = this.all.find((one) => one.card === card && one.value === null);
      if (target === card && pressed && card.open && row) this.tell("reach", { row });
      if (target === card) pressed = false;
    });
  }

  tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  get scored() {
    return this.all.filter((row) => row.value !== null).length;
  }

  get complete() {
    return this.scored === this.all.length;
  }

  get firstOpen() {
    return this.all.find((row) => row.value === null) ?? null;
  }

  // The next one without a score after `row`, else the first without.
  after(row) {
    const at = this.all.indexOf(row);
    return this.all.slice(at + 1).find((one) => one.value === null) ?? this.firstOpen;
  }

  before(row) {
    return this.all[this.all.indexOf(row) - 1] ?? null;
  }

  // A score arrived from the mouse or from the arrows in a group; the arrows stay where they are.
  changed({ target }) {
    const row = this.byKey.get(target.closest(".row")?.dataset.row);
    if (!row) return;
    this.give(row, Number(target.value), this.isPointed ? "pointer" : "arrows");
    this.pointed = null;
  }

  // Whether a press of the pointer led to this, not a key.
  get isPointed() {
    return performance.now() - (this.pointed ?? -Infinity) < POINTED;
  }

  focused({ target }) {
    const row = this.byKey.get(target.closest(".row")?.dataset.row);
    if (row && !this.isPointed) this.tell("reach", { row });
  }

  give(row, value, how) {
    row.value = value;
    this.count(row.card);
    this.tell("score", { row, value, how });
  }

  // Makes `row` the current one; null when all rows are behind.
  at(row, { calm = false, focus = false } = {}) {
    this.current = row;
    for (const one of this.all) {
      one.node.classList.toggle("now", one === row);
      if (one === row) one.group.setAttribute("aria-current", "true");
      else one.group.removeAttribute("aria-current");
    }
    if (!row) return;
    if (!row.card.open) this.fold({ only: row.card });
    if (focus) row.focus();
    if (!calm) this.intoView(row.node);
  }

  // Calmly: only where it is not well in sight, and without motion for people who want none.
  intoView(node) {
    const { top, bottom } = node.getBoundingClientRect();
    const above = parseFloat(getComputedStyle(node).scrollMarginTop) || 0;
    const room = this.root.contains(node) && node.matches(".row") ? Math.min(innerHeight * 0.2, 140) : 16;
    const below = innerHeight - room;
    if (top >= above && bottom <= below) return;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const wanted = top < above ? top - above : Math.min(bottom - below, top - above);
    scrollBy({ top: wanted, behavior: still ? "instant" : "smooth" });
  }

  // Opens `only` and folds the others away, complete or not yet begun; `only` stays where it is on the screen.
  fold({ only, anchor = null }) {
    const before = anchor?.getBoundingClientRect().top;
    for (const card of this.cards) card.open = card === only;
    const after = anchor?.getBoundingClientRect().top;
    if (anchor && after < before && scrollY > 0) scrollBy({ top: after - before, behavior: "instant" });
  }

  count(card) {
    const rows = this.all.filter((row) => row.card === card);
    const scored = rows.filter((row) => row.value !== null).length;
    card.toggleAttribute("data-done", scored === rows.length);
    card.querySelector(".part").textContent = this.words.say("part", { scored, of: rows.length });
    return scored === rows.length;
  }

  isDone(card) {
    return card.hasAttribute("data-done");
  }

  reset(scores) {
    for (const row of this.all) {
      row.value = scores.get(row.key)?.value ?? null;
      row.state(scores.has(row.key) ? "stored" : "");
    }
    for (const card of this.cards) this.count(card);
    this.fold({ only: (this.firstOpen ?? null)?.card });
    this.at(this.firstOpen, { calm: true });
  }
}
