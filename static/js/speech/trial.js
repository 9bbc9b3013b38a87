// The page of a trial: ties player, time line, gate, answer and the way to the next conversation together.

import { Hearing } from "../player/hearing.js";
import { Keys } from "../player/keys.js";
import { Lanes } from "../player/lanes.js";
import { Sound } from "../player/sound.js";
import { Server, Unreachable } from "../server.js";
import { Words } from "../words.js";
import { Outbox } from "./outbox.js";
import { View } from "./view.js";

const TYPING = "textarea, input:not([type=range])";

class TrialPage {
  constructor() {
    this.main = document.getElementById("main");
    this.words = new Words();
    this.server = new Server();
    this.view = new View(this.words);
    this.lanes = new Lanes(document.querySelector("#lanes .lanes"), this.words);
    this.sound = new Sound(document.getElementById("sound"));
    this.hearing = new Hearing(this.sound, this.lanes);
    this.hearing.counts = () => !this.answer && !this.going;
    this.outbox = new Outbox(this.server, {
      sent: () => this.stored(),
      refused: (answer) => this.refused(answer),
      waiting: () => this.remark("kept", "warning"),
    });
    this.first = JSON.parse(document.getElementById("trial").textContent);
    this.listenToPage();
    this.listenToHearing();
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
    this.answer = trial.answer;
    this.known = trial.known;
    this.confidence = null;
    this.reason = null;
    this.note = remark ? { word: remark, kind: "" } : null;
    this.going = false;
    this.hearing.begin({ ...trial, unlocked: trial.unlocked || Boolean(trial.answer) });
    this.unlockedAt = this.unlocked ? performance.now() : null;
    if (redraw) {
      this.lanes.draw(trial.turns);
      this.view.trial(trial);
      history.replaceState({ code: trial.code }, "");
    }
    this.render();
  }

  get unlocked() {
    return this.hearing.unlocked;
  }

  get started() {
    return this.hearing.started;
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
    else this.hearing.start();
    this.render();
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
    const body = { choice: this.answer, at: Math.round(performance.now() - this.unlockedAt), ...this.hearing.report() };
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
      () => this.server.post(this.url("failed"), { why, ...this.hearing.report() }),
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
    if (play && !revealed && !trial.answer) this.hearing.start().then(() => this.render());
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
      this.remark("notHeard");
      this.hearing.lock();
      this.render();
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
    this.hearing.unlocked = true;
    this.unlockedAt ??= performance.now();
    this.outbox.put(this.trial.code, this.url("verdict"), kept);
    this.render();
  }

  // -- listening and the gate

  async tell() {
    const { code } = this.trial;
    try {
      const answer = await this.server.post(this.url("listening"), this.hearing.report());
      if (this.trial.code !== code || this.going) return;
      if (answer.code === "moved_on" && !this.answer) this.reload("movedOn");
      else if (answer.status === 410 || answer.status === 403) this.refused(answer);
      if (answer.ok) this.hearing.told(answer.data);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error; // the next report carries it all
    }
  }

  listenToHearing() {
    const { hearing, sound } = this;
    const on = (name, act) => hearing.addEventListener(name, act);
    on("show", () => this.view.countdown(this));
    on("change", () => this.render());
    on("tell", () => this.tell());
    on("unlocked", () => {
      this.unlockedAt = performance.now();
      this.view.say("unlocked");
      this.render();
    });
    on("waiting", () => this.remark(sound.tries ? "retry" : ""));
    on("ready", () => {
      this.note = this.note?.word === "retry" || this.note?.word === "soundLater" ? null : this.note;
      this.render();
    });
    on("offline", () => this.remark("soundLater", "warning"));
    on("failed", () => !this.going && !this.answer && this.fail("load_error"));
  }

  // -- the page around

  listenToPage() {
    this.view.on({
      play: () => this.toggle(),
      choose: (choice) => this.choose(choice),
      next: () => this.next(),
      fail: (why) => this.fail(why),
      known: () => this.toggleKnown(),
      seek: (seconds) => this.hearing.seek(seconds),
      confidence: (step) => {
        this.confidence = step;
        this.send();
      },
      reason: (reason) => {
        this.reason = reason;
        this.send();
      },
    });
    const acts = {
      " ": () => this.toggle(),
      1: () => this.choose(this.trial.order[0]),
      2: () => this.choose(this.trial.order[1]),
    };
    this.keys = new Keys(this.main, document.getElementById("keys"), {
      act: (event) => acts[event.key],
      switched: (off) => this.switchKeys(off),
      typing: TYPING,
    });
    addEventListener("pagehide", () => this.leave());
    addEventListener("pageshow", (event) => event.persisted && this.reload());
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.leave();
      else if (!this.sound.playing && !this.going && !this.outbox.waiting) this.reload();
    });
  }

  leave() {
    if (this.started && !this.answer && !this.going) this.server.farewell(this.url("listening"), this.hearing.report());
  }

  remark(word, kind = "") {
    const changed = word && this.note?.word !== word;
    this.note = word ? { word, kind } : this.note;
    if (changed) this.view.say(word);
    this.render();
  }

  render() {
    this.hearing.show();
    this.view.render(this);
  }
}

new TrialPage();
