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
import { CHOICE, Queue } from "./queue.js";
import { Rows } from "./rows.js";

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
    this.about = new About(byId("cats"));
    this.active = new Active(() => this.hearing.sound.playing);
    this.queue = new Queue(this.server, {
      also: () => this.also(),
      told: (data) => this.told(data),
      stored: (keys) => this.stored(keys),
      elsewhere: (answers) => this.elsewhere(answers),
      conflict: () => this.differ(),
      fault: (keys) => this.missing(keys),
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
    const known = new Map(Object.entries(item.scores));
    const { choice, confidence, choice_version: version } = item;
    if (choice) known.set(CHOICE, { value: choice, confidence, version });
    const kept = this.queue.begin({ code: item.code, url: this.url("save"), known });
    const scores = new Map([...known, ...kept]);
    if (redraw || kept.size) {
      this.rows.reset(scores);
      this.finale.mark(scores.get(CHOICE) ?? {});
    }
    for (const key of scores.keys()) this.state(key);
    if (redraw) this.title();
    this.lock();
    this.step(this.rows.firstOpen ?? this.finale.asks, { calm: true });
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

  // -- where the person is: a row, "choice", "sure", or "" when all is said

  step(to, options = {}) {
    this.at = to;
    if (!options.calm) this.about.close();
    const question = typeof to === "string";
    this.rows.at(question ? null : to, options);
    this.finale.open = this.rows.complete && this.hearing.unlocked;
    this.finale.at(question ? to : "");
    byId("go").classList.toggle("now", to === "");
    if (question && this.finale.open && !options.calm) {
      this.rows.fold({ only: null });
      this.rows.intoView(to === "" ? byId("go") : this.finale.node);
      if (options.focus) (to === "" ? byId("go") : this.finale.input(to)).focus({ preventScroll: true });
    }
  }

  digit(digit) {
    if (!this.ready()) return;
    if (typeof this.at !== "string") this.rows.give(this.at, digit, "keys");
    else if (this.at && digit) this.finale.key(digit, this.at);
  }

  ready() {
    if (this.hearing.unlocked && !this.going) return true;
    if (!this.hearing.unlocked) this.notices.say("locked");
    return false;
  }

  back() {
    if (!this.ready()) return;
    const steps = { "": "sure", sure: "choice", choice: this.rows.all.at(-1) };
    const to = typeof this.at === "string" ? steps[this.at] : this.rows.before(this.at);
    if (to) this.step(to, { focus: this.holds(), back: true });
  }

  // The focus moves along only where it is on an answer already: for people who go by Tab or a screen reader.
  holds() {
    return document.activeElement?.matches("[type=radio]") && this.rows.root.contains(document.activeElement);
  }

  scored({ row, value, how }) {
    const before = this.rows.isDone(row.card);
    this.queue.put(row.key, { value });
    this.state(row.key);
    this.render();
    if (how === "arrows") {
      this.step(row, { calm: true });
      return;
    }
    const next = this.rows.after(row) ?? this.finale.asks;
    if (next === "choice") this.notices.say("finale");
    else if (next !== "" && next.card !== row.card && !before) this.notices.say("category", { name: row.card.querySelector("h2").textContent });
    this.step(next, { focus: how === "keys" && this.holds() });
  }

  chosen(how) {
    const { value, confidence } = this.finale;
    if (value === null) return;
    this.queue.put(CHOICE, { value, confidence });
    this.state(CHOICE);
    this.render();
    if (how === "arrows") return;
    const next = how === "keys" && this.at === "choice" ? "sure" : this.finale.asks;
    if (next === "") this.notices.say("ready");
    this.step(next, { focus: how === "keys" && this.holds() });
  }

  // -- on to the next dialogue

  async next() {
    if (!this.ready()) return;
    const open = this.rows.firstOpen ?? (this.finale.asks || null);
    if (open) {
      this.missing([typeof open === "string" ? open : open.key]);
      return;
    }
    this.going = true;
    this.hearing.sound.bless();
    this.render();
    await this.queue.flush();
    if (this.queue.waiting || this.returned) {
      this.stay();
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

  stay() {
    this.going = false;
    this.hearing.open();
    this.differ();
    this.render();
  }

  // Says what is still open, and goes there.
  missing(keys) {
    const [first] = keys;
    const row = this.rows.byKey.get(first);
    for (const key of keys) this.rows.byKey.get(key)?.state("missing", this.words.say("open"));
    const asks = first === "confidence" ? "sure" : first;
    this.step(row ?? asks, { focus: this.holds() });
    const name = row?.name ?? this.words.say(asks);
    this.notices.todo.textContent = this.words.say("missing", { name });
    this.notices.say("missing", { name });
  }

  async replace(name, body) {
    const play = this.hearing.started || this.hearing.sound.wanted;
    this.hearing.sound.pause();
    this.going = true;
    this.render();
    const answer = await this.server.patiently(
      () => this.server.post(this.url(name), { ...body, ...this.hearing.report() }),
      () => this.remark("nextLater", "warning"),
    );
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
    if (this.isOffline && !this.queue.pending.size) this.notices.say("backSay");
    this.isOffline = false;
    if (data.returned) this.returned = data.returned;
    if ("break" in data) this.notices.offerBreak(data.break);
  }

  stored(keys) {
    for (const key of keys) this.state(key);
    this.render();
    if (this.returned && !this.queue.waiting) location.assign(this.returned);
  }

  elsewhere(answers) {
    for (const [key, answer] of answers) {
      this.mark(key, answer);
      this.rows.byKey.get(key)?.state("stored", this.words.say("elsewhere"));
    }
    this.notices.say("elsewhere");
    if (!this.rows.firstOpen || this.at?.value !== null) this.step(this.rows.firstOpen ?? this.finale.asks, { calm: true });
    this.render();
  }

  differ() {
    const rows = [...this.queue.conflicts].map(([key, { mine, theirs }]) => ({
      key,
      name: this.rows.byKey.get(key)?.name ?? this.words.say("choice"),
      mine: this.notices.answer(key, mine),
      theirs: this.notices.answer(key, theirs),
    }));
    for (const { key } of rows) this.state(key);
    this.notices.differ(rows);
  }

  settle(key, mine) {
    const answer = this.queue.settle(key, mine);
    if (answer) this.mark(key, answer);
    this.state(key);
    this.differ();
    this.main.focus({ preventScroll: true });
    this.render();
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

  turnedDown({ status, code, data }) {
    this.going = false;
    if (code === "incomplete") {
      this.hearing.open();
      this.missing(Object.keys(data.error.fields));
      this.render();
    } else if (code === "moved_on") this.look("movedOn");
    else location.replace(data.goto ?? this.main.dataset.state);
    return status;
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
      this.step(this.at ?? this.rows.firstOpen, { calm: true });
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
    this.rows.addEventListener("score", ({ detail }) => this.scored(detail));
    this.finale.addEventListener("choice", ({ detail }) => this.chosen(detail.how));
    byId("scores").addEventListener("submit", (event) => {
      event.preventDefault();
      this.next();
    });
    const asks = (form, sheet, act) => {
      byId(form).addEventListener("submit", (event) => {
        event.preventDefault();
        byId(sheet).showModal();
      });
      byId(sheet).addEventListener("close", ({ target }) => {
        if (target.returnValue) act(target.returnValue);
        target.returnValue = "";
      });
      byId(sheet).addEventListener("click", ({ target }) => target === byId(sheet) && target.close());
    };
    asks("fails", "fails-sheet", (why) => this.replace("failed", { why }));
    asks("known", "known-sheet", () => this.replace("known", { known: true }));
  }

  listenToPage() {
    this.keys = new Keys(this.main, byId("keys"), {
      act: (event) => this.act(event),
      switched: (off) => this.switchKeys(off),
    });
    addEventListener("pagehide", () => this.leave());
    addEventListener("pageshow", (event) => event.persisted && this.look());
    addEventListener("focus", () => this.front());
    document.addEventListener("visibilitychange", () => (document.hidden ? this.leave() : this.front()));
  }

  act({ key, shiftKey }) {
    if (shiftKey && key.startsWith("Arrow")) {
      return { ArrowLeft: () => this.deck.turns.step(-1), ArrowRight: () => this.deck.turns.step(1) }[key];
    }
    if (/^[0-5]$/.test(key)) return () => this.digit(Number(key));
    return {
      " ": () => this.deck.toggle(),
      r: () => this.deck.turns.repeat(),
      i: () => this.explain(),
      "?": () => this.explain(),
      backspace: () => this.back(),
      enter: () => this.next(),
    }[key.toLowerCase()];
  }

  explain() {
    const row = typeof this.at === "string" ? null : this.at;
    if (row) this.about.toggle(row.node.querySelector(".about"));
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
    const done = complete && this.finale.complete;
    byId("count").textContent = this.words.say("count", { scored, of: all.length });
    byId("progress").value = scored;
    byId("go").toggleAttribute("data-waits", !done || !this.hearing.unlocked);
    byId("go").setAttribute("aria-busy", String(this.going));
    if (complete) this.notices.todo.textContent = "";
    this.notices.stored(this.queue.waiting, this.isOffline);
    this.deck.render(this.going);
    this.renderPlayer();
  }
}

new Page();
