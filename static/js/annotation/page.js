// The page of a dialogue that is scored: ties player, rows, last question, keys and queue together.

import { Hearing } from "../player/hearing.js";
import { Keys } from "../player/keys.js";
import { Lanes } from "../player/lanes.js";
import { Sound } from "../player/sound.js";
import { Server, Unreachable } from "../server.js";
import { Words } from "../words.js";
import { About } from "./about.js";
import { Active } from "./active.js";
import { Deck } from "./deck.js";
import { Finale } from "./finale.js";
import { Notices } from "./notices.js";
import { answersOf, CHOICE, Queue } from "./queue.js";
import { Rows } from "./rows.js";
import { ask } from "./sheets.js";
import { shortcut } from "./shortcuts.js";
import { Steps } from "./steps.js";

const byId = (id) => document.getElementById(id);
const LOOK = 5000; // ms between two looks at the server when the window comes to the front

class Page {
  constructor() {
    this.main = byId("main");
    this.words = new Words();
    this.server = new Server();
    const lanes = new Lanes(document.querySelector("#lanes .lanes"), this.words);
    this.hearing = new Hearing(new Sound(byId("sound")), lanes);
    this.hearing.counts = () => !this.going;
    this.first = JSON.parse(byId("item").textContent);
    this.notices = new Notices(this.words, { settle: (key, mine) => this.settle(key, mine) });
    this.deck = new Deck(this.hearing, this.words, this.main);
    this.rows = new Rows(byId("cats"), this.words);
    this.finale = new Finale(byId("finale"), this.first.order);
    this.steps = new Steps({
      rows: this.rows,
      finale: this.finale,
      about: new About(byId("cats")),
      notices: this.notices,
      words: this.words,
      isOpen: () => this.hearing.unlocked,
    });
    this.active = new Active(() => this.hearing.sound.playing);
    this.queue = new Queue(this.server, {
      also: () => this.also(),
      told: (data) => this.told(data),
      stored: (keys) => this.stored(keys),
      elsewhere: (answers) => this.elsewhere(answers),
      conflict: () => this.differ(),
      fault: (keys) => this.steps.missing(keys),
      waiting: () => this.offline(),
      refused: (answer, again) => this.refused(answer, again),
    });
    this.listenToHearing();
    this.listenToAnswers();
    this.listenToPage();
    this.begin(this.first);
    if (this.deck.pressedEarly) this.deck.toggle();
  }

  // Addresses come with the page for its first dialogue; later ones differ by the code alone.
  url(name) {
    return this.main.dataset[name].replace(this.first.code, this.item.code);
  }

  begin(item, { redraw = false } = {}) {
    this.item = item;
    this.going = false;
    this.returned = null;
    this.hearing.begin(item);
    this.deck.begin(item, redraw);
    const known = answersOf(item);
    const kept = this.queue.begin({ code: item.code, url: this.url("save"), known });
    const scores = new Map([...known, ...kept]);
    if (redraw || kept.size) {
      this.rows.reset(scores);
      this.finale.mark(scores.get(CHOICE) ?? {});
    }
    for (const key of scores.keys()) this.state(key);
    if (redraw) this.title();
    this.lock();
    this.steps.go(this.steps.first, { calm: true });
    this.differ();
    this.notices.offerBreak(item.break);
    this.hearing.show();
    if (kept.size) {
      this.notices.say("restored");
      this.queue.flush();
    }
    this.render();
  }

  title() {
    const { position, of } = this.item;
    document.title = this.words.say("title", this.item);
    byId("name").textContent = this.words.say("name", this.item);
    byId("go-word").textContent = this.words.say(position < of ? "next" : "finish");
    scrollTo({ top: 0, behavior: "instant" });
    this.main.focus({ preventScroll: true });
  }

  // What may be answered now.
  ready() {
    if (!this.hearing.unlocked) this.notices.insist();
    return this.hearing.unlocked && !this.going;
  }

  answered({ key, answer }) {
    this.queue.put(key, answer);
    this.state(key);
    this.render();
  }

  // -- on to the next dialogue

  async next() {
    if (!this.ready()) return;
    if (!this.steps.complete) {
      this.steps.missing();
      return;
    }
    this.going = true;
    this.hearing.sound.bless();
    this.render();
    await this.queue.flush();
    if (this.takenBack()) return;
    if (this.queue.waiting) {
      this.going = false;
      this.hearing.open();
      this.render();
      return;
    }
    const { gathered: active } = this.active;
    const answer = await this.server.patiently(
      () => this.server.post(this.url("next"), { active }),
      () => this.remark("nextLater", "warning"),
    );
    this.active.spend(active);
    this.follow(answer, { play: true });
  }

  async replace(name, body) {
    const play = this.hearing.started || this.hearing.sound.wanted;
    this.hearing.sound.pause();
    this.going = true;
    this.render();
    await this.queue.flush();
    const { gathered: active } = this.active;
    const answer = await this.server.patiently(
      () => this.server.post(this.url(name), { ...body, ...this.hearing.report(), active }),
      () => this.remark("nextLater", "warning"),
    );
    this.active.spend(active);
    this.follow(answer, { play, word: "replaced" });
  }

  // A dialogue to go on with, or another page.
  follow(answer, { play = false, word = "name" } = {}) {
    if (!answer.ok) {
      this.turnedDown(answer);
      return;
    }
    const { item, goto: address } = answer.data;
    if (!item) {
      location.assign(address ?? this.main.dataset.state);
      return;
    }
    this.begin(item, { redraw: true });
    this.notices.say(word, item);
    if (play) this.hearing.start();
  }

  // -- what the server says

  also() {
    this.sent = this.active.gathered;
    return { active: this.sent, ...(this.hearing.started && { listening: this.hearing.report() }) };
  }

  told(data) {
    this.active.spend(this.sent ?? 0);
    this.sent = 0;
    if (this.isOffline && !this.queue.pending.size) this.notices.say("backSay");
    this.isOffline = false;
    if (data.returned) this.returned = data.returned;
    if ("break" in data) this.notices.offerBreak(data.break);
  }

  stored(keys) {
    for (const key of keys) this.state(key);
    this.render();
    this.takenBack();
  }

  // The time for the batch ran out meanwhile; once all is stored, the page there offers it back.
  takenBack() {
    if (!this.returned || this.queue.waiting) return false;
    location.assign(this.returned);
    return true;
  }

  elsewhere(answers) {
    for (const [key, answer] of answers) {
      this.mark(key, answer);
      this.rows.byKey.get(key)?.state("stored", this.words.say("elsewhere"));
    }
    this.notices.say("elsewhere");
    const { at, first } = this.steps;
    if (typeof at === "string" || at.value !== null) this.steps.go(first, { calm: true });
    this.render();
  }

  differ() {
    const { conflicts } = this.queue;
    for (const key of conflicts.keys()) this.state(key);
    this.notices.differ(conflicts, (key) => this.rows.byKey.get(key)?.name ?? this.words.say("choice"));
  }

  settle(key, mine) {
    const answer = this.queue.settle(key, mine);
    if (answer) this.mark(key, answer);
    this.state(key);
    this.differ();
    this.main.focus({ preventScroll: true });
    this.render();
    this.takenBack();
  }

  offline() {
    if (!this.isOffline) this.notices.say("keptSay");
    this.isOffline = true;
    this.render();
  }

  refused(answer, again) {
    if (answer.status === 403 && !again) this.remark("notStored", "warning");
    else if (answer.code === "not_heard") {
      this.remark("notHeard");
      this.hearing.lock();
      this.lock();
    } else {
      if (answer.code === "moved_on") this.queue.drop();
      this.turnedDown(answer);
    }
  }

  turnedDown({ code, data }) {
    this.going = false;
    if (code === "incomplete") {
      this.hearing.open();
      this.steps.missing(Object.keys(data.error.fields));
      this.render();
    } else if (code === "moved_on") this.look("movedOn");
    else location.replace(data.goto ?? this.main.dataset.state);
  }

  // Where the server says this person is, and what was answered meanwhile.
  async look(word = "") {
    this.looked = performance.now();
    const answer = await this.server.patiently(() => this.server.ask(`${this.main.dataset.state}?format=json`));
    const { item } = answer.data;
    if (!answer.ok || item?.code !== this.item.code) {
      if (!this.queue.waiting || word) this.follow(answer, { word: word || "movedOn" });
      return;
    }
    const { scores, choice: value, confidence, choice_version: version } = item;
    this.queue.take({ scores, choice: { value, confidence, version }, break: item.break });
    if (item.unlocked) this.hearing.unlock();
    if (word) this.hearing.open();
    this.render();
  }

  async tell() {
    const { code } = this.item;
    const { gathered: active } = this.active;
    try {
      const answer = await this.server.post(this.url("listening"), { ...this.hearing.report(), active });
      if (answer.ok) this.active.spend(active);
      if (this.item.code !== code || this.going) return;
      if (answer.ok) this.hearing.told(answer.data);
      else if (answer.code === "moved_on") this.look("movedOn");
      else if ([403, 410].includes(answer.status)) this.turnedDown(answer);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error; // the next report carries it all
    }
  }

  // -- what is listened to

  listenToHearing() {
    const { hearing } = this;
    const on = (name, act) => hearing.addEventListener(name, act);
    on("show", () => this.renderPlayer());
    on("change", () => this.render());
    on("tell", () => this.tell());
    on("unlocked", () => {
      this.note = null;
      this.lock();
      this.steps.go(this.steps.at, { calm: true });
      this.notices.say("unlocked");
      this.queue.resume();
      this.render();
    });
    on("waiting", () => hearing.sound.tries && this.remark("retry"));
    on("ready", () => ["retry", "soundLater"].includes(this.note?.word) && this.remark(""));
    on("offline", () => this.remark("soundLater", "warning"));
    on("failed", () => !this.going && this.replace("failed", { why: "load_error" }));
  }

  listenToAnswers() {
    this.steps.addEventListener("answer", ({ detail }) => this.answered(detail));
    byId("scores").addEventListener("submit", (event) => {
      event.preventDefault();
      this.next();
    });
    ask(byId("fails"), byId("fails-sheet"), (why) => this.replace("failed", { why }));
    ask(byId("known"), byId("known-sheet"), () => this.replace("known", { known: true }));
  }

  listenToPage() {
    const { steps, deck } = this;
    this.keys = new Keys(this.main, byId("keys"), {
      act: (event) => shortcut(event, { steps, deck, ready: () => this.ready(), next: () => this.next() }),
      switched: (off) => this.switchKeys(off),
    });
    addEventListener("pagehide", () => this.leave());
    addEventListener("pageshow", (event) => event.persisted && this.look());
    addEventListener("focus", () => this.front());
    document.addEventListener("visibilitychange", () => (document.hidden ? this.leave() : this.front()));
  }

  async switchKeys(off) {
    try {
      await this.server.post(this.main.dataset.keys, { off });
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error; // holds for this page, at least
    }
  }

  front() {
    if (performance.now() - (this.looked ?? -LOOK) < LOOK) return;
    if (!this.hearing.sound.playing && !this.going && !this.queue.waiting) this.look();
  }

  leave() {
    if (this.going || this.queue.farewell() || !this.hearing.started) return;
    this.server.farewell(this.url("listening"), this.hearing.report());
  }

  // -- what is shown

  mark(key, answer) {
    const row = this.rows.byKey.get(key);
    if (row) {
      row.value = answer.value;
      this.rows.count(row.card);
    } else if (key === CHOICE) this.finale.mark(answer);
  }

  state(key) {
    const { queue } = this;
    const state = queue.conflicts.has(key) ? "clash" : queue.isStored(key) ? "stored" : "pending";
    (key === CHOICE ? this.finale : this.rows.byKey.get(key))?.state(state);
  }

  lock() {
    const locked = !this.hearing.unlocked;
    document.body.classList.toggle("locked", locked);
    this.rows.root.disabled = locked;
    byId("speed").disabled = locked;
  }

  remark(word, kind = "") {
    if (word && this.note?.word !== word) this.notices.say(word);
    this.note = word ? { word, kind } : null;
    this.render();
  }

  renderPlayer() {
    if (!this.item) return;
    const { unlocked, started, sound, length } = this.hearing;
    const left = Math.max(Math.ceil(length - sound.position), 0);
    this.notices.player({ note: this.note, unlocked, started, left });
  }

  render() {
    const { scored, all, complete } = this.rows;
    byId("count").textContent = this.words.say("count", { scored, of: all.length });
    byId("progress").value = scored;
    byId("go").toggleAttribute("data-waits", !this.steps.complete || !this.hearing.unlocked);
    byId("go").setAttribute("aria-busy", String(this.going));
    if (complete) this.notices.todo.textContent = "";
    this.notices.stored({ scored, waiting: this.queue.waiting, offline: this.isOffline });
    this.deck.render(this.going);
    this.renderPlayer();
  }
}

new Page();
