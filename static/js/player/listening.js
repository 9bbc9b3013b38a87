// What was really heard: the union of stretches played at normal speed. A jump of the position is not listening.

const JITTER = 0.35; // seconds a media clock may run ahead of the wall clock between two looks
const TOUCH = 0.05; // stretches closer than this are one

export function union(ranges) {
  const sorted = ranges.filter(([from, to]) => to > from).sort((a, b) => a[0] - b[0]);
  const merged = [];
  for (const [from, to] of sorted) {
    const last = merged[merged.length - 1];
    if (last && from <= last[1] + TOUCH) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

export class Listening {
  constructor(length, ranges = []) {
    this.length = length;
    this.ranges = union(ranges.map(([from, to]) => [from, to]));
    this.last = null;
  }

  // The position while sound is coming out; call it a few times a second.
  at(position, now = performance.now()) {
    if (this.last) {
      const played = position - this.last.position;
      const passed = (now - this.last.now) / 1000;
      if (played > 0 && played <= passed * 1.05 + JITTER) {
        this.ranges = union([...this.ranges, [this.last.position, position]]);
      }
    }
    this.last = { position, now };
  }

  // The sound stopped or jumped: the next position starts a new stretch.
  cut() {
    this.last = null;
  }

  get seconds() {
    return this.ranges.reduce((sum, [from, to]) => sum + to - from, 0);
  }

  get share() {
    return this.length ? Math.min(this.seconds / this.length, 1) : 0;
  }

  // The stretches and the one that is just growing, for the eye.
  upTo(position) {
    return this.last && position > this.last.position ? [...this.ranges, [this.last.position, position]] : this.ranges;
  }

  // How far one may jump before the end has been heard.
  get furthest() {
    return this.ranges.reduce((far, [, to]) => Math.max(far, to), 0);
  }

  rounded() {
    return this.ranges.map(([from, to]) => [Math.round(from * 100) / 100, Math.round(to * 100) / 100]);
  }
}
