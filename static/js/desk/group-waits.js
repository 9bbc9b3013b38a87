// The agent's steps without those in which it only waited: most of them.
const button = document.querySelector("[data-waits]");
const steps = document.querySelector(".steps");

button.addEventListener("click", () => {
  const without = steps.classList.toggle("no-waits");
  button.setAttribute("aria-pressed", String(without));
});
