// Buttons that copy a text: [data-copy] names it, [data-done] is what they say then. Without scripts the text is
// selected by a click (user-select: all) and copied by hand.
for (const button of document.querySelectorAll("[data-copy]")) {
  const text = document.getElementById(button.dataset.copy);
  const word = button.textContent;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      // Not a secure address, or refused: it is selected for the keyboard.
      return getSelection().selectAllChildren(text);
    }
    button.textContent = button.dataset.done;
    setTimeout(() => (button.textContent = word), 2000);
  });
}
