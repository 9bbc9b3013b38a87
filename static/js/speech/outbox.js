// The answer on its way: kept in memory and on the device until the server has it.

const PREFIX = "turing.answer.";

export class Outbox {
  constructor(server, { sent, refused, waiting }) {
    this.server = server;
    this.heard = { sent, refused, waiting };
    this.letter = null;
    this.busy = null;
  }

  // What an earlier page could not send for this trial.
  static kept(code) {
    try {
      return JSON.parse(localStorage.getItem(PREFIX + code));
    } catch {
      return null;
    }
  }

  static keep(code, body) {
    try {
      if (body) localStorage.setItem(PREFIX + code, JSON.stringify(body));
      else localStorage.removeItem(PREFIX + code);
    } catch {
      // No storage on this device: memory must do.
    }
  }

  get waiting() {
    return this.letter !== null;
  }

  // A later answer to the same trial takes the place of one not yet sent.
  put(code, url, body) {
    this.letter = { code, url, body };
    Outbox.keep(code, body);
    return this.flush();
  }

  drop() {
    if (this.letter) Outbox.keep(this.letter.code, null);
    this.letter = null;
  }

  // One letter at a time; resolves when nothing waits any more.
  flush() {
    this.busy ??= this.run().finally(() => (this.busy = null));
    return this.busy;
  }

  async run() {
    while (this.letter) {
      let letter = null;
      const answer = await this.server.patiently(
        () => {
          letter = this.letter;
          return letter ? this.server.post(letter.url, letter.body) : null;
        },
        () => this.heard.waiting(),
      );
      if (this.letter !== letter) continue; // changed while it travelled: the newer one follows
      if (!letter) return;
      this.drop();
      // The page no longer counts as ours: it loads anew with a fresh token, and sends once more.
      if (answer.status === 403 && !letter.body.again) Outbox.keep(letter.code, { ...letter.body, again: true });
      if (answer.ok) this.heard.sent(answer.data);
      else this.heard.refused(answer);
    }
  }
}
