// Time at work: the gaps between signs of it, a long gap counted short.

const LONGEST = 60; // seconds between two signs that still count; the server has its own bound

export class Active {
  constructor(isHearing) {
    this.seconds = 0;
    this.last = performance.now();
    for (const name of ["keydown", "pointerdown", "pointermove", "scroll", "touchmove"]) {
      addEventListener(name, () => this.sign(), { passive: true, capture: true });
    }
    setInterval(() => isHearing() && this.sign(), 2000);
  }

  sign() {
    const now = performance.now();
    this.seconds += Math.min((now - this.last) / 1000, LONGEST);
    this.last = now;
  }

  // What has gathered; `spend` it when the server knows.
  get gathered() {
    return Math.round(this.seconds * 10) / 10;
  }

  spend(seconds) {
    this.seconds = Math.max(this.seconds - seconds, 0);
  }
}
