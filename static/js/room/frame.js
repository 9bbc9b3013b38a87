// The page as high as what the phone's keyboard leaves of the screen, so that the field stays right above it.

const LOW = 420; // px under which the talk needs the room of the players' row

export function fitToScreen() {
  const root = document.documentElement;
  const screen = window.visualViewport;
  if (!screen) return;
  const fit = () => {
    if (screen.scale > 1.01) return; // somebody has zoomed in: the page stays as it is
    root.style.setProperty("--height", `${screen.height}px`);
    root.classList.toggle("low", screen.height < LOW);
    root.style.setProperty("--top", `${Math.max(screen.offsetTop, 0)}px`);
  };
  screen.addEventListener("resize", fit);
  screen.addEventListener("scroll", fit);
  fit();
}
