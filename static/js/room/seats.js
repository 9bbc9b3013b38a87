// The players' row: everybody in the same order and style, who is out struck through, with what they were.

import { avatar, initials, isolated, node, unseen } from "./nodes.js";

export class Seats {
  constructor(words) {
    this.words = words;
    this.list = document.getElementById("seats");
    this.all = new Map();
    // A row that is wider than the screen scrolls, so the keyboard must get there; any other is no stop of its own.
    new ResizeObserver(() => this.reachable()).observe(this.list);
  }

  reachable() {
    if (this.list.scrollWidth > this.list.clientWidth) this.list.tabIndex = 0;
    else this.list.removeAttribute("tabindex");
  }

  // `state` of the room; `natures`: code → what somebody who is out was.
  set(state, natures) {
    const letters = initials(state.seats.map((seat) => seat.name));
    this.all = new Map(
      state.seats.map((seat, position) => [
        seat.seat,
        { ...seat, position, initial: letters[position], nature: natures.get(seat.seat), mine: seat.seat === state.you.seat },
      ]),
    );
    const shown = JSON.stringify([...this.all.values()]);
    if (shown === this.shown) return;
    this.shown = shown;
    this.list.replaceChildren(...[...this.all.values()].map((seat) => this.item(seat)));
    this.reachable();
  }

  // The seat of a code; one that never was there has a name all the same, so that no page breaks.
  of(code) {
    return this.all.get(code) ?? { seat: code, name: "?", initial: "?", position: 0 };
  }

  item(seat) {
    const face = avatar(seat);
    if (seat.nature) face.append(node("span", seat.nature === "machine" ? "mark m" : "mark"));
    const name = node(seat.out ? "s" : "span", "", isolated(seat.name));
    const made = node("li", "seat", face, name);
    if (seat.mine) {
      made.classList.add("me");
      made.append(node("span", "tag", this.words.say("you")));
    }
    if (seat.out) {
      made.classList.add("gone");
      made.append(unseen(` ${this.words.say(seat.nature ? `gone-${seat.nature}` : "gone")}`));
    }
    return made;
  }
}
