// The sound check: one button that plays the word, again if asked.

const clip = document.getElementById("clip");
const play = document.getElementById("play");
const state = document.getElementById("state");
const word = document.getElementById("word");
const idle = state.textContent;

const show = () => {
  const playing = !clip.paused && !clip.ended;
  const icon = playing ? "pause" : clip.ended ? "again" : "play";
  for (const picture of play.querySelectorAll("svg")) picture.classList.toggle("on", picture.dataset.icon === icon);
  state.textContent = playing ? state.dataset.playing : clip.error ? state.dataset.failed : idle;
};

play.addEventListener("click", async () => {
  if (!clip.paused && !clip.ended) {
    clip.pause();
    return;
  }
  if (clip.error) clip.load();
  try {
    await clip.play();
  } catch (error) {
    if (!["AbortError", "NotAllowedError", "NotSupportedError"].includes(error.name)) throw error;
    show();
  }
});
for (const name of ["playing", "pause", "ended", "error"]) clip.addEventListener(name, show);
clip.addEventListener("ended", () => word.focus({ preventScroll: true }));
