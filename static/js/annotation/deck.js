// The player that stays at hand: play and pause, B once more, turns, speed; on phones the turns fold away.

import { Turns } from "./turns.js";

const byId = (id) => document.getElementById(id);

export class Deck {
  constructor(hearing, words, main) {
    this.hearing = hearing;
    this.words = words;
    this.play = byId("play");
    this.turns = new Turns(hearing, words);
    this.play.addEventListener("click", () => this.toggle());
    byId("repeat").addEventListener("click", () => this.turns.repeat());
    document.querySelector(".seek").addEventListener("input", ({ target }) => hearing.seek(Number(target.value)));
    byId("speed").addEventListener("change", ({ target }) => hearing.setSpeed(Number(target.value)));
    const opener = byId("drawer-switch");
    const deck = byId("deck");
    const open = (wanted) => {
      deck.classList.toggle("open", wanted);
      opener.setAttribute("aria-expanded", String(wanted));
    };
    opener.addEventListener("click", () => open(!deck.classList.contains("open")));
    document.addEventListener("pointerdown", ({ target }) => deck.contains(target) || open(false));
    deck.addEventListener("keydown", ({ key }) => {
      if (key !== "Escape" || !deck.classList.contains("open")) return;
      open(false);
      opener.focus();
    });
    // After a press with the pointer the keys work on the scores again: space plays, it presses nothing twice.
    deck.addEventListener("click", ({ detail, target }) => {
      if (detail && target.closest("#turns, #repeat")) main.focus({ preventScroll: true });
    });
  }

  get pressedEarly() {
    const pressed = this.play.dataset.early === "pressed";
    delete this.play.dataset.early;
    return pressed;
  }

  begin(item, redraw) {
    if (redraw) this.hearing.lanes.draw(item.turns);
    this.turns.begin(item.turns, redraw);
    byId("speed").querySelector("[value='1']").checked = true;
  }

  toggle() {
    const { sound } = this.hearing;
    this.hearing.until = null;
    if (sound.wanted) sound.pause();
    else this.hearing.start();
  }

  render(going) {
    const { sound, unlocked, started } = this.hearing;
    const over = sound.element.ended || (unlocked && sound.position < 0.1);
    const icon = sound.wanted ? "pause" : over ? "again" : "play";
    const label = { pause: "pause", again: "again", play: started ? "goOn" : "play" }[icon];
    for (const picture of this.play.querySelectorAll("svg")) picture.classList.toggle("on", picture.dataset.icon === icon);
    this.play.setAttribute("aria-label", this.words.say(label));
    this.play.setAttribute("aria-busy", String((sound.wanted && !sound.playing) || going));
  }
}
