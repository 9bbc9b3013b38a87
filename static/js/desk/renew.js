// While a worker is at it: fetches the page anew every two seconds and puts its [data-renew] part in place.
const part = () => document.querySelector("[data-renew]");
const renew = async () => {
  const old = part();
  if (!old) return;
  const typing = old.contains(document.activeElement) && document.activeElement.matches("input, textarea, select");
  if (!document.hidden && !typing) {
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (answer.ok && !answer.redirected) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const fresh = page.querySelector("[data-renew]");
        // Finished: the whole page has changed (figures, waveform, buttons).
        if (!fresh) return location.reload();
        old.replaceWith(document.adoptNode(fresh));
      }
    } catch {
      // No connection just now: the next turn tries again.
    }
  }
  setTimeout(renew, 2000);
};
setTimeout(renew, 2000);
