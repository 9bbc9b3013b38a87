// The time line: blocks of A above, of B below; heard stretches are filled, a line marks where the sound is.

const SVG = "http://www.w3.org/2000/svg";
const GAP = 0.25; // per cent kept free between blocks, as in the first paint

export const clock = (seconds) => {
  const whole = Math.max(Math.floor(seconds + 0.001), 0);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
};

const rect = (attributes) => {
  const node = document.createElementNS(SVG, "rect");
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
};

export class Lanes {
  constructor(root, words) {
    this.root = root;
    this.words = words;
    this.svg = root.querySelector("svg");
    this.clip = root.querySelector("clipPath");
    this.head = root.querySelector(".head");
    this.seek = root.querySelector(".seek");
    this.length = 1; // of the conversation, in seconds
    this.now = root.querySelector('[data-time="at"]');
  }

  // Another conversation in the same place; nothing around it moves.
  draw(turns) {
    const { length } = this;
    for (const group of this.root.querySelectorAll("g")) {
      group.replaceChildren(
        ...turns.map(({ who, start, end }) =>
          rect({
            class: who === "A" ? "a" : "b",
            x: `${(100 * start) / length}%`,
            y: who === "A" ? "0%" : "53%",
            width: `${Math.max((100 * (end - start)) / length - GAP, 0.5)}%`,
            height: "47%",
            rx: 5,
          }),
        ),
      );
    }
    this.svg.setAttribute("aria-label", this.words.say("lanes", { turns: turns.length, seconds: Math.round(length) }));
    this.root.querySelector('[data-time="length"]').textContent = clock(length);
    if (this.seek) this.seek.max = length;
  }

  show(position, ranges) {
    const { length } = this;
    const percent = (seconds) => Math.min(Math.max((100 * seconds) / length, 0), 100);
    this.clip.replaceChildren(
      ...ranges.map(([from, to]) => {
        // At either end a little more, so that the outline is filled too.
        const start = percent(from) - (from < 0.1 ? 1 : 0);
        const end = percent(to) + (to > length - 0.1 ? 1 : 0);
        return rect({ x: `${start}%`, y: "-5%", height: "110%", width: `${end - start}%` });
      }),
    );
    this.head.setAttribute("x", `${percent(position)}%`);
    this.now.textContent = clock(position);
    if (this.seek && document.activeElement !== this.seek) this.seek.value = position;
    this.seek?.setAttribute("aria-valuetext", this.words.say("position", { at: clock(position), length: clock(length) }));
  }
}
