// What a dimension means: one key, a press on its name, or the pointer resting on it. Escape puts it away; one at a
// time; it lies over what is below and moves nothing.

const REST = 350; // ms a pointer rests on a name before the words come
const LEAVE = 250;

export class About {
  constructor(root) {
    this.root = root;
    this.timer = null;
    this.hovered = null;
    for (const node of root.querySelectorAll(".about")) {
      node.addEventListener("toggle", () => node.open && this.only(node));
      node.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && this.rest(node));
      node.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && this.left(node));
      node.querySelector("summary").addEventListener("click", () => this.keep(node));
    }
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.close();
    });
    document.addEventListener("pointerdown", (event) => {
      if (!event.target.closest(".about")) this.close();
    });
  }

  get open() {
    return this.root.querySelector(".about[open]");
  }

  rest(node) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (node.open) return;
      this.hovered = node;
      node.open = true;
    }, REST);
  }

  left(node) {
    clearTimeout(this.timer);
    if (this.hovered === node) this.timer = setTimeout(() => this.hovered === node && this.close(), LEAVE);
  }

  // Pressed while the pointer had opened it: it stays.
  keep(node) {
    clearTimeout(this.timer);
    if (this.hovered !== node) return;
    this.hovered = null;
    node.open = false; // the press itself opens it again
  }

  // Up, where there is no room below.
  only(node) {
    for (const one of this.root.querySelectorAll(".about[open]")) if (one !== node) one.open = false;
    const words = node.querySelector(".words");
    words.classList.remove("up");
    const { bottom, height } = words.getBoundingClientRect();
    const covered = parseFloat(getComputedStyle(node.closest(".row")).scrollMarginTop) || 0;
    const room = node.getBoundingClientRect().top - covered;
    if (bottom > innerHeight && room > height) words.classList.add("up");
  }

  toggle(node) {
    clearTimeout(this.timer);
    this.hovered = null;
    node.open = !node.open;
  }

  close() {
    clearTimeout(this.timer);
    this.hovered = null;
    if (this.open) this.open.open = false;
  }
}
