// Passes the study's link on: the device's own sheet where there is one, else the clipboard, else the link selected.

const button = document.getElementById("share");
const link = document.getElementById("share-link");
const said = document.getElementById("share-said");

const copy = async () => {
  try {
    await navigator.clipboard.writeText(link.value);
    said.textContent = button.dataset.copied;
  } catch {
    // No clipboard without HTTPS or permission.
    link.focus();
    link.select();
    said.textContent = button.dataset.byHand;
  }
};

button?.addEventListener("click", async () => {
  said.textContent = "";
  if (!navigator.share) return copy();
  try {
    await navigator.share({ title: button.dataset.title, url: link.value });
  } catch (error) {
    // Closing the sheet is no failure.
    if (error.name !== "AbortError") await copy();
  }
});
