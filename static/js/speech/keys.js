// Keys of a trial: space plays, 1 and 2 answer left and right. Only while the trial has the focus, and with a
// switch that is remembered on this device.

const OFF = "turing.keys.off";

export class Keys {
  constructor(main, button, acts) {
    this.main = main;
    this.button = button;
    this.acts = acts;
    button.addEventListener("click", () => this.set(this.off));
    document.addEventListener("keydown", (event) => this.press(event));
    this.set(!this.remembered());
  }

  remembered() {
    try {
      return localStorage.getItem(OFF) === "1";
    } catch {
      return false;
    }
  }

  set(on) {
    this.off = !on;
    try {
      if (on) localStorage.removeItem(OFF);
      else localStorage.setItem(OFF, "1");
    } catch {
      // Without storage the switch holds for this page.
    }
    this.button.setAttribute("aria-pressed", String(on));
    document.body.classList.toggle("no-keys", !on);
  }

  press(event) {
    if (this.off || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
    if (!this.button.offsetParent) return; // no switch in sight (a phone), no keys
    const target = event.target;
    if (target !== document.body && !this.main.contains(target)) return;
    if (target.closest("dialog") || target.matches("textarea, input:not([type=range])")) return;
    const act = { " ": this.acts.play, 1: this.acts.left, 2: this.acts.right }[event.key];
    if (!act) return;
    if (event.key === " " && target.closest("button, a, summary")) return; // there, space presses what has the focus
    event.preventDefault();
    act();
  }
}
