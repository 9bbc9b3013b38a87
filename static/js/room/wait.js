// The waiting room: asks the server again and again, which also shows it that somebody is here, and goes along when the
// game begins. A page in the background goes on asking.

import { Server, Unreachable } from "../server.js";
import { Words } from "../words.js";
import { Chime } from "./chime.js";
import { minutes } from "./clock.js";
import { node } from "./nodes.js";

const EVERY = 2000; // ms
const HEARD = 700; // ms the sound may take before the page goes
const LOST = 3; // questions without an answer until a word is said of it

const byId = (id) => document.getElementById(id);

class WaitPage {
  constructor() {
    const { wait, ticker, keep, stop } = byId("main").dataset;
    this.url = wait;
    this.ways = { keep, stop };
    this.words = new Words();
    this.server = new Server();
    this.chime = new Chime();
    this.sound = byId("sound");
    this.sound.checked = this.wanted;
    this.sound.addEventListener("change", () => {
      this.wanted = this.sound.checked;
      if (!this.sound.checked) return;
      this.chime.allow();
      this.chime.sound(); // this is how it will be
    });
    addEventListener("click", () => this.sound.checked && this.chime.allow());
    addEventListener("submit", (event) => this.submit(event));
    this.failures = 0;
    this.show(JSON.parse(byId("wait").textContent));
    this.tick(ticker);
    document.addEventListener("visibilitychange", () => !document.hidden && this.ask());
    addEventListener("pageshow", (event) => event.persisted && this.ask());
    addEventListener("online", () => this.ask());
  }

  // Kept on the device: somebody who plays again is not asked again.
  get wanted() {
    try {
      return localStorage.getItem("room.sound") === "on";
    } catch {
      return false;
    }
  }

  set wanted(on) {
    try {
      localStorage.setItem("room.sound", on ? "on" : "off");
    } catch {
      // Without storage it holds for this page.
    }
  }

  tick(address) {
    const plain = () => setInterval(() => this.ask(), EVERY);
    try {
      const worker = new Worker(address);
      worker.onmessage = () => this.ask();
      worker.onerror = plain;
      worker.postMessage(EVERY);
    } catch {
      plain();
    }
  }

  async ask() {
    if (this.busy || this.going) return;
    this.busy = true;
    try {
      const answer = await this.server.ask(`${this.url}?format=json`);
      this.failures = 0;
      if (answer.data.goto) this.go(answer.data.goto);
      else if (answer.ok && "ready" in answer.data) this.show(answer.data);
      else location.replace(this.url); // the page there says why
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      this.failures += 1;
    } finally {
      this.busy = false;
    }
    byId("lost").hidden = this.failures < LOST;
  }

  // “I am ready” and “Go on waiting” leave the page as it is; where that is refused, the form is sent as forms are.
  async submit(event) {
    const form = event.target;
    if (!("quiet" in form.dataset)) return;
    event.preventDefault();
    if (form.dataset.busy) return;
    form.dataset.busy = "true";
    try {
      const answer = await this.server.patiently(() => this.server.post(form.action));
      if (!answer.ok) return form.submit(); // the page that comes says why
    } finally {
      delete form.dataset.busy;
    }
    this.focusNext = form;
    await this.ask();
  }

  show(wait) {
    for (const part of document.querySelectorAll("[data-when]")) part.hidden = (part.dataset.when === "ready") !== wait.ready;
    const counts = { ...wait, ready: wait.ready_now, time: minutes(Math.ceil(wait.starts_in ?? 0)) };
    this.write("count", this.words.say("count", counts));
    this.write("here", this.words.say("here", counts));
    const word = wait.starts_in !== null ? "beginsIn" : wait.least < wait.people ? "beginsLeast" : "begins";
    this.write("begins", this.words.say(word, counts));
    this.places(wait);
    this.asking(wait.ask);
    this.title ??= document.title;
    document.title = `${this.words.say("title", counts)} · ${this.title}`;
    if (this.focusNext?.hidden) byId("ready").focus({ preventScroll: true });
    this.focusNext = null;
  }

  write(id, text) {
    const place = byId(id);
    if (place.textContent !== text) place.textContent = text;
  }

  places({ people, ready_now: ready, here }) {
    const marks = Array.from({ length: people }, (_, index) => (index < ready ? "ready" : index < here ? "here" : ""));
    if (marks.join() === this.marks) return;
    this.marks = marks.join();
    byId("places").replaceChildren(...marks.map((mark) => node("i", mark)));
  }

  asking(asked) {
    const card = byId("asked");
    if (card.hidden === !asked) return;
    card.hidden = !asked;
    card.querySelector(".line")?.remove();
    if (!asked) return;
    card.append(node("div", "line", this.way("keep", "btn"), this.way("stop", "btn plain")));
    this.alert();
  }

  // The same forms as the page has where it comes with the question.
  way(name, look) {
    const button = node("button", look, this.words.say(name));
    const token = node("input");
    Object.assign(token, { type: "hidden", name: "csrfmiddlewaretoken", value: this.server.token });
    const form = node("form", "", token, button);
    form.method = "post";
    form.action = this.ways[name];
    if (name === "keep") form.dataset.quiet = "";
    return form;
  }

  alert() {
    if (!this.sound.checked) return;
    this.chime.sound();
    navigator.vibrate?.([120, 80, 120]);
  }

  go(url) {
    this.going = true;
    document.title = this.words.say("start");
    this.alert();
    setTimeout(() => location.replace(url), this.sound.checked ? HEARD : 0);
  }
}

new WaitPage();
