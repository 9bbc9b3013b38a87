// Talking to the server: JSON both ways, the CSRF token from the page, patience when the line is down.

const TIMEOUT = 15000;
const WAITS = [1000, 2000, 4000, 8000, 15000];

// The answer may come later: no connection, a time-out, a server that is restarting or asks us to slow down.
export class Unreachable extends Error {}

export const pause = (ms) =>
  new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      removeEventListener("online", done);
      resolve();
    }
    addEventListener("online", done);
  });

export class Server {
  constructor(token = document.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "") {
    this.token = token;
  }

  async ask(url, { method = "GET", body, keepalive = false } = {}) {
    const headers = { Accept: "application/json" };
    if (method !== "GET") {
      headers["X-CSRFToken"] = this.token;
      headers["Content-Type"] = "application/json";
    }
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), TIMEOUT);
    let response;
    let data = {};
    try {
      response = await fetch(url, {
        method,
        headers,
        keepalive,
        body: body === undefined ? undefined : JSON.stringify(body),
        credentials: "same-origin",
        cache: "no-store",
        redirect: "follow",
        signal: stop.signal,
      });
      if (response.headers.get("Content-Type")?.includes("json")) data = await response.json();
    } catch (error) {
      throw new Unreachable(error.message);
    } finally {
      clearTimeout(timer);
    }
    const code = data.error?.code ?? "";
    if (!code && (response.status >= 500 || response.status === 429)) throw new Unreachable(String(response.status));
    return { ok: response.ok, status: response.status, data, code };
  }

  post(url, body = {}, options = {}) {
    return this.ask(url, { method: "POST", body, ...options });
  }

  // Again and again, with growing waits, until the server answers. `waiting` hears of every failed try.
  async patiently(attempt, waiting = () => {}) {
    for (let tries = 0; ; tries += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        waiting(tries);
        await pause(WAITS[Math.min(tries, WAITS.length - 1)]);
      }
    }
  }

  // A last word while the page goes away. Where fetch cannot outlive its page, a beacon carries the same as a form.
  // `flat`: the same as single fields, where they are not those of the body.
  farewell(url, body, flat = body) {
    if ("keepalive" in Request.prototype) {
      this.post(url, body, { keepalive: true }).catch((error) => {
        if (!(error instanceof Unreachable)) throw error;
      });
      return;
    }
    const form = new FormData();
    form.append("csrfmiddlewaretoken", this.token);
    for (const [name, value] of Object.entries(flat)) {
      form.append(name, typeof value === "string" ? value : JSON.stringify(value));
    }
    navigator.sendBeacon(url, form);
  }
}
