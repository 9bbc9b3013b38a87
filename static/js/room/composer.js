// The field one writes in: Enter sends unless an input method is composing, a draft outlives the page, a refusal gives
// back what was written.

const NEAR = 40; // characters left from which on they are counted aloud
const DRAFT = 400; // ms
const TYPING = 3000; // ms between two signs of writing

export class Composer {
  // `send(text)`, `typing()`.
  constructor(words, key, { send, typing }) {
    this.words = words;
    this.store = key;
    this.on = { send, typing };
    this.form = document.getElementById("compose");
    this.field = document.getElementById("say");
    this.button = this.form.querySelector("button");
    this.note = document.getElementById("say-note");
    this.longest = Infinity;
    this.field.value = this.draft() || this.field.value;
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
    this.field.addEventListener("keydown", (event) => this.pressed(event));
    this.field.addEventListener("compositionend", () => this.changed());
    this.field.addEventListener("input", () => {
      this.reason = "";
      this.changed();
      if (!this.field.value) return;
      if (performance.now() - (this.typedAt ?? -TYPING) < TYPING) return;
      this.typedAt = performance.now();
      this.on.typing();
    });
    this.changed();
  }

  pressed(event) {
    // 229: the key belongs to the input method; Safari says so after it has said that composing is over.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    this.send();
  }

  get over() {
    return [...this.field.value].length - this.longest;
  }

  get empty() {
    return !this.field.value.trim();
  }

  send() {
    if (!this.open) return this.say(this.words.say("notNow"));
    if (this.empty || this.over > 0) return this.changed();
    const text = this.field.value;
    this.field.value = "";
    this.typedAt = undefined;
    this.reason = "";
    this.changed();
    this.keep();
    this.on.send(text);
    this.field.focus({ preventScroll: true });
  }

  // A message that the room did not take comes back, before whatever has been written since.
  giveBack(text, reason) {
    this.field.value = this.field.value ? `${text}\n${this.field.value}` : text;
    this.reason = reason; // until something is changed
    this.changed();
    this.field.setSelectionRange(text.length, text.length);
  }

  allow(open, longest) {
    if (open === this.open && longest === this.longest) return;
    this.open = open;
    this.longest = longest;
    this.changed();
  }

  changed() {
    const left = -this.over;
    const reason = left < 0 ? this.words.say("tooLong", { n: -left }) : this.reason;
    if (reason) this.field.setAttribute("aria-invalid", "true");
    else this.field.removeAttribute("aria-invalid");
    if (reason) this.say(reason, true);
    else if (left <= Math.min(NEAR, this.longest / 2)) this.say(this.words.say("left", { n: left }));
    else this.say("");
    if (this.open && !this.empty && left >= 0) this.button.removeAttribute("aria-disabled");
    else this.button.setAttribute("aria-disabled", "true");
    // Where the browser does not fit a field to its text by itself.
    if (!CSS.supports("field-sizing", "content")) {
      this.field.style.height = "auto";
      this.field.style.height = `${this.field.scrollHeight + 2}px`;
    }
    clearTimeout(this.keeping);
    this.keeping = setTimeout(() => this.keep(), DRAFT);
  }

  say(text, danger = false) {
    this.note.textContent = text;
    this.note.hidden = !text;
    this.note.classList.toggle("error-text", danger);
  }

  draft() {
    try {
      return sessionStorage.getItem(this.store) ?? "";
    } catch {
      return "";
    }
  }

  keep() {
    try {
      sessionStorage.setItem(this.store, this.field.value);
    } catch {
      // Without storage a draft lasts as long as its page.
    }
  }
}
