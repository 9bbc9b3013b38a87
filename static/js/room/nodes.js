// Small pieces of the page. Text gets in as text alone: whatever somebody writes, it is never markup.

export function node(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children.filter((child) => child !== null && child !== ""));
  return made;
}

// What somebody wrote or is called, so that its direction turns no text around it.
export const isolated = (text) => node("bdi", "", text);

// Words for screen readers alone.
export const unseen = (text) => node("span", "sr", text);

// A sentence of the page with nodes in its places: "{name} is out." and {name: a node}.
export function filled(sentence, places) {
  return sentence.split(/(\{\w+\})/).map((part) => {
    const place = /^\{\w+\}$/.test(part) ? places[part.slice(1, -1)] : undefined;
    return place instanceof Node ? place.cloneNode(true) : (place ?? part);
  });
}

// The answer pair in words: shape first, colour second.
export function pair(nature, word) {
  const mark = node("span", nature === "machine" ? "mark m" : "mark");
  mark.setAttribute("aria-hidden", "true");
  return node("span", nature === "machine" ? "is m" : "is h", mark, word);
}

const letters = (text) => {
  if (!("Segmenter" in Intl)) return [...text];
  return [...new Intl.Segmenter().segment(text)].map((one) => one.segment);
};

// One letter a player, the same rule for all; two, or the last Chinese character, where players would look alike.
export function initials(names) {
  const all = names.map(letters);
  return all.map((own) => {
    if (all.filter((other) => other[0] === own[0]).length === 1) return own[0] ?? "";
    return /\p{Script=Han}/u.test(own[0]) ? own.at(-1) : own.slice(0, 2).join("");
  });
}

// A grey square with a letter; its shading turns with the place at the table.
export function avatar(seat) {
  const made = node("span", "av", seat.initial);
  made.setAttribute("aria-hidden", "true");
  made.style.setProperty("--turn", `${(seat.position * 137 + 20) % 360}deg`);
  return made;
}
