// Points count up once per round and tab; at once for people who want no motion.

const DURATION = 700;

for (const node of document.querySelectorAll("[data-countup]")) {
  const points = Number(node.dataset.countup);
  const seen = `counted.${location.pathname}`;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let before = true;
  try {
    before = sessionStorage.getItem(seen) === "1";
    sessionStorage.setItem(seen, "1");
  } catch {
    // Without storage nothing can say that it was counted before: show the sum.
  }
  if (before || still || points < 2) continue;
  const start = performance.now();
  const step = (now) => {
    const share = Math.min((now - start) / DURATION, 1);
    node.textContent = `+${Math.round(points * (1 - (1 - share) ** 3))}`;
    if (share < 1) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}
