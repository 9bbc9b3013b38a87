// What the page says beside the scores: stored or kept, why it is locked, a break, answers that differ elsewhere.

import { CHOICE } from "./queue.js";

const byId = (id) => document.getElementById(id);
const LATER = 10 * 60 * 1000; // ms for which "not now" holds
const INSISTS = 2000; // ms for which the line on the lock stands out

export class Notices {
  constructor(words, acts) {
    this.words = words;
    this.live = byId("say");
    this.why = byId("why");
    this.saved = byId("saved");
    this.rest = byId("break");
    this.conflicts = byId("conflicts");
    this.todo = byId("todo");
    this.lock = byId("lock-icon").content.firstElementChild;
    this.quietUntil = 0;
    byId("no-break").addEventListener("click", () => {
      this.quietUntil = performance.now() + LATER;
      this.rest.hidden = true;
      byId("main").focus({ preventScroll: true });
    });
    this.conflicts.addEventListener("click", ({ target }) => {
      const { key, keep } = target.closest("button")?.dataset ?? {};
      if (key) acts.settle(key, keep === "mine");
    });
  }

  say(word, values = {}) {
    this.live.textContent = this.words.say(word, values);
  }

  // An answer came too early: the line that says why stands out for a moment, and is read out once.
  insist() {
    if (!this.why.hasAttribute("data-insists")) this.say("locked");
    this.why.toggleAttribute("data-insists", true);
    clearTimeout(this.calm);
    this.calm = setTimeout(() => this.why.removeAttribute("data-insists"), INSISTS);
  }

  offerBreak(offered) {
    this.rest.hidden = !offered || performance.now() < this.quietUntil || !this.conflicts.hidden;
  }

  // One word about what was answered: all stored, or how many wait on this device.
  stored({ scored, waiting, offline }) {
    if (!offline && waiting) return; // on its way: what was said stands until it is clear
    const text = waiting ? this.words.say("kept", { count: waiting }) : this.words.say("allStored");
    const sign = scored ? (waiting ? "▲ " : "✓ ") : "";
    if (this.saved.textContent === sign + (sign && text)) return;
    this.saved.className = `saved js ${waiting ? "warning" : "good"}`;
    const word = document.createElement("i");
    word.textContent = text;
    this.saved.replaceChildren(...(sign ? [sign, word] : []));
  }

  // The line below the player: a remark if there is one, else how long it takes until one may score.
  player({ note, unlocked, started, left }) {
    const word = note?.word ?? (unlocked ? "unlocked" : started ? "soon" : "locked");
    const text = word && this.words.say(word, { seconds: left });
    if (this.whyText === text && this.whyKind === note?.kind) return;
    this.whyText = text;
    this.whyKind = note?.kind;
    this.why.className = `why js ${note?.kind ?? ""}`.trim();
    if (note || unlocked) {
      this.why.textContent = text;
      return;
    }
    const line = document.createElement("span");
    line.className = "lock";
    const inner = document.createElement("span");
    inner.textContent = text;
    line.append(this.lock, inner);
    this.why.replaceChildren(line);
  }

  // Answers of two windows, by key.
  differ(conflicts, nameOf) {
    const rows = [...conflicts].map(([key, { mine, theirs }]) => ({
      key,
      name: nameOf(key),
      mine: this.answer(key, mine),
      theirs: this.answer(key, theirs),
    }));
    const news = rows.length > this.conflicts.querySelectorAll("li").length;
    this.conflicts.hidden = rows.length === 0;
    this.conflicts.querySelector("ul").replaceChildren(...rows.map((row) => this.difference(row)));
    if (rows.length) this.rest.hidden = true;
    if (news) this.live.textContent = rows.map((row) => this.words.say("differs", row)).join(". ");
  }

  difference({ key, name, mine, theirs }) {
    const item = document.createElement("li");
    const text = document.createElement("span");
    text.textContent = this.words.say("differs", { name, mine, theirs });
    const button = (keep, value) => {
      const made = document.createElement("button");
      made.type = "button";
      made.className = "btn plain";
      Object.assign(made.dataset, { key, keep });
      made.textContent = this.words.say("keep", { value });
      return made;
    };
    item.append(text, button("mine", mine), button("theirs", theirs));
    return item;
  }

  answer(key, { value, confidence }) {
    if (key !== CHOICE) return value ? String(value) : this.words.say("none");
    return [this.words.say(value), confidence].filter(Boolean).join(", ");
  }
}
