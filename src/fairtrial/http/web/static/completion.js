// Completes filters with what the server says may come next. The box works without it.
"use strict";
(() => {
  let list = null;
  let chosen = -1;
  let asked = 0;

  function shut(box) {
    list?.remove();
    list = null;
    chosen = -1;
    box.setAttribute("aria-expanded", "false");
    box.removeAttribute("aria-activedescendant");
  }

  function mark(box, to) {
    const items = [...list.children];
    chosen = (to + items.length) % items.length;
    items.forEach((item, i) => item.setAttribute("aria-selected", String(i === chosen)));
    items[chosen].scrollIntoView({ block: "nearest" });
    box.setAttribute("aria-activedescendant", items[chosen].id);
  }

  function take(box, one) {
    const cursor = box.selectionStart;
    const rest = box.value.slice(cursor);
    const keyed = one.text.endsWith(".");
    const before = box.value.slice(0, one.start) + one.text + (keyed ? "" : " ");
    box.value = before + rest.trimStart();
    box.setSelectionRange(before.length, before.length);
    shut(box);
    suggest(box);
  }

  function show(box, suggestions) {
    shut(box);
    if (!suggestions.length || document.activeElement !== box) return;
    list = document.createElement("ul");
    list.className = "suggestions";
    list.id = `${box.id}-list`;
    list.setAttribute("role", "listbox");
    suggestions.forEach((one, i) => {
      const item = document.createElement("li");
      item.id = `${list.id}-${i}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      const code = document.createElement("code");
      code.textContent = one.text;
      const doc = document.createElement("span");
      doc.textContent = one.doc;
      item.append(code, doc);
      item.addEventListener("mousedown", (event) => {
        event.preventDefault();
        take(box, one);
      });
      item.suggestion = one;
      list.append(item);
    });
    box.parentElement.append(list);
    box.setAttribute("aria-expanded", "true");
  }

  async function suggest(box) {
    const mine = ++asked;
    const query = new URLSearchParams({ text: box.value, cursor: String(box.selectionStart) });
    if (box.dataset.scope) query.set("scope", box.dataset.scope);
    try {
      const answer = await fetch(`/completions/${box.dataset.filterOf}?${query}`);
      const { suggestions = [] } = answer.ok ? await answer.json() : {};
      if (mine === asked) show(box, suggestions);
    } catch {
      // Without suggestions the box is a box.
    }
  }

  function bind(box) {
    if (box.dataset.bound) return;
    box.dataset.bound = "yes";
    box.setAttribute("role", "combobox");
    box.setAttribute("aria-autocomplete", "list");
    box.setAttribute("aria-expanded", "false");
    box.setAttribute("aria-controls", `${box.id}-list`);
    box.addEventListener("input", () => suggest(box));
    box.addEventListener("focus", () => suggest(box));
    box.addEventListener("blur", () => shut(box));
    box.addEventListener("keydown", (event) => {
      if (!list) return;
      if (event.key === "ArrowDown") mark(box, chosen + 1);
      else if (event.key === "ArrowUp") mark(box, chosen < 0 ? -1 : chosen - 1);
      else if (event.key === "Tab" && !event.shiftKey) take(box, list.children[Math.max(chosen, 0)].suggestion);
      else if (event.key === "Enter" && chosen >= 0) take(box, list.children[chosen].suggestion);
      else if (event.key === "Escape") {
        shut(box);
        event.stopPropagation();
      } else return;
      event.preventDefault();
    });
  }

  const all = () => document.querySelectorAll("[data-filter-of]").forEach(bind);
  document.addEventListener("DOMContentLoaded", all);
  document.addEventListener("htmx:afterSwap", all);
})();
