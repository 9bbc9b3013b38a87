// A game that is being played: asked for what is new every two seconds, unless somebody holds it still.
const EVERY = 2_000;
const root = document.querySelector("[data-news]");

const parsed = (html) => new DOMParser().parseFromString(html, "text/html").body.children;

const watch = (page) => {
  const now = page.querySelector("[data-now]");
  const events = page.querySelector("[data-events]");
  const steps = page.querySelector("[data-steps]");
  const lost = page.querySelector("[data-lost]");
  const hold = document.querySelector("[data-hold]");
  let { seq, mark } = page.dataset;
  let still = false;
  let asking = false;
  let asked = 0;
  let end = null; // when the phase ends, by this browser's clock

  const clock = () => {
    const face = now.querySelector("[data-remaining]");
    if (!face || end === null) return;
    const left = Math.max(0, Math.floor((end - performance.now()) / 1000));
    face.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  };
  const setClock = () => {
    const face = now.querySelector("[data-remaining]");
    end = face ? performance.now() + 1000 * Number(face.dataset.remaining) : null;
    clock();
  };
  // Whoever reads further up stays there; whoever is at the end goes along.
  const kept = (list, change) => {
    const box = list.closest("[data-scroller]");
    const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
    change();
    if (atEnd) box.scrollTop = box.scrollHeight;
  };
  // A step that was under way comes again, with more to say.
  const add = (list, html, name) => {
    if (!html) return;
    kept(list, () => {
      for (const line of [...parsed(html)]) {
        const known = list.querySelector(`[data-${name}="${CSS.escape(line.dataset[name])}"]`);
        if (known) known.replaceWith(line);
        else list.append(line);
      }
    });
  };
  // What is replaced may hold the focus, as a link or a table that is scrolled by keys.
  const replace = (html) => {
    const all = () => [...now.querySelectorAll("a, [tabindex]")];
    const at = all().indexOf(document.activeElement);
    const left = [...now.querySelectorAll(".scroll")].map((box) => box.scrollLeft);
    now.replaceChildren(...parsed(html));
    now.querySelectorAll(".scroll").forEach((box, n) => (box.scrollLeft = left[n] ?? 0));
    if (at >= 0) all()[at]?.focus({ preventScroll: true });
    setClock();
  };

  const ask = async () => {
    if (asking || still || document.hidden) return;
    asking = true;
    try {
      const query = new URLSearchParams({ seq, mark });
      const answer = await fetch(`${page.dataset.news}?${query}`, { headers: { Accept: "application/json" } });
      // Signed out, or no longer theirs to see: the page itself says so when it is loaded again.
      if (answer.redirected || answer.status === 403 || answer.status === 404) return location.reload();
      if (!answer.ok) throw new Error(String(answer.status));
      const news = await answer.json();
      if (news.over) return location.reload(); // levers go, the replay comes
      lost.hidden = true;
      if (still) return; // held meanwhile: asked again from here when it goes on
      ({ seq, mark } = news);
      replace(news.now);
      add(events, news.events, "seq");
      add(steps, news.steps, "step");
    } catch {
      lost.hidden = false;
    } finally {
      asking = false;
      asked = Date.now();
    }
  };

  hold.addEventListener("click", () => {
    still = !still;
    hold.setAttribute("aria-pressed", String(still));
    if (!still) ask();
  });
  document.addEventListener("visibilitychange", () => Date.now() - asked > EVERY && ask());
  for (const box of page.querySelectorAll("[data-scroller]")) box.scrollTop = box.scrollHeight;
  setClock();
  setInterval(() => still || clock(), 250);
  setInterval(ask, EVERY);
};

if (root?.dataset.news) watch(root);
