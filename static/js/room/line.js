// The line to the room: a socket where one can be had, asking again and again where not. What comes is the same either
// way, in order of its number; who listens drops what they have.

import { Unreachable } from "../server.js";

const ASK = 1500; // ms between two questions while there is no socket
const SLOW = 2500; // ms a socket may take to greet us before we ask as well
const QUIET = 14000; // ms without a word (the clock comes every 10 s) until we ask whether anybody is there
const ANSWER = 6000; // ms until an answer is given up; it is asked for again, under the same id
const AGAIN = [300, 1000, 2000, 4000, 8000, 15000]; // ms until the next try of a socket
const LONGEST = 15000; // bytes a socket takes in one go; longer ones go by post

export class Line {
  // `after()`: the number of the last line we have. `heard(frame)`, `changed()`.
  constructor(server, urls, { after, heard, changed }) {
    this.server = server;
    this.urls = urls;
    this.on = { after, heard, changed };
    this.socket = null;
    this.up = false; // the socket has greeted us
    this.asking = false; // the last question by HTTP was answered
    this.tried = false;
    this.over = false;
    this.failures = 0;
    this.letters = new Map(); // id → who waits for its answer
    setInterval(() => this.watch(), 2000);
    addEventListener("online", () => this.look());
    addEventListener("offline", () => this.drop());
    document.addEventListener("visibilitychange", () => !document.hidden && this.look());
    addEventListener("pageshow", (event) => event.persisted && this.look());
    this.open();
  }

  // Whether what we write gets through, as far as we know. Unknown at the very start.
  get works() {
    return this.up || this.asking || !this.tried;
  }

  close() {
    this.over = true;
    this.drop();
  }

  // -- the socket

  open() {
    clearTimeout(this.later);
    this.later = null;
    if (this.over || this.socket) return;
    let socket;
    try {
      socket = new WebSocket(this.address());
    } catch {
      this.lost(null); // a policy or a proxy that allows none
      return;
    }
    this.socket = socket;
    setTimeout(() => !this.up && this.ask(), SLOW); // some proxies swallow a socket without a word
    this.heardAt = performance.now();
    socket.addEventListener("open", () => this.say({ type: "hello", after: this.on.after() }));
    socket.addEventListener("message", (event) => socket === this.socket && this.hear(JSON.parse(event.data)));
    socket.addEventListener("close", () => this.lost(socket));
  }

  address() {
    const url = new URL(this.urls.socket, location.href);
    url.protocol = url.protocol === "http:" ? "ws:" : "wss:";
    return url;
  }

  say(frame) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(frame));
  }

  hear(frame) {
    this.heardAt = performance.now();
    this.pinged = false;
    if (frame.type === "state" && !this.up) {
      this.up = true;
      this.tried = true;
      this.failures = 0;
      this.on.changed();
    }
    const letter = this.letters.get(frame.id);
    if (letter) settle(letter, frame);
    this.on.heard(frame);
  }

  lost(socket) {
    if (socket !== this.socket) return;
    this.socket = null;
    this.up = false;
    for (const letter of this.letters.values()) letter.reject(new Unreachable("closed"));
    if (this.over) return;
    this.later ??= setTimeout(() => this.open(), AGAIN[Math.min(this.failures, AGAIN.length - 1)]);
    this.failures += 1;
    this.ask();
  }

  drop() {
    const { socket } = this;
    if (socket) {
      this.lost(socket);
      socket.close();
    } else this.asking = false;
    this.on.changed();
  }

  // Nothing heard for too long: ask, then give the socket up. A phone that slept finds out at once.
  watch() {
    if (!this.socket || this.over) return;
    const quiet = performance.now() - this.heardAt;
    if (quiet > QUIET + ANSWER || (this.pinged && quiet > ANSWER && performance.now() - this.pinged > ANSWER)) this.drop();
    else if (quiet > QUIET && !this.pinged) this.ping();
  }

  ping() {
    this.pinged = performance.now();
    this.say({ type: "ping" });
  }

  // Back from wherever the page was: is the line still there, and what did we miss?
  look() {
    if (this.over) return;
    if (this.up) this.ping();
    else {
      this.failures = 0;
      this.open();
    }
    this.ask();
  }

  // -- without a socket

  // Asks once, and goes on asking while there is no socket. One question at a time.
  async ask() {
    if (this.busy || this.over) return;
    this.busy = true;
    try {
      do {
        await this.question();
        if (!this.up && !this.over) await new Promise((resolve) => setTimeout(resolve, ASK));
      } while (!this.up && !this.over);
    } finally {
      this.busy = false;
    }
  }

  async question() {
    const url = new URL(this.urls.log, location.href);
    url.searchParams.set("after", this.on.after());
    try {
      const answer = await this.server.ask(url);
      this.asking = answer.ok;
      this.tried = true;
      if (answer.ok && answer.data.state) {
        for (const event of answer.data.events) this.on.heard(event);
        this.on.heard(answer.data.state);
      } else if (answer.data.goto || [403, 404, 410].includes(answer.status)) {
        this.on.heard({ type: "goto", url: answer.data.goto ?? "" });
      }
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      this.asking = false;
      this.tried = true;
    }
    this.on.changed();
  }

  // -- what we say

  // Sends a letter ({type: send or act, id, …}) and resolves with its answer (ack, done, refused or goto).
  async tell(letter) {
    const text = JSON.stringify(letter);
    if (this.up && new Blob([text]).size < LONGEST) return this.bySocket(letter, text);
    const { type, ...body } = letter;
    const answer = await this.server.post(type === "send" ? this.urls.send : this.urls.act, body);
    if (answer.data.goto) return { type: "goto", url: answer.data.goto };
    if (answer.ok) return { ...answer.data, type: type === "send" ? "ack" : "done" };
    if (!answer.code) return { type: "goto", url: "" }; // no answer of the room's: the page comes anew
    return checked({ type: "refused", id: letter.id, error: answer.data.error });
  }

  async bySocket(letter, text) {
    let timer;
    try {
      return await new Promise((resolve, reject) => {
        this.letters.set(letter.id, { resolve, reject });
        timer = setTimeout(() => {
          reject(new Unreachable("no answer"));
          this.drop();
        }, ANSWER);
        this.socket.send(text);
      });
    } finally {
      clearTimeout(timer);
      this.letters.delete(letter.id);
    }
  }

  // Not worth a second try.
  typing() {
    if (this.up) this.say({ type: "typing" });
    else if (this.asking) {
      this.server.post(this.urls.typing).catch((error) => {
        if (!(error instanceof Unreachable)) throw error;
      });
    }
  }
}

// A refusal that says only "not at this moment" is no answer: the letter is sent again.
function checked(frame) {
  if (frame.type === "refused" && frame.error.code === "try_later") throw new Unreachable("try_later");
  return frame;
}

function settle(letter, frame) {
  try {
    letter.resolve(checked(frame));
  } catch (error) {
    letter.reject(error);
  }
}
