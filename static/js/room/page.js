// The page of a room: ties line, outbox, log, clock and field together. What the game adds is in the vote and the panels.

import { Server } from "../server.js";
import { Words } from "../words.js";
import { Announcer } from "./announcer.js";
import { Clock, minutes } from "./clock.js";
import { Composer } from "./composer.js";
import { fitToScreen } from "./frame.js";
import { Line } from "./line.js";
import { Log } from "./log.js";
import { Outbox } from "./outbox.js";
import { Panels } from "./panels.js";
import { Report } from "./report.js";
import { Seats } from "./seats.js";
import { Typing } from "./typing.js";
import { Vote } from "./vote.js";

const CLOSED = new Set(["not_now", "out", "room_closed", "left"]); // refusals after which there is no field to write in
const REST = 10000; // ms
const CALM = 1500; // ms without a line before a word is said of it

class RoomWords extends Words {
  time = minutes;
}

class RoomPage {
  constructor() {
    this.main = document.getElementById("main");
    this.urls = this.main.dataset;
    this.words = new RoomWords();
    this.server = new Server();
    this.state = JSON.parse(document.getElementById("state").textContent);
    this.last = 0; // number of the newest line shown
    this.arrived = new Map(); // seq → own message the server has and we have not yet seen in the log
    const key = (what) => `room.${what}.${this.state.room}.${this.state.you.seat}`;
    this.announcer = new Announcer(this.words);
    this.seats = new Seats(this.words);
    this.clock = new Clock(() => document.querySelectorAll("[data-clock]"), {
      word: minutes,
      spoken: (seconds) => this.announcer.notice(this.words.say("secondsLeft", { n: seconds })),
    });
    this.report = new Report(this.words, this.server, this.urls.concern);
    this.log = new Log(this.words, {
      seats: (code) => this.seats.of(code),
      me: () => this.state.you.seat,
      report: (event) => this.report.ask(event, this.seats.of(event.seat).name),
    });
    this.composer = new Composer(this.words, key("draft"), {
      send: (text) => this.outbox.put({ type: "send", text, at: Date.now() }),
      typing: () => this.state.typing && this.line.typing(),
    });
    this.typing = new Typing(this.words, (code) => this.seats.of(code));
    this.vote = new Vote(this.words, {
      seats: (code) => this.seats.of(code),
      cast: (target, round) => this.outbox.put({ type: "act", do: "vote", target, round }),
    });
    this.panels = new Panels(this.words);
    this.show(this.state);
    this.line = new Line(this.server, this.urls, {
      after: () => this.last,
      heard: (frame) => this.hear(frame),
      changed: () => this.lineChanged(),
    });
    this.outbox = new Outbox(this.line, key("outbox"), {
      changed: () => this.showWaiting(),
      answered: (letter, answer) => this.answered(letter, answer),
    });
    const cast = this.outbox.letters.find((letter) => letter.type === "act" && letter.round === this.state.round);
    if (cast) this.vote.sending(cast.target);
    this.showWaiting();
    this.outbox.run();
    document.addEventListener("visibilitychange", () => this.title());
    // The link leads on where no scripts run; here it opens the sheet it names.
    document.getElementById("leave").addEventListener("click", (event) => event.preventDefault());
    fitToScreen();
  }

  // -- what the server says

  hear(frame) {
    if (frame.type === "event") this.event(frame);
    else if (frame.type === "state") this.show(frame);
    else if (frame.type === "clock") this.tick(frame);
    else if (frame.type === "typing") this.typing.add(frame.seat);
    else if (frame.type === "goto") this.go(frame.url);
  }

  event(event) {
    if (event.seq <= this.last) return;
    if (event.seq > this.last + 1) {
      this.line.ask(); // a line is missing: it comes with the answer, this one too
      return;
    }
    this.last = event.seq;
    this.log.add(event);
    this.arrived.delete(event.seq);
    this.typing.remove(event.seat);
    const mine = event.seat === this.state.you.seat;
    if (mine && event.kind === "message") this.known(event.text);
    else if (this.caughtUp && event.kind !== "message") this.announcer.notice(this.log.spoken(event));
    else if (this.caughtUp) {
      this.announcer.message(this.seats.of(event.seat).name, event.text);
      if (document.hidden) this.missed = (this.missed ?? 0) + 1;
      this.title();
    }
    this.caughtUp ||= this.last >= this.state.last_seq;
  }

  tick({ phase_number: phase, remaining, last_seq: newest }) {
    if (phase === this.state.phase_number) this.clock.set(remaining, phase);
    if (newest > this.last && this.state.you.may_read) this.line.ask();
  }

  // States may overtake each other on two ways; an older one says nothing new.
  show(state) {
    const older =
      state.phase_number < this.state.phase_number ||
      (state.phase_number === this.state.phase_number && state.last_seq < this.state.last_seq);
    if (older) return;
    this.state = state;
    const natures = new Map(state.play.out.map((one) => [one.seat, one.nature]));
    this.seats.set(state, natures);
    this.clock.set(state.remaining, state.phase_number);
    const may = state.writable && state.you.may_write;
    this.composer.allow(may, state.max_length);
    if (!state.typing || !state.writable) this.typing.clear();
    const voting = state.phase === "vote" && !state.play.voted && state.play.votes_for.length > 0 && !state.closed;
    this.panels.show(state, { writing: may, voting });
    this.vote.set(voting && !this.panels.over, state.round, state.play.votes_for);
    this.title();
  }

  // -- what this person wrote

  answered(letter, answer) {
    if (answer.type === "goto") this.go(answer.url);
    else if (letter.type === "send") this.sent(letter, answer);
    else this.voted(letter, answer);
  }

  sent(letter, answer) {
    if (answer.type === "refused") {
      const { code, message } = answer.error;
      this.composer.giveBack(letter.text, message);
      if (CLOSED.has(code)) this.panels.remark(this.words.say("notSent", { text: short(letter.text) }));
      this.announcer.notice(message);
    } else if (answer.seq > this.last) {
      this.arrived.set(answer.seq, letter);
      if (!this.line.up) this.line.ask();
    }
  }

  // Our message is in the log although its answer is still on its way: shown once.
  known(text) {
    const letter = this.outbox.letters.find((one) => one.type === "send" && !one.seen && one.text === text);
    if (letter) letter.seen = true;
    this.showWaiting();
  }

  showWaiting() {
    const unsent = this.outbox.letters.filter((letter) => letter.type === "send" && !letter.seen);
    this.log.pending([...this.arrived.values(), ...unsent], this.line.works);
  }

  voted(letter, answer) {
    if (letter.round !== this.state.round || this.state.phase !== "vote") return; // the next round has begun
    if (answer.type === "refused") {
      this.vote.refused(answer.error.message);
      this.announcer.notice(answer.error.message);
      this.line.ask();
      return;
    }
    this.show({ ...this.state, play: { ...this.state.play, voted: true } });
    this.panels.focus();
  }

  // -- the page around

  lineChanged() {
    const { works } = this.line;
    const tell = (lost) => {
      if (document.getElementById("lost").hidden === !lost) return;
      document.getElementById("lost").hidden = !lost;
      this.announcer.notice(this.words.say(lost ? "lost" : "back"));
    };
    if (works) {
      clearTimeout(this.worry);
      this.worry = null;
      tell(false);
    } else this.worry ??= setTimeout(() => tell(true), CALM);
    if (this.outbox) {
      this.showWaiting();
      if (works) this.outbox.nudge();
    }
  }

  title() {
    if (!document.hidden) this.missed = 0;
    const name = this.panels.title;
    document.getElementById("phase").textContent = name;
    document.title = this.missed ? `(${this.missed}) ${name}` : name;
  }

  // Another page: where the server says, or wherever it thinks this person is.
  go(url) {
    this.line.close();
    setTimeout(() => location.replace(url || this.urls.play), url ? 0 : restDue());
  }
}

const short = (text) => (text.length > 60 ? `${[...text].slice(0, 60).join("")}…` : text);

// A page that comes anew for want of an answer does so once in ten seconds, however often it is sent away.
function restDue() {
  try {
    const since = Date.now() - Number(sessionStorage.getItem("room.anew"));
    sessionStorage.setItem("room.anew", String(Date.now()));
    return since >= 0 && since < REST ? REST : 0;
  } catch {
    return REST;
  }
}

new RoomPage();
