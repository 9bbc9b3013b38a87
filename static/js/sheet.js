// Opens the sheet a button names. A click on the scrim closes it, as Escape does.
addEventListener("click", (event) => {
  const opener = event.target.closest?.("[data-sheet]");
  if (opener) document.getElementById(opener.dataset.sheet).showModal();
  else if (event.target.matches?.("dialog.sheet")) event.target.close();
});
