
"use strict";
const search = document.getElementById("search");
const buttons = [...document.querySelectorAll("button[data-outcome]")];
const rows = [...document.querySelectorAll(".row")].map(
  (row) => [row, row.dataset.outcome, row.querySelector("summary").textContent.toLowerCase()]);
const none = document.getElementById("none");
let outcome = "";
function show() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const [row, its, text] of rows) {
    row.hidden = (outcome && its !== outcome) || !words.every((word) => text.includes(word));
    shown += !row.hidden;
  }
  none.hidden = shown > 0;
}
search.addEventListener("input", show);
for (const button of buttons) {
  button.addEventListener("click", () => {
    outcome = button.dataset.outcome;
    for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
    show();
  });
}
document.getElementById("tools").hidden = false;
