// The desk's player: a turn's button starts the sound there, a line on the turns shows where it is.
const box = document.querySelector("[data-player]");
const audio = box?.querySelector("audio");
const head = box?.querySelector("[data-head]");
if (audio) {
  const move = () => {
    if (head && audio.duration) head.setAttribute("x", `${(100 * audio.currentTime) / audio.duration}%`);
    if (!audio.paused) requestAnimationFrame(move);
  };
  audio.addEventListener("play", move);
  audio.addEventListener("seeked", move);
  for (const button of document.querySelectorAll("[data-seek]")) {
    button.addEventListener("click", () => {
      audio.currentTime = Number(button.dataset.seek);
      audio.play();
    });
  }
}
