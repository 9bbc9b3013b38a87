// Edges of turns as handles on the original's waveform, tied to the fields below it; playing from a turn.
// Without this script the fields and buttons do everything; they stay the form's only truth.
const box = document.querySelector("[data-wave]");
const form = document.querySelector("[data-turns]");
const stage = box?.querySelector("[data-stage]");
const audio = box?.querySelector("audio");
const head = box?.querySelector("[data-head]");
const lanes = box?.querySelector("[data-lanes]");
const words = document.querySelector("[data-words]")?.dataset ?? {};
const length = Number(box?.dataset.length || 0);
const LEAST = 0.02; // seconds a turn lasts at least while it is dragged
const WIDE = 60; // seconds that fit the page; longer recordings are scrolled

const number = (field) => Number(field.value.trim().replace(",", "."));
const worded = (pattern, value) => (pattern || "{n}").replace("{n}", value);
const rows = [...(form?.querySelectorAll("[data-row]") ?? [])].map((item, index) => ({
  number: index + 1,
  item,
  speaker: item.querySelector("[data-speaker]"),
  start: item.querySelector('[data-edge="start"]'),
  end: item.querySelector('[data-edge="end"]'),
  handles: {},
}));
const svg = "http://www.w3.org/2000/svg";

if (stage && length > 0) {
  if (length > WIDE) stage.style.width = `${(100 * length) / WIDE}%`;
  for (const block of lanes.querySelectorAll("rect.a, rect.b")) block.remove();
  for (const row of rows) {
    row.block = document.createElementNS(svg, "rect");
    row.block.setAttribute("height", "18");
    row.block.setAttribute("rx", "3");
    lanes.insertBefore(row.block, head);
    for (const edge of ["start", "end"]) stage.append((row.handles[edge] = handle(row, edge)));
    for (const field of [row.start, row.end, row.speaker]) field.addEventListener("input", () => draw(row));
    draw(row);
  }
}

function handle(row, edge) {
  const made = document.createElement("div");
  made.className = `edge ${edge}`;
  made.tabIndex = 0;
  made.setAttribute("role", "slider");
  made.setAttribute("aria-label", worded(words[edge], row.number));
  made.setAttribute("aria-valuemin", "0");
  made.setAttribute("aria-valuemax", length.toFixed(2));
  made.addEventListener("keydown", (event) => {
    const step = event.shiftKey ? 0.1 : 0.01;
    const steps = { ArrowLeft: -step, ArrowDown: -step, ArrowRight: step, ArrowUp: step, PageDown: -1, PageUp: 1 };
    if (event.key in steps) move(row, edge, number(row[edge]) + steps[event.key]);
    else if (event.key === "Enter" || event.key === " ") play(row);
    else return;
    event.preventDefault();
  });
  made.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    made.setPointerCapture(event.pointerId);
    made.focus();
    event.preventDefault();
  });
  made.addEventListener("pointermove", (event) => {
    if (!made.hasPointerCapture(event.pointerId)) return;
    const area = stage.getBoundingClientRect();
    move(row, edge, ((event.clientX - area.left) / area.width) * length);
  });
  made.addEventListener("focus", () => mark(row, true));
  made.addEventListener("blur", () => mark(row, false));
  return made;
}

// A turn never ends before it starts, nor leaves the recording.
function move(row, edge, wanted) {
  if (!Number.isFinite(wanted)) return;
  const other = number(edge === "start" ? row.end : row.start);
  let [low, high] = [0, length];
  if (edge === "start" && other > LEAST) high = Math.min(high, other - LEAST);
  if (edge === "end" && other >= 0) low = other + LEAST;
  const value = Math.round(Math.min(Math.max(wanted, low), Math.max(low, high)) * 1000) / 1000;
  row[edge].value = String(value);
  draw(row);
}

function draw(row) {
  const [start, end] = [number(row.start), number(row.end)];
  const good = start >= 0 && end > start;
  row.block.setAttribute("visibility", good ? "visible" : "hidden");
  if (good) {
    row.block.setAttribute("class", row.speaker.value === "A" ? "a" : "b");
    row.block.setAttribute("x", `${(100 * start) / length}%`);
    row.block.setAttribute("width", `${(100 * (end - start)) / length}%`);
    row.block.setAttribute("y", row.speaker.value === "A" ? "0" : "22");
  }
  for (const [edge, at] of [["start", start], ["end", end]]) {
    const made = row.handles[edge];
    made.hidden = !(at >= 0);
    made.classList.toggle("b", row.speaker.value !== "A");
    made.style.left = `${Math.min(100, (100 * at) / length)}%`;
    made.setAttribute("aria-valuenow", at.toFixed(3));
    made.setAttribute("aria-valuetext", worded(words.seconds, at.toFixed(2)));
  }
}

function mark(row, on) {
  row.item.classList.toggle("at", on);
  row.block.classList.toggle("at", on);
}

function play(row) {
  if (!audio) return;
  audio.currentTime = number(row.start) || 0;
  audio.play().catch(() => {});
}

if (audio) {
  const follow = () => {
    if (head && length) head.setAttribute("x", `${Math.min(100, (100 * audio.currentTime) / length)}%`);
    if (!audio.paused) requestAnimationFrame(follow);
  };
  audio.addEventListener("play", follow);
  audio.addEventListener("seeked", follow);
  audio.addEventListener("error", () => {
    box.querySelector("[data-silent]").hidden = false;
    for (const row of rows) row.item.querySelector("[data-play]").disabled = true;
  });
}
for (const row of rows) row.item.querySelector("[data-play]").addEventListener("click", () => play(row));
// A turn is split where the sound stands, if it stands within it.
form?.addEventListener("submit", () => {
  form.querySelector("[data-at]").value = audio && audio.currentTime > 0 ? audio.currentTime.toFixed(3) : "";
});
