// What a screen reader is told: new messages together, a few at a time, so that a lively talk drowns nobody.

const EVERY = 2500; // ms
const MOST = 3; // messages read out at once; of more only the number is said

export class Announcer {
  constructor(words) {
    this.words = words;
    this.live = document.getElementById("announce");
    this.messages = [];
    this.notices = [];
  }

  message(name, text) {
    this.messages.push(this.words.say("says", { name, text }));
    this.soon();
  }

  notice(text) {
    if (text) this.notices.push(text);
    this.soon(300);
  }

  soon(ms = EVERY) {
    const due = performance.now() + ms;
    if (this.timer && this.due <= due) return;
    clearTimeout(this.timer);
    this.due = due;
    this.timer = setTimeout(() => this.speak(), ms);
  }

  speak() {
    this.timer = null;
    const { messages, notices } = this;
    const told = messages.length > MOST ? [this.words.say("manyNew", { n: messages.length })] : messages;
    this.messages = [];
    this.notices = [];
    const paragraphs = [...notices, ...told].map((text) => {
      const line = document.createElement("p");
      line.dir = "auto";
      line.textContent = text;
      return line;
    });
    this.live.replaceChildren(...paragraphs);
  }
}
