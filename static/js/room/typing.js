// Who is writing, for some seconds after the last sign of it.

const LASTS = 5000; // ms

export class Typing {
  constructor(words, seats) {
    this.words = words;
    this.seats = seats;
    this.line = document.getElementById("typing");
    this.writing = new Map(); // code → timer
  }

  add(code) {
    clearTimeout(this.writing.get(code));
    this.writing.set(code, setTimeout(() => this.remove(code), LASTS));
    this.show();
  }

  remove(code) {
    if (!this.writing.has(code)) return;
    clearTimeout(this.writing.get(code));
    this.writing.delete(code);
    this.show();
  }

  clear() {
    for (const code of [...this.writing.keys()]) this.remove(code);
  }

  show() {
    if (!this.line) return;
    const names = [...this.writing.keys()].map((code) => this.seats(code).name);
    const word = ["", "writesOne", "writesTwo"][names.length] ?? "writesMany";
    this.line.textContent = word ? this.words.say(word, { name: names[0], other: names[1] }) : "";
  }
}
