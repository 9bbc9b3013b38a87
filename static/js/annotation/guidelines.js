// The button under the guidelines opens when their end was on the screen. Without this script it is always open.

const form = document.getElementById("confirm");
const end = document.getElementById("end");
const button = form.querySelector("button");
const words = form.querySelectorAll("[data-when]");

const say = (when) => {
  for (const word of words) word.hidden = word.dataset.when !== when;
};

if ("IntersectionObserver" in window) {
  button.setAttribute("aria-disabled", "true");
  say("reading");
  const seen = new IntersectionObserver(
    ([entry]) => {
      // Also when it has passed above: a leap to the end of the page counts as having been there.
      if (!entry.isIntersecting && entry.boundingClientRect.top > 0) return;
      button.removeAttribute("aria-disabled");
      say("read");
      seen.disconnect();
    },
    { rootMargin: "0px 0px -64px 0px" },
  );
  seen.observe(end);
  form.addEventListener("submit", (event) => {
    if (button.getAttribute("aria-disabled") === "true") event.preventDefault();
  });
}
