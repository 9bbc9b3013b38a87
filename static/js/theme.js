// Loaded in the head, before the first paint: marks that scripts run, keeps a chosen appearance, and notes a press of
// a [data-early] button that comes before the page's own script is there, so that it isn't lost on a slow line.
(() => {
  const root = document.documentElement;
  root.dataset.js = "";
  const order = ["device", "light", "dark"];
  const read = () => {
    try {
      return order.includes(localStorage.theme) ? localStorage.theme : "device";
    } catch {
      return "device";
    }
  };
  const show = (theme) => {
    if (theme === "device") delete root.dataset.theme;
    else root.dataset.theme = theme;
    for (const button of document.querySelectorAll("[data-theme-switch]")) {
      for (const name of button.querySelectorAll("[data-theme-name]")) name.hidden = name.dataset.themeName !== theme;
    }
  };
  show(read());
  addEventListener("DOMContentLoaded", () => show(read()));
  addEventListener("storage", (event) => event.key === "theme" && show(read()));
  addEventListener("click", (event) => {
    const early = event.target.closest?.("[data-early]");
    if (early) early.dataset.early = "pressed";
    if (!event.target.closest?.("[data-theme-switch]")) return;
    const theme = order[(order.indexOf(read()) + 1) % order.length];
    try {
      localStorage.theme = theme;
    } catch {
      // A browser that refuses storage still shows the choice on this page.
    }
    show(theme);
  });
})();
