// The page's sentences live in its HTML, translated by the server: <template id="words"> with one [data-word] each.

export class Words {
  constructor(template = document.getElementById("words")) {
    this.known = new Map();
    for (const node of template.content.querySelectorAll("[data-word]")) {
      this.known.set(node.dataset.word, node.textContent.trim());
    }
  }

  // "{name}" in the sentence is filled from `values`.
  say(word, values = {}) {
    return (this.known.get(word) ?? "").replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
  }
}
