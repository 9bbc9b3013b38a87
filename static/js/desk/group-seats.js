// All seats of a preview on one page: each has a line of its own to the room, as a player's page has.
import { Clock, minutes } from "../room/clock.js";
import { Line } from "../room/line.js";
import { Server, Unreachable } from "../server.js";
import { Words } from "../words.js";

const words = new Words();
const server = new Server();
const top = document.querySelector("[data-top]");
const clock = new Clock(() => [top.querySelector("[data-clock]")], { word: minutes, spoken: () => {} });

const node = (name, className, ...inside) => {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...inside);
  return made;
};
// Also where the page is not served over TLS, as on a desk's own network.
const fresh = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
const isolated = (text) => node("bdi", "", text);

class Column {
  constructor(box) {
    this.box = box;
    this.code = box.dataset.seat;
    this.seats = new Map();
    this.last = 0;
    this.early = []; // lines that came before the state that names their seats
    this.list = box.querySelector("[data-lines]");
    this.scroller = box.querySelector("[data-scroller]");
    this.say = box.querySelector("[data-say]");
    this.votes = box.querySelector("[data-votes]");
    this.note = box.querySelector("[data-note]");
    this.say.addEventListener("submit", (event) => this.send(event));
    const { socket, log, send, act } = box.dataset;
    this.line = new Line(
      server,
      { socket, log, send, act },
      { after: () => this.last, heard: (frame) => this.heard(frame), changed: () => this.changed() },
    );
  }

  changed() {
    const lost = !this.line.works;
    if (lost) this.note.textContent = words.say("lost");
    else if (this.wasLost) this.note.textContent = "";
    this.wasLost = lost;
  }

  heard(frame) {
    if (frame.type === "event") this.add(frame);
    else if (frame.type === "state") this.state(frame);
    else if (frame.type === "clock") clock.set(frame.remaining, frame.phase_number);
    else if (frame.type === "goto") this.close();
  }

  state(state) {
    for (const seat of state.seats) this.seats.set(seat.seat, seat);
    for (const event of this.early.splice(0)) this.add(event);
    clock.set(state.remaining, state.phase_number);
    if (state.phase_number !== this.phase) this.note.textContent = "";
    this.phase = state.phase_number;
    top.querySelector("[data-phase]").textContent = words.say(state.closed ? "end" : state.phase, { round: state.round });
    this.box.querySelector("[data-out]").hidden = !state.you.out;
    this.say.hidden = !state.you.may_write;
    this.offer(state);
  }

  // One button for each seat this one may vote for, as long as it may.
  offer(state) {
    const { votes_for: codes = [], voted, abstain } = state.play;
    const open = state.phase === "vote" && !state.you.out && !state.closed && !voted && codes.length > 0;
    const offered = open ? `${state.round} ${codes.join(" ")}` : "";
    if (offered === this.offered) return;
    this.offered = offered;
    this.votes.hidden = !open;
    const buttons = codes.map((code) => this.button(code, isolated(this.seats.get(code).name), state.round));
    if (abstain) buttons.push(this.button(null, words.say("abstain"), state.round));
    this.votes.querySelector(".line").replaceChildren(...(open ? buttons : []));
  }

  button(target, name, round) {
    const made = node("button", "btn plain", name);
    made.type = "button";
    made.addEventListener("click", async () => {
      const answer = await this.tell({ type: "act", id: fresh(), do: "vote", target, round });
      if (answer?.type === "done") {
        this.votes.hidden = true;
        this.note.textContent = words.say("voted");
        this.note.tabIndex = -1;
        this.note.focus();
      }
    });
    return made;
  }

  async send(event) {
    event.preventDefault();
    const field = this.say.elements.text;
    const text = field.value;
    if (!text.trim() || this.sending) return;
    this.sending = true;
    this.letter ??= { text, id: fresh() };
    if (this.letter.text !== text) this.letter = { text, id: fresh() };
    const answer = await this.tell({ type: "send", id: this.letter.id, text, at: Date.now() });
    this.sending = false;
    if (answer?.type !== "ack") return; // the text stays; sent again it is the same message
    this.letter = null;
    if (field.value === text) field.value = "";
  }

  async tell(letter) {
    try {
      const answer = await this.line.tell(letter);
      this.note.textContent = answer.type === "refused" ? answer.error.message : "";
      if (answer.type === "goto") this.close();
      return answer;
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      this.note.textContent = words.say("lost");
      return null;
    }
  }

  add(event) {
    if (event.seat && !this.seats.has(event.seat)) {
      this.early.push(event);
      return;
    }
    if (event.seq <= this.last) return;
    this.last = event.seq;
    const line = this.told(event);
    if (!line) return;
    const atEnd = this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight < 40;
    this.list.append(line);
    if (atEnd) this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  told(event) {
    const name = this.seats.get(event.seat)?.name ?? "";
    if (event.kind === "message") {
      const text = node("p", "said", event.text);
      text.dir = "auto";
      const mine = event.seat === this.code;
      return node("li", mine ? "mine" : "", node("div", "", node("p", "by", node("b", "", isolated(name))), text));
    }
    const sentence = {
      phase: () => words.say(event.phase, { round: event.round }),
      out: () => words.say(event.data.nature, { name }),
      end: () => words.say("end"),
      notice: () => (event.data.seconds ? words.say("notice", { seconds: event.data.seconds }) : event.text),
    }[event.kind]?.();
    return sentence ? node("li", `line-${event.kind}`, node("p", "", sentence)) : null;
  }

  close() {
    this.line.close();
    this.say.hidden = true;
    this.votes.hidden = true;
    this.note.textContent = words.say("gone");
  }
}

for (const box of document.querySelectorAll("[data-socket]")) new Column(box);
