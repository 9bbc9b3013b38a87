// What the trial's page shows and what was pressed on it. No rule of the game lives here.

const byId = (id) => document.getElementById(id);

export class View {
  constructor(words) {
    this.words = words;
    this.play = byId("play");
    this.nextForm = byId("next");
    this.nextButton = this.nextForm.querySelector("button");
    this.why = byId("why");
    this.lock = this.why.querySelector(".lock svg") ?? byId("lock-icon").content.firstElementChild;
    this.live = byId("say");
    this.answersForm = byId("answers");
    this.answers = [...document.querySelectorAll(".answer")];
    this.fails = byId("fails");
    this.knownForm = byId("known");
    this.confidence = byId("confidence");
    this.sayWhy = byId("say-why");
    this.revealed = byId("revealed");
    this.dots = byId("dots");
  }

  // Presses before this script was there are made up for, once.
  get pressedEarly() {
    const pressed = this.play.dataset.early === "pressed";
    delete this.play.dataset.early;
    return pressed;
  }

  on(acts) {
    const submit = (form, act) =>
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        act(event);
      });
    this.play.addEventListener("click", () => acts.play());
    submit(this.answersForm, (event) => acts.choose(event.submitter?.value));
    submit(this.nextForm, () => acts.next());
    submit(this.knownForm, () => acts.known());
    const sheet = byId("fails-sheet");
    submit(this.fails, () => sheet.showModal());
    sheet.addEventListener("close", () => {
      if (sheet.returnValue) acts.fail(sheet.returnValue);
      sheet.returnValue = "";
    });
    document.querySelector(".seek")?.addEventListener("input", (event) => acts.seek(Number(event.target.value)));
    this.confidence?.addEventListener("change", (event) => acts.confidence(Number(event.target.value)));
    const reason = byId("reason-sheet");
    this.sayWhy?.addEventListener("click", () => reason.showModal());
    reason?.addEventListener("close", () => {
      if (reason.returnValue !== "save") return;
      const ticks = [...reason.querySelectorAll("[name=tick]:checked")].map((tick) => tick.value);
      acts.reason({ ticks, text: reason.querySelector("[name=text]").value.trim() });
    });
    for (const dialog of document.querySelectorAll("dialog.sheet")) {
      dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    }
  }

  // The instruction, once, before the first sound.
  introduce(started) {
    const sheet = byId("introduction");
    if (!sheet || started || this.introduced) return;
    sheet.addEventListener("close", () => {
      this.introduced = true;
      this.focusPlay();
    });
    sheet.showModal();
  }

  // Kept for this tab: a reloaded page does not explain itself again.
  get introduced() {
    try {
      return sessionStorage.getItem("introduced") === location.pathname;
    } catch {
      return false;
    }
  }

  set introduced(done) {
    try {
      if (done) sessionStorage.setItem("introduced", location.pathname);
    } catch {
      // Without storage it is read again, which does no harm.
    }
  }

  // Another trial on the same page: everything that is written per trial.
  trial(trial) {
    document.title = this.words.say("title", trial);
    const dots = this.dots.firstElementChild;
    dots.setAttribute("aria-label", this.words.say("title", trial));
    dots.replaceChildren(
      ...Array.from({ length: trial.of }, (_, index) => {
        const dot = document.createElement("i");
        if (index + 1 < trial.position) dot.className = "done";
        if (index + 1 === trial.position) dot.className = "now";
        return dot;
      }),
    );
    for (const input of this.confidence?.querySelectorAll("input") ?? []) input.checked = false;
    byId("reason-sheet")?.querySelector("form").reset();
    this.reveal(null);
  }

  reveal(revealed) {
    this.revealed.hidden = !revealed;
    if (!revealed) return;
    const name = (nature) => this.words.say(nature);
    const sentence = this.words.say("revealed", { said: name(revealed.said), was: name(revealed.was) });
    this.revealed.textContent = revealed.line ? `${sentence} ${revealed.line}` : sentence;
    this.say("revealed", { said: name(revealed.said), was: name(revealed.was) }, revealed.line ?? "");
  }

  say(word, values = {}, more = "") {
    const text = [this.words.say(word, values), more].filter(Boolean).join(" ");
    if (text) this.live.textContent = text;
  }

  render(page) {
    const { sound, answer, unlocked, going } = page;
    const over = sound.element.ended || (unlocked && sound.position < 0.1);
    const icon = sound.wanted ? "pause" : over ? "again" : "play";
    const label = { pause: "pause", again: "again", play: page.started ? "goOn" : "play" }[icon];
    for (const picture of this.play.querySelectorAll("svg")) picture.classList.toggle("on", picture.dataset.icon === icon);
    this.play.setAttribute("aria-label", this.words.say(label));
    this.play.setAttribute("aria-busy", String((sound.wanted && !sound.playing) || (going && !answer)));
    this.play.hidden = Boolean(answer);
    this.nextForm.hidden = !answer;
    if (going) this.nextButton.setAttribute("aria-disabled", "true");
    else this.nextButton.removeAttribute("aria-disabled");
    page.trial.order.forEach((choice, index) => this.answer(this.answers[index], choice, { answer, unlocked }));
    this.fails.querySelector("button").classList.toggle("away", Boolean(answer) || going);
    if (this.sayWhy) this.fails.hidden = Boolean(answer);
    const known = this.knownForm.querySelector("button");
    known.setAttribute("aria-pressed", String(page.known));
    if (this.confidence) this.confidence.hidden = !answer;
    if (this.sayWhy) this.sayWhy.hidden = !answer;
    this.remark(page);
  }

  answer(button, choice, { answer, unlocked }) {
    button.classList.toggle("other", Boolean(answer) && answer !== choice);
    if (unlocked) button.removeAttribute("aria-disabled");
    else button.setAttribute("aria-disabled", "true");
    if (answer) button.setAttribute("aria-pressed", String(answer === choice));
    else button.removeAttribute("aria-pressed");
  }

  // One line above the answers: a remark if there is one, else why they are open or closed.
  remark(page) {
    this.counting = false;
    const { note, answer, unlocked } = page;
    const sign = note?.kind === "warning" ? "▲ " : "";
    this.why.className = `why ${note?.kind ?? ""}`.trim();
    if (note) this.why.textContent = sign + this.words.say(note.word);
    else if (answer) this.why.textContent = this.words.say(page.outbox.waiting ? "sending" : "stored");
    else if (unlocked) this.why.textContent = this.words.say("unlocked");
    else {
      const line = document.createElement("span");
      line.className = "lock";
      this.lockText = document.createElement("span");
      line.append(this.lock, this.lockText);
      this.why.replaceChildren(line);
      this.counting = true;
      this.countdown(page);
    }
  }

  countdown(page) {
    if (!this.counting) return;
    const seconds = Math.max(Math.ceil(page.trial.length - page.sound.position), 0);
    const text = page.started ? this.words.say("soon", { seconds }) : this.words.say("locked");
    if (this.lockText.textContent !== text) this.lockText.textContent = text;
  }

  // Where the play button had the focus, the button in its place takes it over.
  keepFocus(change) {
    const held = document.activeElement === this.play;
    change();
    if (held && this.play.hidden) this.nextButton.focus({ preventScroll: true });
  }

  focusPlay() {
    if (!this.play.hidden) this.play.focus({ preventScroll: true });
  }
}
