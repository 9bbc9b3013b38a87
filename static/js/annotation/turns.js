// The turns as a list: hear one by a click, the one before or after, B's once more.

import { clock } from "../player/lanes.js";

const START = 1; // seconds into a turn after which "before" means its own start
const TOUCH = 0.05;

export class Turns {
  constructor(hearing, words) {
    this.hearing = hearing;
    this.words = words;
    this.list = document.getElementById("turns");
    this.list.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button && !button.hasAttribute("aria-disabled")) this.hear(this.turns[this.buttons.indexOf(button)]);
    });
    hearing.addEventListener("show", () => this.show());
  }

  begin(turns, redraw) {
    this.turns = turns;
    if (redraw) this.draw();
    this.buttons = [...this.list.querySelectorAll("button")];
    this.buttons.forEach((button, index) => {
      const { who, start } = turns[index];
      button.setAttribute("aria-label", this.words.say("turn", { who, at: clock(start) }));
    });
    this.shown = null;
    this.far = null;
    this.list.scrollTop = 0;
    this.show();
  }

  draw() {
    this.list.replaceChildren(
      ...this.turns.map(({ who, start, end }) => {
        const item = document.createElement("li");
        const button = document.createElement("button");
        button.type = "button";
        button.className = who === "B" ? "turn b" : "turn";
        const seconds = this.words.say("seconds", { seconds: Math.max(Math.round(end - start), 1) });
        for (const [tag, text] of [["b", who], ["span", clock(start)], ["i", seconds]]) {
          const part = document.createElement(tag);
          part.textContent = text;
          button.append(part);
        }
        item.append(button);
        return item;
      }),
    );
  }

  get index() {
    const { position } = this.hearing.sound;
    return Math.max(this.turns.findLastIndex((turn) => turn.start <= position + TOUCH), 0);
  }

  isOpen(turn) {
    return this.hearing.unlocked || turn.start <= this.hearing.listening.furthest;
  }

  hear(turn, until = null) {
    if (turn && this.isOpen(turn)) this.hearing.hear(turn.start, until);
  }

  step(by) {
    const { index } = this;
    const into = this.hearing.sound.position - this.turns[index].start;
    const at = by < 0 && into > START ? index : index + by;
    this.hear(this.turns[Math.min(Math.max(at, 0), this.turns.length - 1)]);
  }

  // B's turn that plays, or the last one that did; it stops at its end.
  repeat() {
    const turn = this.turns.slice(0, this.index + 1).findLast(({ who }) => who === "B");
    const first = this.turns.find(({ who }) => who === "B");
    const found = turn ?? first;
    if (found) this.hear(found, found.end);
  }

  show() {
    const { index } = this;
    const far = this.hearing.unlocked ? Infinity : this.hearing.listening.furthest;
    const opened = this.turns.filter((turn) => turn.start <= far).length;
    if (index === this.shown && opened === this.far) return;
    this.buttons.forEach((button, at) => {
      if (at === index) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
      if (at >= opened) button.setAttribute("aria-disabled", "true");
      else button.removeAttribute("aria-disabled");
    });
    if (index !== this.shown && this.list.scrollHeight > this.list.clientHeight) {
      const { offsetTop, offsetHeight } = this.buttons[index];
      this.list.scrollTop = offsetTop - this.list.offsetTop - (this.list.clientHeight - offsetHeight) / 2;
    }
    this.shown = index;
    this.far = opened;
  }
}
