// A finished game shown up to one moment: by the slider, step by step, or playing at some speed.
const root = document.querySelector("[data-replay]");
const length = Number(root.dataset.replay);
const slider = root.querySelector("#moment");
const face = root.querySelector("[data-moment]");
const phase = root.querySelector("[data-phase]");
const play = root.querySelector("[data-play]");
const speed = root.querySelector("#speed");
const cursors = [...root.querySelectorAll(".cursor")];
const boxes = [...root.querySelectorAll("[data-scroller]")].map((box) => ({
  box,
  lines: [...box.querySelectorAll("[data-at]")].map((line) => ({ line, at: Number(line.dataset.at) })),
}));
const bands = [...root.querySelectorAll("[data-bands] [data-at]")].map((band) => ({
  at: Number(band.dataset.at),
  words: band.textContent,
}));
// Where a step leads: every moment at which something happens, and both ends.
const moments = [...new Set([0, ...boxes.flatMap(({ lines }) => lines.map(({ at }) => at)), length])].sort((a, b) => a - b);
const SAME = 0.05; // seconds: the slider rounds
let at = length;
let playing = null; // when this browser last moved the cursor on

const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

const show = (moment) => {
  at = Math.min(length, Math.max(0, moment));
  const x = `${(100 * at) / length}%`;
  for (const cursor of cursors) {
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
  }
  for (const { box, lines } of boxes) {
    let newest = null;
    for (const { line, at: when } of lines) {
      line.hidden = when > at + SAME;
      line.classList.remove("newest");
      if (!line.hidden) newest = line;
    }
    newest?.classList.add("newest");
    if (newest) box.scrollTop = newest.offsetTop + newest.offsetHeight - box.clientHeight;
  }
  const band = bands.findLast((one) => one.at <= at + SAME);
  face.textContent = clock(at);
  phase.textContent = band?.words ?? "";
  slider.value = String(at);
  slider.setAttribute("aria-valuetext", [clock(at), phase.textContent].filter(Boolean).join(" · "));
};

const move = (now) => {
  if (playing === null) return;
  show(at + ((now - playing) / 1000) * Number(speed.value));
  playing = now;
  if (at >= length) stop();
  else requestAnimationFrame(move);
};
const face_of_button = () => {
  const [start, pause] = play.children;
  start.hidden = playing !== null;
  pause.hidden = playing === null;
};
const stop = () => {
  playing = null;
  face_of_button();
};

play.addEventListener("click", () => {
  if (playing !== null) return stop();
  if (at >= length) show(0);
  playing = performance.now();
  face_of_button();
  requestAnimationFrame(move);
});
slider.addEventListener("input", () => {
  stop();
  show(Number(slider.value));
});
for (const button of root.querySelectorAll("[data-step]:is(button)")) {
  button.addEventListener("click", () => {
    stop();
    const on = button.dataset.step === "1";
    const next = on ? moments.find((one) => one > at + SAME) : moments.findLast((one) => one < at - SAME);
    show(next ?? (on ? length : 0));
  });
}
show(length);
