// Keys of a trial: space plays, 1 and 2 answer left and right. Only while the trial has the focus, and with a
// switch that the server remembers.

export class Keys {
  constructor(main, button, acts) {
    this.main = main;
    this.button = button;
    this.acts = acts;
    this.off = main.dataset.keysOff === "true";
    button.addEventListener("click", () => {
      this.off = !this.off;
      this.show();
      acts.switched(this.off);
    });
    document.addEventListener("keydown", (event) => this.press(event));
    this.show();
  }

  show() {
    this.button.setAttribute("aria-pressed", String(!this.off));
    document.body.classList.toggle("no-keys", this.off);
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
