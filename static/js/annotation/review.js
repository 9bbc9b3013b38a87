// Comfort on the page of a case: what is opened or decided changes the table in place, so the sound plays on;
// arrow keys move between scores. Links and forms work the same without this script.
const part = () => document.querySelector("[data-review]");

// What had the focus has it again; a button that has done its work hands it to its score.
const refocus = (id) => {
  if (!id) return;
  const same = document.getElementById(id);
  const target = same ?? document.getElementById(id.replace(/^a-/, "c-")) ?? document.getElementById(id.replace(/^r-/, "o-"));
  (target ?? document.getElementById("following") ?? part()).focus({ preventScroll: true });
};

const put = (text, address, focus) => {
  const page = new DOMParser().parseFromString(text, "text/html");
  const fresh = page.querySelector("[data-review]");
  if (!fresh) {
    // Another page: somebody decided meanwhile, or the person was signed out.
    document.querySelector("main").replaceWith(document.adoptNode(page.querySelector("main")));
    document.title = page.title;
    const heading = document.querySelector("main h1");
    heading.tabIndex = -1;
    heading.focus();
    return;
  }
  part().replaceWith(document.adoptNode(fresh));
  if (address) history.replaceState(null, "", address);
  const error = document.querySelector("[data-error]");
  if (error) error.focus();
  else refocus(focus);
};

const load = async (address, options, focus) => {
  part().setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(address, { ...options, headers: { Accept: "text/html" } });
    const type = answer.headers.get("Content-Type") ?? "";
    if (!type.startsWith("text/html") || answer.status >= 500) throw new TypeError(String(answer.status));
    put(await answer.text(), answer.ok ? answer.url + new URL(address, location.href).hash : "", focus);
    return true;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    part()?.removeAttribute("aria-busy");
    return false;
  }
};

document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-swap]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  if (!(await load(link.href, {}, link.id))) location.assign(link.href);
});

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-swap]");
  if (!form) return;
  event.preventDefault();
  if (part()?.getAttribute("aria-busy")) return;
  const body = new URLSearchParams(new FormData(form, event.submitter));
  const focus = event.submitter?.id || document.activeElement?.id;
  if (!(await load(form.action, { method: "POST", body }, focus))) {
    // No connection: the browser's own page says so, and keeps what was filled in.
    HTMLFormElement.prototype.requestSubmit.call(withoutSwap(form), event.submitter);
  }
});

const withoutSwap = (form) => {
  form.removeAttribute("data-swap");
  return form;
};

document.addEventListener("keydown", (event) => {
  const cell = event.target.closest?.("[data-cell]");
  if (!cell || event.ctrlKey || event.metaKey || event.altKey) return;
  const approve = document.getElementById(`a-${cell.id.slice(2)}`);
  if (event.key.toLowerCase() === "a" && approve) return approve.click();
  const row = cell.closest("tr");
  const place = [...row.querySelectorAll("[data-cell]")].indexOf(cell);
  const rows = [...document.querySelectorAll("tr")].filter((one) => one.querySelector("[data-cell]"));
  const at = rows.indexOf(row);
  const [down, right] = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key] ?? [0, 0];
  if (!down && !right) return;
  const target = rows[at + down]?.querySelectorAll("[data-cell]")[place + right];
  if (!target) return;
  event.preventDefault();
  target.focus();
});
