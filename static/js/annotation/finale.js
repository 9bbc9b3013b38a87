// The last question: human or machine, then how sure. Opens when every dimension has its score.

import { STATES } from "./rows.js";

export class Finale extends EventTarget {
  constructor(node, order) {
    super();
    this.node = node;
    this.order = order;
    this.choices = [...node.querySelectorAll("[name=choice]")];
    this.steps = [...node.querySelectorAll("[name=confidence]")];
    this.word = node.querySelector(".word");
    node.addEventListener("pointerdown", () => (this.pointed = true));
    node.addEventListener("change", () => {
      const how = this.pointed ? "pointer" : "arrows";
      this.pointed = false;
      this.changed(how);
    });
  }

  get value() {
    return this.choices.find((input) => input.checked)?.value ?? null;
  }

  get confidence() {
    const step = this.steps.find((input) => input.checked);
    return step ? Number(step.value) : null;
  }

  get complete() {
    return this.value !== null && this.confidence !== null;
  }

  // Which question is asked: the choice, how sure, or neither.
  get asks() {
    if (this.value === null) return "choice";
    return this.confidence === null ? "sure" : "";
  }

  get open() {
    return this.node.hasAttribute("data-open");
  }

  set open(open) {
    this.node.toggleAttribute("data-open", open);
  }

  changed(how) {
    this.dispatchEvent(new CustomEvent("choice", { detail: { how } }));
  }

  // A digit: left or right, or how sure.
  key(digit, asks) {
    const input = asks === "choice" ? this.choices[digit - 1] : this.steps[digit - 1];
    if (!input || digit > (asks === "choice" ? this.order.length : 5)) return false;
    input.checked = true;
    this.changed("keys");
    return true;
  }

  // Where the focus belongs for a question.
  input(asks) {
    const inputs = asks === "choice" ? this.choices : this.steps;
    return inputs.find((one) => one.checked) ?? inputs[0];
  }

  mark({ value, confidence }) {
    for (const input of this.choices) input.checked = input.value === value;
    for (const input of this.steps) input.checked = Number(input.value) === confidence;
  }

  at(asks) {
    this.node.classList.toggle("now", Boolean(asks));
    this.node.querySelector("#choice").classList.toggle("asked", asks === "choice");
    this.node.querySelector("#sure").classList.toggle("asked", asks === "sure");
  }

  state(state, word = "") {
    for (const one of STATES) this.node.toggleAttribute(`data-${one}`, one === state);
    this.word.textContent = word;
  }
}
