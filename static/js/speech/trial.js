// The page of a trial: ties player, time line, gate, answer and the way to the next conversation together.

import { Keys } from "./keys.js";
import { Lanes } from "./lanes.js";
import { Listening } from "./listening.js";
import { Outbox } from "./outbox.js";
import { Sound } from "./sound.js";
import { Server, Unreachable } from "../server.js";
import { Words } from "../words.js";
import { View } from "./view.js";

const REPORT = 5000; // ms between two reports of what was heard
const COVERED = 0.97; // share of the length that counts as heard
const GRACE = 20; // seconds after 1.5 × the length: nobody is ever stuck

class TrialPage {
  constructor() {
    this.main = document.getElementById("main");
    this.words = new Words();
    this.server = new Server();
    this.view = new View(this.words);
    this.lanes = new Lanes(document.querySelector("#lanes .lanes"), this.words);
    this.sound = new Sound(document.getElementById("sound"));
    this.outbox = new Outbox(this.server, {
      sent: () => this.stored(),
      refused: (answer) => this.refused(answer),
      waiting: () => this.remark("kept", "warning"),
    });
    this.first = JSON.parse(document.getElementById("trial").textContent);
    this.listenToPage();
    this.listenToSound();
    this.begin(this.first, { remark: this.first.for_fun && !this.first.answer ? "forFun" : "" });
    this.view.introduce(this.started);
    const kept = Outbox.kept(this.first.code);
    if (kept && !this.first.answer) this.resume(kept);
    else if (kept) Outbox.keep(this.first.code, null);
    if (this.view.pressedEarly) this.toggle();
  }

  // Addresses come with the page for its first trial; later ones differ by the code alone.
  url(name) {
    return this.main.dataset[name].replace(this.first.code, this.trial.code);
  }

  begin(trial, { remark = "", redraw = false } = {}) {
    this.trial = trial;
    this.listening = new Listening(trial.length, trial.ranges ?? []);
    this.unlocked = trial.unlocked || Boolean(trial.answer);
    this.unlockedAt = this.unlocked ? performance.now() : null;
    this.answer = trial.answer;
    this.known = trial.known;
    this.plays = trial.plays ?? 0;
    this.pauses = trial.pauses ?? 0;
    this.hidden = trial.hidden ?? 0;
    this.ended = false;
    this.confidence = null;
    this.reason = null;
    this.note = remark ? { word: remark, kind: "" } : null;
    this.going = false;
    clearTimeout(this.gate);
    this.gate = null;
    clearInterval(this.reporter);
    this.lanes.length = trial.length;
    if (redraw) {
      this.lanes.draw(trial.turns);
      this.view.trial(trial);
      history.replaceState({ code: trial.code }, "");
    }
    this.started = this.listening.furthest > 0;
    this.open();
    this.render();
  }

  // Someone who comes back in the middle goes on a second before where they were.
  open() {
    const far = this.listening.furthest;
    this.sound.load(this.trial.audio, this.unlocked || far < 2 ? 0 : far - 1);
  }

  // -- what the person does

  toggle() {
    if (this.going) return;
    if (this.answer) {
      this.next();
      return;
    }
    this.note = null;
    if (this.sound.wanted) this.sound.pause();
    else this.start();
    this.render();
  }

  start() {
    if (!this.sound.playing && (this.sound.element.ended || this.sound.position < 0.1)) this.plays += 1;
    if (this.sound.element.ended) this.sound.jump(0);
    this.watchGate();
    return this.sound.play();
  }

  choose(choice) {
    if (!this.unlocked || this.going || this.answer === choice) return;
    this.answer = choice;
    this.note = null;
    this.sound.pause();
    this.send();
    this.view.keepFocus(() => this.render());
  }

  send() {
    const body = { choice: this.answer, at: Math.round(performance.now() - this.unlockedAt), ...this.report() };
    if (this.confidence) body.confidence = this.confidence;
    if (this.reason) body.reason = this.reason;
    this.outbox.put(this.trial.code, this.url("verdict"), body);
  }

  async next() {
    if (this.going || !this.answer) return;
    this.going = true;
    this.sound.bless();
    this.render();
    await this.outbox.flush();
    if (!this.going) return; // the answer was refused; the page already says so
    const answer = await this.server.patiently(
      () => this.server.post(this.url("next")),
      () => this.remark("nextLater", "warning"),
    );
    this.follow(answer, { play: true });
  }

  async fail(why) {
    const play = this.started || this.sound.wanted;
    this.sound.pause();
    this.going = true;
    this.render();
    const answer = await this.server.patiently(
      () => this.server.post(this.url("failed"), { why, ...this.report() }),
      () => this.remark("nextLater", "warning"),
    );
    this.follow(answer, { play, remark: "replaced" });
  }

  async toggleKnown() {
    this.known = !this.known;
    this.render();
    this.view.say(this.known ? "known" : "unknown");
    const { code } = this.trial;
    const [url, note] = [this.url("known"), { known: this.known }];
    const answer = await this.server.patiently(() => this.server.post(url, note, { keepalive: true }));
    if (answer.ok && this.trial.code === code) this.known = answer.data.known;
    else if (!answer.ok) this.refused(answer);
    this.render();
  }

  async switchKeys(off) {
    try {
      await this.server.post(this.main.dataset.keys, { off });
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error; // holds for this page, at least
    }
  }

  // -- what the server says

  // A trial to go on with, or another page.
  follow(answer, { play = false, remark = "" } = {}) {
    if (!answer.ok) {
      this.refused(answer);
      return;
    }
    const { trial, goto: address, revealed } = answer.data;
    if (!trial) {
      location.replace(address ?? this.main.dataset.state);
      return;
    }
    const again = trial.code === this.trial.code;
    this.begin(trial, { remark: remark || (trial.for_fun && !again ? "forFun" : ""), redraw: true });
    this.view.say("title", trial, remark ? this.words.say(remark) : "");
    this.view.reveal(revealed);
    if (play && !revealed && !trial.answer) this.start().then(() => this.render());
    this.view.focusPlay();
  }

  stored() {
    this.note = null;
    this.view.say("stored");
    this.render();
  }

  refused({ status, code, data }) {
    this.going = false;
    if (code === "moved_on") this.reload("movedOn");
    else if (code === "not_heard") {
      this.answer = null;
      this.unlocked = false;
      if (!this.sound.url) this.open();
      this.remark("notHeard");
      this.tell();
    } else if (data.goto || [403, 404, 410, 503].includes(status)) {
      location.replace(data.goto ?? this.main.dataset.state);
    } else {
      this.reload("notStored");
    }
  }

  // Where the server says this person is.
  async reload(remark = "") {
    this.sound.pause();
    const answer = await this.server.patiently(() => this.server.ask(`${this.main.dataset.state}?format=json`));
    if (!answer.ok) {
      location.replace(this.main.dataset.state); // the page there says why
      return;
    }
    const same = answer.data.trial?.code === this.trial.code;
    if (same && !remark) return;
    this.outbox.drop();
    this.follow(answer, { remark: remark || "movedOn" });
  }

  resume(kept) {
    this.answer = kept.choice;
    this.unlocked = true;
    this.unlockedAt ??= performance.now();
    this.outbox.put(this.trial.code, this.url("verdict"), kept);
    this.render();
  }

  // -- listening and the gate

  report() {
    return {
      ranges: this.listening.rounded(),
      plays: this.plays,
      pauses: this.pauses,
      hidden: Math.round(this.hidden + (this.hiddenSince ? (performance.now() - this.hiddenSince) / 1000 : 0)),
      ended: this.ended,
      playing: this.sound.playing,
    };
  }

  async tell() {
    const { code } = this.trial;
    try {
      const answer = await this.server.post(this.url("listening"), this.report());
      if (this.trial.code !== code || this.going) return;
      if (answer.code === "moved_on" && !this.answer) this.reload("movedOn");
      else if (answer.status === 410 || answer.status === 403) this.refused(answer);
      if (!answer.ok) return;
      if (answer.data.unlocked) this.unlock();
      else if (typeof answer.data.unlock_in === "number") this.watchGate(answer.data.unlock_in);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error; // the next report carries it all
    }
  }

  // The last door: after 1.5 × the length and a grace, the answers open whatever happened to the sound.
  watchGate(seconds = null) {
    if (this.unlocked || (seconds === null && this.gate)) return;
    clearTimeout(this.gate);
    const wait = seconds ?? 1.5 * this.trial.length + GRACE;
    this.gate = setTimeout(() => {
      this.tell();
      this.unlock();
    }, Math.max(wait, 0) * 1000 + 250);
  }

  unlock() {
    if (this.unlocked) return;
    this.unlocked = true;
    this.unlockedAt = performance.now();
    clearTimeout(this.gate);
    this.view.say("unlocked");
    this.render();
  }

  listenToSound() {
    const { sound } = this;
    sound.addEventListener("change", () => {
      clearInterval(this.reporter);
      if (this.listening.last) this.listening.at(sound.position);
      this.listening.cut();
      if (sound.playing) {
        this.started = true;
        this.reporter = setInterval(() => this.tell(), REPORT);
        this.hear();
        this.tell();
        this.tick();
      } else if (!sound.element.ended && !sound.wanted && this.started && !this.answer && !this.going) {
        this.pauses += 1;
        this.tell();
      }
      this.render();
    });
    sound.addEventListener("time", () => this.hear());
    sound.addEventListener("seeking", () => this.hold());
    sound.addEventListener("ended", () => {
      this.ended = true;
      clearInterval(this.reporter);
      this.tell();
      this.unlock();
      this.render();
    });
    sound.addEventListener("waiting", () => this.remark(sound.tries ? "retry" : ""));
    sound.addEventListener("ready", () => {
      this.note = this.note?.word === "retry" || this.note?.word === "soundLater" ? null : this.note;
      if (this.trial.preload && sound.loaded) sound.prepare(this.trial.preload);
      this.render();
    });
    sound.addEventListener("offline", () => this.remark("soundLater", "warning"));
    sound.addEventListener("failed", () => !this.going && !this.answer && this.fail("load_error"));
  }

  hear() {
    if (this.sound.playing && this.sound.element.playbackRate === 1) this.listening.at(this.sound.position);
    if (!this.unlocked && this.listening.share >= COVERED) {
      this.tell();
      this.unlock();
    }
    if (this.trial.preload && this.sound.loaded) this.sound.prepare(this.trial.preload);
    this.show();
  }

  // Until it was heard once, one may go back but not ahead.
  hold() {
    this.listening.cut();
    const far = Math.max(this.listening.furthest, this.sound.start ?? 0);
    if (!this.unlocked && this.sound.position > far + 1) this.sound.jump(far);
  }

  tick() {
    if (!this.sound.playing) return;
    this.show();
    requestAnimationFrame(() => this.tick());
  }

  // -- the page around

  listenToPage() {
    this.view.on({
      play: () => this.toggle(),
      choose: (choice) => this.choose(choice),
      next: () => this.next(),
      fail: (why) => this.fail(why),
      known: () => this.toggleKnown(),
      seek: (seconds) => {
        this.listening.cut();
        this.sound.jump(this.unlocked ? seconds : Math.min(seconds, this.listening.furthest));
        this.show();
      },
      confidence: (step) => {
        this.confidence = step;
        this.send();
      },
      reason: (reason) => {
        this.reason = reason;
        this.send();
      },
    });
    this.keys = new Keys(this.main, document.getElementById("keys"), {
      play: () => this.toggle(),
      left: () => this.choose(this.trial.order[0]),
      right: () => this.choose(this.trial.order[1]),
      switched: (off) => this.switchKeys(off),
    });
    addEventListener("pagehide", () => this.leave());
    addEventListener("pageshow", (event) => event.persisted && this.reload());
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) {
        this.hiddenSince = performance.now();
        this.leave();
      } else {
        if (this.hiddenSince) this.hidden += (performance.now() - this.hiddenSince) / 1000;
        this.hiddenSince = null;
        if (!this.sound.playing && !this.going && !this.outbox.waiting) this.reload();
      }
    });
  }

  leave() {
    if (this.started && !this.answer && !this.going) this.server.farewell(this.url("listening"), this.report());
  }

  remark(word, kind = "") {
    const changed = word && this.note?.word !== word;
    this.note = word ? { word, kind } : this.note;
    if (changed) this.view.say(word);
    this.render();
  }

  show() {
    const { position } = this.sound;
    this.lanes.show(position, this.listening.upTo(position));
    this.view.countdown(this);
  }

  render() {
    this.show();
    this.view.render(this);
  }
}

new TrialPage();
