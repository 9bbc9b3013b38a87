// What a key does on the work page: digits answer, the others move and play.

export function shortcut({ key, shiftKey }, { steps, deck, ready, next }) {
  if (shiftKey && key.startsWith("Arrow")) {
    return { ArrowLeft: () => deck.turns.step(-1), ArrowRight: () => deck.turns.step(1) }[key];
  }
  if (/^[0-5]$/.test(key)) return () => ready() && steps.digit(Number(key));
  return {
    " ": () => deck.toggle(),
    r: () => deck.turns.repeat(),
    i: () => steps.explain(),
    "?": () => steps.explain(),
    backspace: () => ready() && steps.back(),
    enter: next,
  }[key.toLowerCase()];
}
