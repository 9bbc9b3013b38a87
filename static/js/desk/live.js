// The figures of this moment: asked for again every 15 seconds while the tab is looked at and nobody holds them still.
const EVERY = 15_000;
const section = document.querySelector("[data-live]");

const watch = (part) => {
  const figures = part.querySelector("[data-live-figures]");
  const lost = part.querySelector("[data-live-lost]");
  const button = part.querySelector("[data-live-switch]");
  let still = false;
  let asking = false;
  let last = Date.now();

  const ask = async () => {
    if (asking || still || document.hidden) return;
    asking = true;
    try {
      const answer = await fetch(part.dataset.live, { headers: { Accept: "text/html" } });
      // Signed out, or the study is no longer theirs: the page itself says so when it is loaded again.
      if (answer.redirected || answer.status === 404) return location.reload();
      if (!answer.ok) throw new Error(String(answer.status));
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!page.body.children.length) return location.reload(); // the study has ended
      figures.replaceChildren(...page.body.children);
      lost.hidden = true;
    } catch {
      lost.hidden = false;
    } finally {
      asking = false;
      last = Date.now();
    }
  };

  button.addEventListener("click", () => {
    still = !still;
    for (const word of button.children) word.hidden = !word.hidden;
    if (!still) ask();
  });
  document.addEventListener("visibilitychange", () => Date.now() - last > EVERY && ask());
  setInterval(ask, EVERY);
};

if (section) watch(section);
