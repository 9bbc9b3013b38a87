// The vote: a sheet with faces, one tap and a confirmation. Closed, it opens again from the panel below the talk.

import { avatar, isolated, node } from "./nodes.js";

export class Vote {
  // `cast(target)`: a seat's code, or null to abstain. `seats(code)` → seat.
  constructor(words, { cast, seats }) {
    this.words = words;
    this.on = { cast, seats };
    this.sheet = document.getElementById("vote-sheet");
    this.form = this.sheet.querySelector("form");
    this.faces = document.getElementById("faces");
    this.confirm = document.getElementById("vote-confirm");
    this.abstain = document.getElementById("vote-abstain");
    this.said = document.getElementById("vote-said");
    this.heading = this.sheet.querySelector("h2");
    this.round = null;
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit(this.chosen);
    });
    this.faces.addEventListener("change", () => this.busy || this.render());
    this.abstain?.addEventListener("click", () => this.submit(null));
    for (const button of this.sheet.querySelectorAll("[data-close]")) {
      button.addEventListener("click", () => this.sheet.close());
    }
    document.getElementById("vote-open")?.addEventListener("click", () => this.show());
  }

  get chosen() {
    return this.form.querySelector("input:checked")?.value ?? null;
  }

  // Whether this person may vote now, and for whom.
  set(open, round, codes) {
    this.open = open;
    if (!open) {
      if (this.sheet.open) this.sheet.close();
      this.offered = "";
      return;
    }
    const offered = `${round} ${codes.join(" ")}`;
    if (offered !== this.offered) {
      const fresh = round !== this.round;
      this.offered = offered;
      this.round = round;
      this.faces.replaceChildren(...codes.map((code) => this.face(code)));
      this.busy = false;
      this.said.textContent = "";
      this.render();
      if (fresh) this.show();
    }
  }

  face(code) {
    const seat = this.on.seats(code);
    const input = node("input");
    input.type = "radio";
    input.name = "target";
    input.value = code;
    return node("label", "face", input, node("span", "", avatar(seat), isolated(seat.name)));
  }

  show() {
    if (this.open && !this.sheet.open) this.sheet.showModal();
    this.heading.focus({ preventScroll: true });
  }

  submit(target) {
    if (this.busy || (target === null && !this.abstain)) return;
    this.sending(target);
    this.on.cast(target, this.round);
  }

  // On its way: chosen already, now or by an earlier page of this tab.
  sending(target) {
    const input = [...this.faces.querySelectorAll("input")].find((one) => one.value === target);
    if (input) input.checked = true;
    this.busy = true;
    this.render();
  }

  // The room did not take it: the reason, and the choice is open again.
  refused(reason) {
    this.busy = false;
    this.said.textContent = reason;
    this.render();
  }

  render() {
    const { chosen } = this;
    const ready = chosen !== null && !this.busy;
    const word = this.busy ? "voting" : chosen === null ? "choose" : "voteFor";
    this.confirm.textContent = this.words.say(word, { name: chosen === null ? "" : this.on.seats(chosen).name });
    if (ready) this.confirm.removeAttribute("aria-disabled");
    else this.confirm.setAttribute("aria-disabled", "true");
    this.faces.classList.toggle("locked", this.busy); // not disabled: the focus stays where it is
  }
}
