// What was written and has not arrived: kept in this tab, in its order, sent until the server has it. Each letter keeps
// its id, so one that arrived without our knowing makes no second message.

import { Unreachable } from "../server.js";

const WAITS = [400, 1000, 2000, 3000];

export const newId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");

export class Outbox {
  // `changed()`: letters came or went. `answered(letter, answer)`: the server has spoken.
  constructor(line, key, { changed, answered }) {
    this.line = line;
    this.key = key;
    this.on = { changed, answered };
    this.letters = this.kept();
  }

  kept() {
    try {
      const letters = JSON.parse(sessionStorage.getItem(this.key));
      return Array.isArray(letters) ? letters : [];
    } catch {
      return [];
    }
  }

  keep() {
    try {
      sessionStorage.setItem(this.key, JSON.stringify(this.letters));
    } catch {
      // No storage on this device: memory must do.
    }
  }

  put(letter) {
    this.letters.push({ id: newId(), at: Date.now(), ...letter });
    this.keep();
    this.on.changed();
    this.run();
  }

  // The line is back: no need to sit out the wait.
  nudge() {
    this.wake?.();
    this.run();
  }

  async run() {
    if (this.busy) return;
    this.busy = true;
    let tries = 0;
    while (this.letters.length) {
      const letter = this.letters[0];
      try {
        const answer = await this.line.tell(letter);
        if (answer.type === "goto") {
          this.on.answered(letter, answer); // it stays in the box: the next page sends it, or says why not
          break;
        }
        this.letters.shift();
        this.keep();
        tries = 0;
        this.on.answered(letter, answer);
        this.on.changed();
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        this.on.changed();
        await this.wait(WAITS[Math.min(tries, WAITS.length - 1)]);
        tries += 1;
      }
    }
    this.busy = false;
  }

  wait(ms) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
