// Where the person is, and on to the next: a row, the choice, how sure, or "" when all is said. What they answer goes
// out as an event "answer" with { key, answer }.

import { CHOICE } from "./queue.js";

const byId = (id) => document.getElementById(id);

export class Steps extends EventTarget {
  constructor({ rows, finale, about, notices, words, isOpen }) {
    super();
    Object.assign(this, { rows, finale, about, notices, words, isOpen });
    rows.addEventListener("reach", ({ detail }) => this.go(detail.row, { calm: true }));
    rows.addEventListener("score", ({ detail }) => this.scored(detail));
    finale.addEventListener("choice", ({ detail }) => this.chosen(detail.how));
  }

  // The first thing that is still to be answered; "" when nothing is.
  get first() {
    return this.rows.firstOpen ?? this.finale.asks;
  }

  get complete() {
    return this.rows.complete && this.finale.complete;
  }

  // `calm`: nothing scrolls. `focus`: the focus goes along.
  go(to, { calm = false, focus = false } = {}) {
    this.at = to;
    if (!calm) this.about.close();
    const asks = typeof to === "string";
    this.rows.at(asks ? null : to, { calm, focus });
    this.finale.open = this.rows.complete && this.isOpen();
    this.finale.at(asks ? to : "");
    byId("go").classList.toggle("now", to === "");
    if (!asks || calm || !this.finale.open) return;
    this.rows.fold({ only: null });
    this.rows.intoView(to === "" ? byId("go") : this.finale.node);
    if (focus) (to === "" ? byId("go") : this.finale.input(to)).focus({ preventScroll: true });
  }

  digit(digit) {
    if (typeof this.at !== "string") this.rows.give(this.at, digit, "keys");
    else if (this.at && digit) this.finale.key(digit, this.at);
  }

  back() {
    const before = { "": "sure", sure: "choice", choice: this.rows.all.at(-1) };
    const to = typeof this.at === "string" ? before[this.at] : this.rows.before(this.at);
    if (to) this.go(to, { focus: this.holds });
  }

  explain() {
    if (typeof this.at !== "string") this.about.toggle(this.at.node.querySelector(".about"));
  }

  // The focus moves along only where it is on an answer already: for people who go by Tab or a screen reader.
  get holds() {
    const held = document.activeElement;
    return Boolean(held?.matches("[type=radio]")) && this.rows.root.contains(held);
  }

  answer(key, answer) {
    this.dispatchEvent(new CustomEvent("answer", { detail: { key, answer } }));
  }

  scored({ row, value, how }) {
    this.answer(row.key, { value });
    if (how === "arrows") {
      this.go(row, { calm: true });
      return;
    }
    const next = this.rows.after(row) ?? this.finale.asks;
    if (next === "choice") this.notices.say("finale");
    else if (next !== "" && next.card !== row.card && this.rows.isDone(row.card)) {
      this.notices.say("category", { name: row.card.querySelector("h2").textContent });
    }
    this.go(next, { focus: how === "keys" && this.holds });
  }

  chosen(how) {
    const { value, confidence } = this.finale;
    if (value === null) return; // how sure, before what: kept on the page until there is a choice
    this.answer(CHOICE, { value, confidence });
    if (how === "arrows") return;
    const next = how === "keys" && this.at === "choice" ? "sure" : this.finale.asks;
    if (next === "") this.notices.say("ready");
    this.go(next, { focus: how === "keys" && this.holds });
  }

  // Says what is still open, and goes to the first of it.
  missing(keys = [this.rows.firstOpen?.key ?? this.finale.asks]) {
    const asks = { choice: "choice", confidence: "sure" }[keys[0]] ?? keys[0];
    const row = this.rows.byKey.get(asks);
    for (const key of keys) this.rows.byKey.get(key)?.state("missing", this.words.say("open"));
    const name = row?.name ?? this.words.say(asks);
    this.go(row ?? asks, { focus: this.holds });
    this.notices.todo.textContent = this.words.say("missing", { name });
    this.notices.say("missing", { name });
  }
}
