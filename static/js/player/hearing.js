// Hearing one conversation: sound, time line, what was heard, and the gate that opens once it was heard whole.
// Until then one may go back but not ahead, and the speed is 1. Events: show (the position moved), change (redraw),
// tell (time to report), unlocked, offline, waiting, ready, failed.

import { Listening } from "./listening.js";

const REPORT = 5000; // ms between two reports of what was heard
const COVERED = 0.97; // share of the length that counts as heard
const GRACE = 20; // seconds after 1.5 × the length: nobody is ever stuck

export class Hearing extends EventTarget {
  constructor(sound, lanes) {
    super();
    this.sound = sound;
    this.lanes = lanes;
    this.counts = () => true; // whether a pause is the person's own
    this.listenToSound();
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.hiddenSince = performance.now();
      else {
        if (this.hiddenSince) this.hidden += (performance.now() - this.hiddenSince) / 1000;
        this.hiddenSince = null;
      }
    });
  }

  emit(name) {
    this.dispatchEvent(new Event(name));
  }

  // Another conversation. Someone who comes back in the middle goes on a second before where they were.
  begin({ audio, length, ranges, plays, pauses, hidden, unlocked, preload, slow, speed }) {
    this.listening = new Listening(length, ranges ?? []);
    this.audio = audio;
    this.length = length;
    this.preload = preload;
    this.unlocked = Boolean(unlocked);
    this.plays = plays ?? 0;
    this.pauses = pauses ?? 0;
    this.hidden = hidden ?? 0;
    this.slow = slow ?? 0; // seconds heard slower than normal, and how slow at most
    this.slowest = speed ?? 1;
    this.slowAt = null;
    this.ended = false;
    this.until = null;
    clearTimeout(this.gate);
    this.gate = null;
    clearInterval(this.reporter);
    this.lanes.length = length;
    this.started = this.listening.furthest > 0;
    this.sound.setSpeed(1);
    this.open();
  }

  open() {
    const far = this.listening.furthest;
    this.sound.load(this.audio, this.unlocked || far < 2 ? 0 : far - 1);
  }

  // -- what the person does

  start() {
    const { sound } = this;
    if (!sound.playing && (sound.element.ended || sound.position < 0.1)) this.plays += 1;
    if (sound.element.ended) sound.jump(0);
    this.watchGate();
    return sound.play();
  }

  // From `seconds` on; with `until`, to there and no further. Before the gate opened only where it was heard.
  hear(seconds, until = null) {
    this.seek(seconds);
    this.until = this.unlocked ? until : null;
    return this.sound.playing ? null : this.start();
  }

  seek(seconds) {
    this.until = null;
    this.listening.cut();
    this.sound.jump(this.unlocked ? seconds : Math.min(seconds, this.listening.furthest));
    this.show();
  }

  // Slower only after the first hearing, and never faster: speed changes what is judged.
  setSpeed(speed) {
    if (!this.unlocked || speed > 1) return;
    this.listening.cut();
    this.slowAt = null;
    this.sound.setSpeed(speed);
  }

  // -- the gate

  // The last door: after 1.5 × the length and a grace, the answers open whatever happened to the sound.
  watchGate(seconds = null) {
    if (this.unlocked || (seconds === null && this.gate)) return;
    clearTimeout(this.gate);
    const wait = seconds ?? 1.5 * this.length + GRACE;
    this.gate = setTimeout(() => {
      this.emit("tell");
      this.unlock();
    }, Math.max(wait, 0) * 1000 + 250);
  }

  unlock() {
    if (this.unlocked) return;
    this.unlocked = true;
    clearTimeout(this.gate);
    this.emit("unlocked");
  }

  // The server does not believe it yet.
  lock() {
    this.unlocked = false;
    if (!this.sound.url) this.open();
    this.emit("tell");
  }

  // What the server said to a report.
  told({ unlocked, unlock_in: wait }) {
    if (unlocked) this.unlock();
    else if (typeof wait === "number") this.watchGate(wait);
  }

  report() {
    return {
      ranges: this.listening.rounded(),
      plays: this.plays,
      pauses: this.pauses,
      hidden: Math.round(this.hidden + (this.hiddenSince ? (performance.now() - this.hiddenSince) / 1000 : 0)),
      ended: this.ended,
      playing: this.sound.playing,
      ...(this.slow && { slow: Math.round(this.slow * 10) / 10, slowest: this.slowest }),
    };
  }

  // -- the sound

  listenToSound() {
    const { sound } = this;
    sound.addEventListener("change", () => {
      clearInterval(this.reporter);
      if (this.listening.last || this.slowAt) this.note();
      this.listening.cut();
      this.slowAt = null;
      if (sound.playing) {
        this.started = true;
        this.reporter = setInterval(() => this.emit("tell"), REPORT);
        this.heard();
        this.emit("tell");
        this.tick();
      } else if (!sound.element.ended && !sound.wanted && this.started && this.counts()) {
        this.pauses += 1;
        this.emit("tell");
      }
      this.emit("change");
    });
    sound.addEventListener("time", () => this.heard());
    sound.addEventListener("seeking", () => this.hold());
    sound.addEventListener("ended", () => {
      this.ended = true;
      this.until = null;
      clearInterval(this.reporter);
      this.emit("tell");
      this.unlock();
      this.emit("change");
    });
    sound.addEventListener("ready", () => this.ahead());
    for (const name of ["waiting", "ready", "offline", "failed"]) sound.addEventListener(name, () => this.emit(name));
  }

  // Only what plays at normal speed was heard.
  note() {
    const { playbackRate } = this.sound.element;
    if (playbackRate === 1) {
      this.listening.at(this.sound.position);
      return;
    }
    const now = performance.now();
    if (this.slowAt) this.slow += (now - this.slowAt) / 1000;
    this.slowAt = now;
    this.slowest = Math.min(this.slowest, playbackRate);
  }

  ahead() {
    if (this.preload && this.sound.loaded) this.sound.prepare(this.preload);
  }

  heard() {
    if (this.sound.playing) this.note();
    if (!this.unlocked && this.listening.share >= COVERED) {
      this.emit("tell");
      this.unlock();
    }
    this.ahead();
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
    if (this.until !== null && this.sound.position >= this.until) this.sound.pause();
    this.show();
    requestAnimationFrame(() => this.tick());
  }

  show() {
    const { position } = this.sound;
    this.lanes.show(position, this.listening.upTo(position));
    this.emit("show");
  }
}
