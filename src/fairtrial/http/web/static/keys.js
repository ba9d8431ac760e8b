// The keyboard, and what ticking boxes says. Every page works without it.
"use strict";
(() => {
  const rows = () => [...document.querySelectorAll("[data-rows] [data-row]")];
  const typing = (target) =>
    target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && target.type !== "checkbox";

  function at() {
    return rows().findIndex((row) => row.classList.contains("at"));
  }

  function go(to) {
    const all = rows();
    if (!all.length) return;
    const wanted = Math.max(0, Math.min(all.length - 1, to));
    all.forEach((row, i) => row.classList.toggle("at", i === wanted));
    const link = all[wanted].querySelector("[data-open-row]");
    if (link) link.focus({ preventScroll: true });
    all[wanted].scrollIntoView({ block: "nearest" });
  }

  function picked() {
    const button = document.querySelector("[data-picked]");
    if (!button) return;
    const n = document.querySelectorAll("[data-tick]:checked").length;
    button.textContent = n ? `Side by side (${n})` : "Side by side";
    button.disabled = n < 2 || n > 8;
  }

  function close() {
    const link = document.querySelector("[data-close]");
    if (link) link.click();
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      const menu = document.querySelector("details.menu[open]");
      if (menu) {
        menu.open = false;
        menu.querySelector("summary").focus();
      } else if (typing(event.target)) event.target.blur();
      else if (!document.querySelector("dialog[open]")) close();
      return;
    }
    if (typing(event.target) || document.querySelector("dialog[open]")) return;
    const current = rows()[at()];
    if (event.key === "j") go(at() + 1);
    else if (event.key === "k") go(at() < 0 ? 0 : at() - 1);
    else if (event.key === "x" && current) current.querySelector("[data-tick]")?.click();
    else if (event.key === "Enter" && current && event.target === document.body) {
      current.querySelector("[data-open-row]")?.click();
    } else if (event.key === "/") {
      const box = document.querySelector("[data-filter-of]");
      if (!box) return;
      box.focus();
      box.select();
    } else if (event.key === "?") document.getElementById("keys")?.showModal();
    else return;
    event.preventDefault();
  });

  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-tick]")) picked();
    if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
  });

  document.addEventListener("click", (event) => {
    document.querySelectorAll("details.menu[open]").forEach((menu) => {
      if (!menu.contains(event.target)) menu.open = false;
    });
    const opener = event.target.closest("[data-open]");
    if (opener) document.getElementById(opener.dataset.open)?.showModal();
    const row = event.target.closest("[data-row]");
    if (row && !event.target.closest("a, button, input, label, summary") && !String(getSelection())) {
      row.querySelector("[data-open-row]")?.click();
    }
  });

  document.addEventListener("focusin", (event) => {
    const row = event.target.closest?.("[data-row]");
    if (row) rows().forEach((one) => one.classList.toggle("at", one === row));
  });

  document.addEventListener("htmx:afterSettle", () => {
    // A row that was opened is read from its start.
    const panel = document.querySelector("#panel:not([hidden])");
    if (panel && !panel.contains(document.activeElement)) panel.focus();
    // And left for the row that it was opened from.
    if (!panel && document.activeElement === document.body) {
      const row = document.querySelector("[data-row].at, [data-row][aria-selected='true']");
      row?.querySelector("[data-open-row]")?.focus({ preventScroll: true });
    }
  });

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-open]").forEach((one) => { one.hidden = false; });
    picked();
  });
  window.addEventListener("pageshow", picked);
})();
