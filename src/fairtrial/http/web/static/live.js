// What runs elsewhere shows here: parts of the page that changed are put in place, nothing else.
"use strict";
(() => {
  const shown = () => document.querySelector("[data-live-experiment], [data-live-list]");
  const PAUSE_MS = 800;
  let waiting = null;
  let asking = false;
  let again = false;
  let said = "";

  function concerns(id) {
    if (document.querySelector("[data-live-list]")) return true;
    return Boolean(document.querySelector(`[data-live-experiment="${CSS.escape(id)}"]`));
  }

  function put(fresh) {
    document.querySelectorAll("[data-live]").forEach((old) => {
      const made = fresh.querySelector(`[data-live="${CSS.escape(old.dataset.live)}"]`);
      if (!made || made.innerHTML === old.innerHTML) return;
      const at = document.activeElement?.getAttribute?.("href");
      const focused = old.contains(document.activeElement);
      // The row that the keyboard is at stays so.
      const row = old.querySelector(".at [data-open-row]")?.getAttribute("href");
      if (row) made.querySelector(`[data-open-row][href="${CSS.escape(row)}"]`)?.closest("[data-row]")?.classList.add("at");
      if (made.innerHTML === old.innerHTML) return;
      old.replaceChildren(...document.importNode(made, true).childNodes);
      window.htmx?.process(old);
      if (focused && at) old.querySelector(`a[href="${CSS.escape(at)}"]`)?.focus({ preventScroll: true });
    });
  }

  function more(fresh) {
    const link = document.querySelector("[data-live-more]");
    const names = (where) => [...where.querySelectorAll("[data-live-list] [data-tick]")].map((box) => box.value);
    const known = new Set(names(document));
    if (link && names(fresh).some((name) => !known.has(name))) link.hidden = false;
  }

  function tell(fresh) {
    const news = document.querySelector("[data-live-news]");
    const words = fresh.querySelector("[data-live-words]")?.dataset.liveWords ?? "";
    if (news && words && words !== said) {
      said = words;
      news.textContent = words;
    }
  }

  async function refresh() {
    waiting = null;
    if (asking) { again = true; return; }
    asking = true;
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" } });
      if (answer.ok) {
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
        put(fresh);
        more(fresh);
        tell(fresh);
      }
    } catch {
      // The server went away; the stream of events connects again by itself.
    } finally {
      asking = false;
    }
    if (again) { again = false; soon(); }
  }

  function soon() {
    if (waiting === null) waiting = setTimeout(refresh, PAUSE_MS);
  }

  document.addEventListener("DOMContentLoaded", () => {
    if (!shown()) return;
    const events = new EventSource("/v2/events");
    events.addEventListener("experiment", (event) => {
      if (concerns(JSON.parse(event.data).id)) soon();
    });
    // What happened between the making of the page and now, or while the stream was broken.
    events.addEventListener("open", soon);
    window.addEventListener("pagehide", () => events.close());
  });
})();
