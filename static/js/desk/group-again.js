// Lists that change by themselves: their moving parts come anew every five seconds, forms stay as they are.
const EVERY = 5_000;
const parts = () => [...document.querySelectorAll("[data-again]")];
const hold = document.querySelector("[data-hold]");
let still = false;
let asking = false;

const ask = async () => {
  // Whoever is in the middle of a table, by keys or by a finger, is not thrown out of it.
  if (asking || still || document.hidden || parts().some((one) => one.contains(document.activeElement))) return;
  asking = true;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (answer.redirected || answer.status === 404) return location.reload();
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = [...page.querySelectorAll("[data-again]")];
    parts().forEach((part, n) => fresh[n] && part.replaceChildren(...fresh[n].childNodes));
  } catch {
    // no network: the time on the page says how old it is
  } finally {
    asking = false;
  }
};

hold.addEventListener("click", () => {
  still = !still;
  hold.setAttribute("aria-pressed", String(still));
  if (!still) ask();
});
setInterval(ask, EVERY);
