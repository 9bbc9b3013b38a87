// Scores on their way. A key never waits for the network: what is answered lies in memory and on the device until
// the server has it; sent in the order given, several at a time, again and again while the line is down.
// What was changed elsewhere meanwhile is never overwritten: it waits in `conflicts` until the person decides.

const PREFIX = "turing.scores.";
const GATHER = 250; // ms in which answers join one letter
const KEEP = 60 * 24 * 3600 * 1000; // ms after which a device forgets what could never be sent
export const CHOICE = "choice";

export const same = (one, other) =>
  Boolean(one && other) && one.value === other.value && (one.confidence ?? null) === (other.confidence ?? null);

// What the server has of a dialogue, by key.
export function answersOf({ scores, choice: value, confidence, choice_version: version }) {
  const known = new Map(Object.entries(scores));
  if (value) known.set(CHOICE, { value, confidence, version });
  return known;
}

const shelf = {
  get(code) {
    try {
      return JSON.parse(localStorage.getItem(PREFIX + code));
    } catch {
      return null;
    }
  },
  put(code, body) {
    try {
      if (body) localStorage.setItem(PREFIX + code, JSON.stringify(body));
      else localStorage.removeItem(PREFIX + code);
    } catch {
      // No storage on this device: memory must do.
    }
  },
  tidy(now) {
    try {
      for (const name of Object.keys(localStorage)) {
        if (!name.startsWith(PREFIX)) continue;
        const code = name.slice(PREFIX.length);
        if (!(now - (shelf.get(code)?.at ?? 0) < KEEP)) shelf.put(code, null);
      }
    } catch {
      // As above.
    }
  },
};

export class Queue {
  // `heard`: stored(keys), elsewhere(answers), conflict(), fault(keys), waiting(), refused(answer, again),
  // told(data); `also()` adds to each letter.
  constructor(server, { also, ...heard }) {
    this.server = server;
    this.also = also;
    this.heard = heard;
    this.busy = null;
    shelf.tidy(Date.now());
  }

  // Another dialogue, with what the server has of it. Returns what an earlier page could not send, by key.
  begin({ code, url, known }) {
    this.code = code;
    this.url = url;
    this.known = known; // key → { value, version, confidence? } as the server has it
    this.pending = new Map(); // key → answer, in the order given
    this.conflicts = new Map(); // key → { mine, theirs }
    this.travelled = new Map(); // key → answers sent whose reply may be lost
    this.stopped = false;
    const kept = shelf.get(code);
    this.again = kept?.again ?? 0;
    for (const [key, { answer, version, sent }] of kept?.pending ?? []) {
      const theirs = known.get(key);
      if (same(theirs, answer)) continue;
      const ours = theirs && (sent ?? []).some((one) => same(one, theirs));
      this.pending.set(key, answer);
      this.travelled.set(key, sent ?? []);
      if (!ours && theirs && theirs.version !== version) known.set(key, { ...theirs, version });
    }
    this.keep();
    return this.pending;
  }

  get waiting() {
    return this.pending.size + this.conflicts.size;
  }

  isStored(key) {
    return this.known.has(key) && !this.pending.has(key) && !this.conflicts.has(key);
  }

  put(key, answer) {
    this.conflicts.delete(key);
    this.pending.delete(key); // to the end: the order of the answers is kept
    if (!same(this.known.get(key), answer) || this.travelled.has(key)) this.pending.set(key, answer);
    this.keep();
    return this.flush();
  }

  // The person decided which of two answers stays.
  settle(key, mine) {
    const found = this.conflicts.get(key);
    if (!found) return null;
    this.conflicts.delete(key);
    this.known.set(key, found.theirs);
    if (mine) this.pending.set(key, found.mine);
    this.keep();
    this.flush();
    return mine ? found.mine : found.theirs;
  }

  version(key) {
    return this.known.get(key)?.version ?? 0;
  }

  keep() {
    const rows = [...this.pending, ...[...this.conflicts].map(([key, { mine }]) => [key, mine])].map(
      ([key, answer]) => [key, { answer, version: this.version(key), sent: this.travelled.get(key) ?? [] }],
    );
    shelf.put(this.code, rows.length ? { pending: rows, again: this.again, at: Date.now() } : null);
  }

  letter() {
    const body = { scores: {}, ...this.also() };
    for (const [key, answer] of this.pending) {
      const one = { ...answer, version: this.version(key) };
      if (key === CHOICE) body.choice = one;
      else body.scores[key] = one;
      const sent = this.travelled.get(key) ?? [];
      if (!sent.some((other) => same(other, answer))) this.travelled.set(key, [...sent, answer]);
    }
    return body;
  }

  // Resolves when nothing can be sent any more: all is stored, or it waits for a decision.
  flush() {
    this.busy ??= this.run().finally(() => (this.busy = null));
    return this.busy;
  }

  async run() {
    await new Promise((resolve) => setTimeout(resolve, GATHER));
    const { code } = this;
    while (this.pending.size && !this.stopped && this.code === code) {
      let sent = null;
      const answer = await this.server.patiently(
        () => {
          sent = new Map(this.pending);
          const body = this.letter();
          this.keep();
          return this.server.post(this.url, body);
        },
        () => this.heard.waiting(),
      );
      if (this.code !== code) return;
      if (answer.ok || answer.data.scores) this.take(answer.data, sent);
      else this.refuse(answer);
    }
  }

  // What the server has now: of what was sent, and of what others sent.
  take(data, sent = new Map()) {
    const theirs = new Map(Object.entries(data.scores ?? {}));
    if (data.choice?.value) theirs.set(CHOICE, data.choice);
    const clashes = new Map(Object.entries(data.conflicts ?? {}));
    const stored = [];
    const elsewhere = new Map();
    for (const [key, answer] of theirs) {
      if (clashes.has(key) || this.conflicts.has(key)) continue;
      const before = this.known.get(key);
      const mine = this.pending.get(key);
      if (mine && !sent.has(key)) continue; // not sent yet: its own letter will tell
      this.known.set(key, answer);
      if (!mine) {
        if (!same(before, answer)) elsewhere.set(key, answer);
        continue;
      }
      this.travelled.delete(key);
      if (!same(mine, answer) && !same(mine, sent.get(key))) continue; // changed on the way: the newer follows
      this.pending.delete(key);
      stored.push(key);
    }
    for (const [key, answer] of clashes) this.clash(key, answer);
    const faults = Object.keys(data.error?.fields ?? {});
    for (const key of faults) this.pending.delete(key === "confidence" ? CHOICE : key);
    this.again = 0;
    this.keep();
    this.heard.told(data);
    if (elsewhere.size) this.heard.elsewhere(elsewhere);
    this.heard.stored(stored);
    if (faults.length) this.heard.fault(faults);
    if (this.conflicts.size) this.heard.conflict();
  }

  clash(key, theirs) {
    const mine = this.pending.get(key);
    const ours = (this.travelled.get(key) ?? []).some((one) => same(one, theirs));
    this.travelled.delete(key);
    if (!mine || ours || same(mine, theirs)) {
      this.known.set(key, theirs); // an answer of ours whose reply was lost
      return;
    }
    this.pending.delete(key);
    this.conflicts.set(key, { mine, theirs });
  }

  // The page no longer counts as ours: it loads anew with a fresh token, and sends once more.
  refuse(answer) {
    this.stopped = true;
    if (answer.status === 403) this.again += 1;
    this.keep();
    this.heard.refused(answer, this.again < 2);
  }

  // The last word while the page goes away; the answers stay on the device until a page hears that they are stored.
  farewell() {
    if (!this.pending.size || this.stopped) return false;
    const body = this.letter();
    this.keep();
    this.server.farewell(this.url, body, this.flat(body));
    return true;
  }

  flat({ scores, choice }) {
    const fields = {};
    for (const [key, { value, version }] of Object.entries(scores)) {
      fields[`score-${key}`] = value;
      fields[`version-${key}`] = version;
    }
    if (!choice) return fields;
    return { ...fields, choice: choice.value, confidence: choice.confidence ?? "", "version-choice": choice.version };
  }

  // What belongs to a dialogue that was finished elsewhere can't be stored any more.
  drop() {
    this.pending.clear();
    this.conflicts.clear();
    this.keep();
  }

  // Again, after what held it up has gone.
  resume() {
    this.stopped = false;
    if (this.pending.size) this.flush();
  }
}
