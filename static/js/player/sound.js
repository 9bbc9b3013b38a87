// One audio element for all conversations (a phone that let it play once lets it play again), with retries.
// Events: change (playing or not), time, ended, waiting, ready, offline, failed.

const RETRIES = [1000, 3000]; // ms before the second and the third try
const STALL = 15000; // ms without progress while sound is wanted

export class Sound extends EventTarget {
  constructor(element) {
    super();
    this.element = element;
    this.wanted = false; // the person pressed play
    this.ahead = null; // { url, blob } of the next conversation
    this.timer = null;
    this.stall = null;
    this.speed = 1;
    const on = (name, act) => element.addEventListener(name, () => this.url && act());
    on("playing", () => (this.settle(), this.emit("change"), this.emit("ready")));
    on("pause", () => this.paused());
    on("timeupdate", () => (this.watch(), this.emit("time")));
    on("ended", () => ((this.wanted = false), this.settle(), this.emit("ended")));
    on("waiting", () => (this.watch(), this.emit("waiting")));
    on("progress", () => this.watch());
    on("canplaythrough", () => (this.settle(), this.emit("ready")));
    on("loadedmetadata", () => this.restore());
    on("seeking", () => this.emit("seeking"));
    on("ratechange", () => this.keepSpeed());
    on("error", () => this.trouble());
  }

  // Somebody paused: here, on the lock screen, by a call. A broken or new source says so too, but means nothing.
  paused() {
    if (this.element.error || this.element.readyState === 0) return;
    this.wanted = false;
    this.settle();
    this.emit("change");
  }

  // The page sets the speed, nobody else: not the browser's menu, not a headset.
  keepSpeed() {
    this.element.defaultPlaybackRate = this.speed;
    if (this.element.playbackRate !== this.speed) this.element.playbackRate = this.speed;
  }

  setSpeed(speed) {
    this.speed = speed;
    this.keepSpeed();
  }

  emit(name) {
    this.dispatchEvent(new Event(name));
  }

  get position() {
    return this.start ?? this.element.currentTime;
  }

  // Sound is coming out. `wanted` without it means: it loads.
  get playing() {
    const { paused, ended, readyState } = this.element;
    return Boolean(this.url) && !paused && !ended && readyState >= HTMLMediaElement.HAVE_FUTURE_DATA;
  }

  get loaded() {
    const { buffered, duration } = this.element;
    return Number.isFinite(duration) && buffered.length > 0 && buffered.end(buffered.length - 1) >= duration - 0.2;
  }

  // `start` is where playing goes on, for someone who loaded the page again.
  load(url, start = 0) {
    this.settle();
    clearTimeout(this.timer);
    this.url = url;
    this.tries = 0;
    this.start = start > 0 ? start : null;
    this.wanted = false;
    const ready = this.ahead?.url === url ? this.ahead.blob : null;
    if (ready) this.open(URL.createObjectURL(ready));
    else this.open(url);
    if (this.ahead?.url !== url) this.reader?.abort();
    this.ahead = null;
  }

  open(source) {
    if (this.object) URL.revokeObjectURL(this.object);
    this.object = source.startsWith("blob:") ? source : null;
    this.element.src = source;
    this.keepSpeed();
    this.element.load();
  }

  // Inside a click, before the address of the next sound is known: tells a phone that this click wants sound.
  bless() {
    this.url = null;
    this.settle();
    this.element.pause();
    this.element.removeAttribute("src");
    this.element.load();
  }

  restore() {
    if (this.start === null || this.start === undefined) return;
    this.element.currentTime = Math.min(this.start, this.element.duration || this.start);
    this.start = null;
  }

  async play() {
    this.wanted = true;
    if (this.element.error) this.reopen();
    this.watch();
    try {
      await this.element.play();
      return true;
    } catch (error) {
      // AbortError: another load came between. NotAllowedError: the browser wants a click first.
      if (error.name === "NotAllowedError") {
        this.wanted = false;
        this.settle();
        this.emit("change");
      }
      return false;
    }
  }

  pause() {
    this.wanted = false;
    this.settle();
    this.element.pause();
  }

  jump(seconds) {
    if (this.start !== null && this.start !== undefined) this.start = seconds;
    else this.element.currentTime = seconds;
  }

  // Restarts the clock that says "nothing has come for too long".
  watch() {
    clearTimeout(this.stall);
    this.stall = null;
    if (this.wanted && this.url && !this.playing) this.stall = setTimeout(() => this.trouble(), STALL);
  }

  settle() {
    clearTimeout(this.stall);
    this.stall = null;
  }

  trouble() {
    this.settle();
    clearTimeout(this.timer);
    if (!navigator.onLine) {
      this.emit("offline");
      addEventListener("online", () => this.reopen(), { once: true });
      return;
    }
    if (this.tries >= RETRIES.length) {
      this.emit("failed");
      return;
    }
    this.emit("waiting");
    this.timer = setTimeout(() => this.reopen(), RETRIES[this.tries]);
    this.tries += 1;
  }

  reopen() {
    if (!this.url) return;
    const position = this.position;
    const wanted = this.wanted;
    this.start = position > 0 ? position : null;
    this.open(this.url);
    if (wanted) this.play();
  }

  // Fetches the next conversation, once, after the current one has loaded; a failure costs nothing.
  async prepare(url) {
    if (this.ahead?.url === url || this.coming === url) return;
    this.coming = url;
    this.reader = new AbortController();
    try {
      const response = await fetch(url, { signal: this.reader.signal, credentials: "same-origin", priority: "low" });
      if (response.ok) this.ahead = { url, blob: await response.blob() };
    } catch (error) {
      if (error.name !== "AbortError" && !(error instanceof TypeError)) throw error;
    } finally {
      this.coming = null;
    }
  }
}
