// The conversation: lines in order of their number, what is still on its way below them. It stays where one reads.

import { avatar, filled, isolated, node, pair, unseen } from "./nodes.js";

const NEAR = 48; // px from the end that count as being there
const SHOWN = 2000; // lines kept on the page

export class Log {
  // `seats(code)` → seat, `me()`: the own code, `report(event)`: somebody wants to report a line.
  constructor(words, { seats, me, report }) {
    this.words = words;
    this.of = { seats, me, report };
    this.box = document.getElementById("log");
    this.list = document.getElementById("lines");
    this.waiting = document.getElementById("waiting");
    this.pill = document.getElementById("pill");
    this.events = new Map(); // seq → event
    this.unread = 0;
    this.atEnd = true;
    this.list.replaceChildren();
    this.box.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.pill.addEventListener("click", () => {
      this.toEnd();
      this.box.focus({ preventScroll: true });
    });
    // The phone's keyboard, a sheet, a turned device: who read the end goes on reading it.
    new ResizeObserver(() => this.atEnd && this.toEnd()).observe(this.box);
    this.menus();
  }

  // -- scrolling

  scrolled() {
    if (this.coming) return; // on the way there
    this.atEnd = this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight < NEAR;
    if (this.atEnd) this.count(0);
  }

  toEnd() {
    this.box.scrollTop = this.box.scrollHeight;
    this.atEnd = true;
    this.count(0);
  }

  // Once for all lines that come together.
  soonToEnd() {
    this.coming ??= requestAnimationFrame(() => {
      this.coming = null;
      this.toEnd();
    });
  }

  count(unread) {
    this.unread = unread;
    this.pill.hidden = unread === 0;
    if (unread) this.pill.textContent = this.words.say(unread === 1 ? "oneNew" : "manyNew", { n: unread });
  }

  // -- lines

  add(event) {
    const line = this.line(event);
    if (!line) return;
    const wasAtEnd = this.atEnd;
    const mine = event.kind === "message" && event.seat === this.of.me();
    this.events.set(event.seq, event);
    line.dataset.seq = event.seq;
    this.list.append(line);
    if (this.list.childElementCount > SHOWN) this.list.firstElementChild.remove();
    this.reachable();
    if (wasAtEnd) this.soonToEnd();
    else if (!mine) this.count(this.unread + 1);
  }

  line(event) {
    if (event.kind === "message") return this.message(event);
    if (event.kind === "end") return null; // the panel below says it
    const words = this.announced(event);
    return words && node("li", `event ${event.kind}`, ...words);
  }

  message(event) {
    const seat = this.of.seats(event.seat);
    const text = node("p", "", tidied(event.text));
    text.dir = "auto";
    const previous = this.list.lastElementChild;
    const again = previous?.dataset.seat === event.seat;
    let line;
    if (event.seat === this.of.me()) line = node("li", "msg mine", unseen(this.words.say("you")), text);
    else {
      const who = node("span", again ? "who sr" : "who", isolated(seat.name));
      line = node("li", "msg", avatar(seat), who, text, this.more(seat));
    }
    if (again) {
      line.classList.add("again");
      previous.classList.add("more-follows");
    }
    line.dataset.seat = event.seat;
    return line;
  }

  // What the game announces, as nodes; null where a line says nothing of its own.
  announced(event) {
    const { words } = this;
    if (event.kind === "phase") {
      const sentence = words.say(`phase-${event.phase}${event.round === 1 ? "-first" : ""}`) || words.say(`phase-${event.phase}`);
      return sentence ? filled(sentence, { round: String(event.round), time: words.time(event.data.seconds ?? 0) }) : null;
    }
    if (event.kind === "out") {
      const seat = this.of.seats(event.seat);
      const { nature, tally } = event.data;
      const own = event.seat === this.of.me();
      const places = { name: isolated(seat.name), what: pair(nature, words.say(`was-${nature}`)) };
      const told = node("span", "", ...filled(words.say(own ? "outYou" : "out"), places));
      return tally ? [told, this.tally(tally)] : [told];
    }
    if (event.kind === "end") return [words.say(`end-${event.data.end ?? ""}`) || words.say("end")];
    const notice = words.say(`notice-${event.data.notice ?? ""}`, { time: words.time(event.data.seconds ?? 0) });
    return notice || event.text ? [notice || event.text] : null;
  }

  // The same for those who listen.
  spoken(event) {
    return node("p", "", ...(this.announced(event) ?? [])).textContent;
  }

  tally(tally) {
    const counts = Object.entries(tally).filter(([, votes]) => votes > 0).sort((a, b) => b[1] - a[1]);
    const parts = counts.flatMap(([code, votes], index) => [
      index ? " · " : "",
      isolated(this.of.seats(code).name),
      ` ${votes}`,
    ]);
    return node("span", "tally", this.words.say("votes"), " ", ...parts);
  }

  // -- what is on its way

  // Own messages that have not arrived yet. `works`: whether the line does.
  pending(letters, works) {
    const wasAtEnd = this.atEnd;
    const there = new Map([...this.waiting.children].map((line) => [line.dataset.id, line]));
    const lines = letters.map((letter) => {
      const line = there.get(letter.id) ?? this.unsent(letter);
      line.className = works ? "msg mine going" : "msg mine unsent";
      line.lastElementChild.textContent = this.words.say(works ? "sending" : "unsent");
      return line;
    });
    for (const [id, line] of there) if (!letters.some((letter) => letter.id === id)) line.remove();
    for (const line of lines) if (!line.parentNode) this.waiting.append(line);
    this.waiting.hidden = lines.length === 0;
    if (wasAtEnd) this.toEnd();
  }

  unsent(letter) {
    const text = node("p", "", tidied(letter.text));
    text.dir = "auto";
    const line = node("li", "", unseen(this.words.say("you")), text, node("span", "state"));
    line.dataset.id = letter.id;
    return line;
  }

  // -- reporting: a button beside each line of others; one of them is in the tab order, arrows lead to the rest

  more(seat) {
    const button = node("button", "more", this.words.say("report"));
    button.type = "button";
    button.tabIndex = -1;
    button.append(unseen(` ${this.words.say("reportWhose", { name: seat.name })}`));
    this.newest = button;
    return button;
  }

  reachable() {
    if (this.current === this.newest || (this.current && document.activeElement === this.current)) return;
    if (this.current) this.current.tabIndex = -1;
    this.current = this.newest;
    this.current.tabIndex = 0;
  }

  menus() {
    const eventOf = (target) => {
      const line = target.closest?.(".msg:not(.mine)");
      return line ? this.events.get(Number(line.dataset.seq)) : null;
    };
    this.list.addEventListener("click", (event) => {
      const line = event.target.closest(".msg:not(.mine)");
      if (!line) return;
      if (event.target.closest(".more")) return this.of.report(eventOf(line));
      if (String(getSelection())) return; // somebody marks words
      for (const open of this.list.querySelectorAll(".open")) if (open !== line) open.classList.remove("open");
      line.classList.toggle("open");
    });
    this.list.addEventListener("contextmenu", (event) => {
      // A long press on a touch screen; a mouse keeps its own menu.
      const found = event.pointerType === "touch" && eventOf(event.target);
      if (!found) return;
      event.preventDefault();
      this.of.report(found);
    });
    this.list.addEventListener("keydown", (event) => {
      const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!step || !event.target.matches(".more")) return;
      const buttons = [...this.list.querySelectorAll(".more")];
      const next = buttons[buttons.indexOf(event.target) + step];
      event.preventDefault();
      if (!next) return;
      this.current.tabIndex = -1;
      this.current = next;
      next.tabIndex = 0;
      next.focus();
    });
  }
}

// As it was sent, but for a wall of empty lines.
const tidied = (text) => text.replace(/(\s*\n){3,}/g, "\n\n");
