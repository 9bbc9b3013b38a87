// Asks before a form does what it says: its sheet opens, `act` gets the button that closed it.

export function ask(form, sheet, act) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    sheet.showModal();
  });
  sheet.addEventListener("close", () => {
    if (sheet.returnValue) act(sheet.returnValue);
    sheet.returnValue = "";
  });
  sheet.addEventListener("click", ({ target }) => target === sheet && sheet.close());
}
