// What stands below the talk: the field while one may write, else what happens now and what one can do.

export class Panels {
  constructor(words) {
    this.words = words;
    this.field = document.getElementById("compose");
    this.panel = document.getElementById("panel");
    this.note = document.getElementById("panel-note");
    this.parts = [...this.panel.querySelectorAll("[data-panel]")];
  }

  // Nothing more to do here for this person.
  get over() {
    return this.name?.startsWith("end") || this.name === "out";
  }

  which(state, { writing, voting }) {
    if (state.closed) return "end";
    if (state.you.out) return "out";
    if (writing) return "";
    if (state.phase === "vote") return voting ? "vote" : "voted";
    if (state.phase === "reveal") return "reveal";
    return "wait";
  }

  show(state, now) {
    const name = this.which(state, now);
    const held = this.field.contains(document.activeElement) || this.panel.contains(document.activeElement);
    const changed = name !== this.name;
    this.name = name;
    this.state = state;
    this.field.hidden = name !== "";
    this.panel.hidden = name === "";
    for (const part of this.parts) part.hidden = part.dataset.panel !== name;
    for (const link of this.panel.querySelectorAll("[data-next]")) {
      link.hidden = !state.play.next;
      if (state.play.next) link.href = state.play.next;
    }
    if (name === "end") this.say("end-lead", this.words.say(`end-${state.play.end}`) || this.words.say("end"));
    if (name === "out") this.say("out-lead", this.words.say(state.you.may_read ? "outWatch" : "outGone"));
    if (!changed) return;
    if (!name) this.remark("");
    if (held && name) this.focus();
    else if (!name && matchMedia("(pointer: fine)").matches && document.activeElement === document.body) {
      document.getElementById("say").focus({ preventScroll: true });
    }
  }

  say(id, text) {
    const place = document.getElementById(id);
    if (place.textContent !== text) place.textContent = text;
  }

  remark(text) {
    this.note.textContent = text;
    this.note.hidden = !text;
  }

  focus() {
    this.panel.focus({ preventScroll: true });
  }

  get title() {
    const { state } = this;
    if (!state) return "";
    if (state.closed) return this.words.say("titleEnd");
    return this.words.say(`title-${state.phase}`, { round: state.round }) || this.words.say("titleEnd");
  }
}
