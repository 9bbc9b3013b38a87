// Sends the form with a progress bar. What is refused is told above the form, which keeps the chosen files.
const form = document.querySelector("[data-upload]");
const bar = form?.querySelector("[data-progress]");
const words = form?.querySelector("[data-words]").dataset;
const MEGA = 1e6;
const SETTLED = 1000; // ms: the second half of a double click stops nothing

// What is wrong: as the server's page says it, or one line of our own; neither clears the place.
const tell = (page, line) => {
  const there = form.querySelector("[data-problems]");
  const problems = page?.querySelector("[data-problems]");
  const atFields = [...(page?.querySelectorAll(".error-text") ?? [])].map((one) => one.textContent);
  there.replaceChildren(...(problems ? document.adoptNode(problems).childNodes : []));
  for (const text of line ? [line] : atFields) {
    const said = document.createElement("p");
    said.className = "error-text";
    said.setAttribute("role", "alert");
    said.textContent = text;
    there.append(said);
  }
};

form?.addEventListener("submit", (event) => {
  const files = [...form.querySelector("[type=file]").files];
  if (!files.length) return; // the server says what is missing
  event.preventDefault();
  const [said, progress] = [bar.querySelector("[data-said]"), bar.querySelector("progress")];
  const button = form.querySelector("[type=submit]");
  const stop = bar.querySelector("[data-stop]");
  if (button.disabled) return; // on its way already
  const begun = Date.now();
  const request = new XMLHttpRequest();
  const end = () => {
    bar.hidden = true;
    button.disabled = false;
  };
  request.upload.addEventListener("progress", ({ loaded, total }) => {
    progress.max = total;
    progress.value = loaded;
    stop.hidden = loaded >= total; // from here on the server has it
    const shown = (bytes) => (bytes / MEGA).toFixed(1);
    said.textContent =
      loaded < total ? words.sent.replace("{sent}", shown(loaded)).replace("{total}", shown(total)) : words.checking;
  });
  request.addEventListener("load", () => {
    if (request.status < 300 && request.responseURL !== location.href) return location.assign(request.responseURL);
    end();
    tell(new DOMParser().parseFromString(request.responseText, "text/html"));
  });
  request.addEventListener("error", () => {
    end();
    tell(null, words.lost);
  });
  request.addEventListener("abort", () => {
    end();
    tell(null, words.stopped);
    button.focus();
  });
  stop.onclick = () => Date.now() - begun > SETTLED && request.abort();
  request.open("POST", location.href);
  request.setRequestHeader("Accept", "text/html");
  request.send(new FormData(form));
  tell();
  for (const old of form.querySelectorAll(".error-text")) old.remove();
  said.textContent = "";
  progress.value = 0;
  stop.hidden = false;
  bar.hidden = false;
  button.disabled = true;
});
