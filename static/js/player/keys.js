// Keys of a page with a player. Only while the work has the focus, never while somebody types or composes, and
// with a switch that the server remembers. `act(event)` names what a key does, or nothing.

const TYPING = "textarea, select, input:not([type=range], [type=radio], [type=checkbox])";

export class Keys {
  constructor(main, button, { act, switched, typing = TYPING }) {
    this.main = main;
    this.button = button;
    this.act = act;
    this.typing = typing;
    this.off = main.dataset.keysOff === "true";
    button.addEventListener("click", () => {
      this.off = !this.off;
      this.show();
      switched(this.off);
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
    const { target } = event;
    if (target !== document.body && !this.main.contains(target)) return;
    if (target.closest("dialog") || target.matches(this.typing)) return;
    const act = this.act(event);
    if (!act) return;
    // There, space and Enter press what has the focus.
    if ([" ", "Enter"].includes(event.key) && target.closest("button, a, summary")) return;
    event.preventDefault();
    act();
  }
}
