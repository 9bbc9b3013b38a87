// The phase's clock: counts down from the seconds the server says are left, by the browser's steady clock. What time
// the device believes it is plays no part.

export class Clock {
  constructor(faces, { word, spoken }) {
    this.faces = faces;
    this.word = word; // seconds → what a face shows
    this.spoken = spoken; // hears once when 30 and 10 seconds are left
    this.until = null;
    this.said = new Set();
    setInterval(() => this.show(), 250);
  }

  // `remaining` seconds, or null where the phase ends when the rules say so. `phase`: a number that grows.
  set(remaining, phase) {
    if (phase !== this.phase) this.said = new Set([30, 10].filter((mark) => remaining !== null && remaining <= mark + 2));
    this.phase = phase;
    this.until = remaining === null ? null : performance.now() + remaining * 1000;
    this.show();
  }

  get left() {
    return this.until === null ? null : Math.max((this.until - performance.now()) / 1000, 0);
  }

  show() {
    const { left } = this;
    const text = left === null ? "" : this.word(Math.ceil(left));
    for (const face of this.faces()) if (face.textContent !== text) face.textContent = text;
    if (left === null) return;
    for (const mark of [30, 10]) {
      if (left > mark || this.said.has(mark)) continue;
      this.said.add(mark);
      if (left > mark - 2) this.spoken(mark);
    }
  }
}

export const minutes = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
