// “Report” beside a message: what it is about, a word if one likes, and thanks. Nobody in the room learns of it.

import { Unreachable } from "../server.js";

export class Report {
  constructor(words, server, url) {
    this.words = words;
    this.server = server;
    this.url = url;
    this.sheet = document.getElementById("report-sheet");
    this.form = this.sheet.querySelector("form");
    this.quote = document.getElementById("report-quote");
    this.text = document.getElementById("report-text");
    this.said = document.getElementById("report-said");
    this.asking = document.getElementById("report-asking");
    this.thanks = document.getElementById("report-thanks");
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
    for (const button of this.sheet.querySelectorAll("[data-close]")) {
      button.addEventListener("click", () => this.sheet.close());
    }
  }

  // `event`: the line it is about; `name`: who wrote it.
  ask(event, name) {
    this.seq = event.seq;
    this.quote.textContent = event.text;
    this.quote.dir = "auto";
    document.getElementById("report-name").textContent = name;
    this.text.value = "";
    this.said.textContent = "";
    this.asking.hidden = false;
    this.thanks.hidden = true;
    this.sheet.showModal();
  }

  async send() {
    if (this.busy) return;
    this.busy = true;
    this.said.textContent = "";
    try {
      const answer = await this.server.post(this.url, { seq: this.seq, text: this.text.value });
      if (answer.ok) {
        this.asking.hidden = true;
        this.thanks.hidden = false;
        this.thanks.querySelector("h2").focus();
      } else this.said.textContent = answer.data.error?.message ?? this.words.say("reportLater");
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      this.said.textContent = this.words.say("reportLater");
    } finally {
      this.busy = false;
    }
  }
}
