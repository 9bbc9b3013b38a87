// Sends the form with a progress bar. What is refused is told above the form, which keeps the chosen files.
const form = document.querySelector("[data-upload]");
const bar = form?.querySelector("[data-progress]");
const words = form?.querySelector("[data-words]").dataset;
const MEGA = 1e6;

const tell = (page) => {
  const there = form.querySelector("[data-problems]");
  const problems = page?.querySelector("[data-problems]");
  const atFields = [...(page?.querySelectorAll(".error-text") ?? [])].map((one) => one.textContent);
  there.replaceChildren(...(problems ? document.adoptNode(problems).childNodes : []));
  for (const text of page ? atFields : [words.lost]) {
    const line = document.createElement("p");
    line.className = "error-text";
    line.setAttribute("role", "alert");
    line.textContent = text;
    there.append(line);
  }
};

form?.addEventListener("submit", (event) => {
  const files = [...form.querySelector("[type=file]").files];
  if (!files.length) return; // the server says what is missing
  event.preventDefault();
  const [said, progress] = [bar.querySelector("[data-said]"), bar.querySelector("progress")];
  const button = form.querySelector("[type=submit]");
  const request = new XMLHttpRequest();
  const end = () => {
    bar.hidden = true;
    button.disabled = false;
  };
  request.upload.addEventListener("progress", ({ loaded, total }) => {
    progress.max = total;
    progress.value = loaded;
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
    tell(null);
  });
  request.addEventListener("abort", end);
  bar.querySelector("[data-stop]").onclick = () => request.abort();
  request.open("POST", location.href);
  request.setRequestHeader("Accept", "text/html");
  request.send(new FormData(form));
  bar.hidden = false;
  button.disabled = true;
});
