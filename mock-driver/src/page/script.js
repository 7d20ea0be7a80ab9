// Shows changes without a reload, and sends what the switches stand for. The page works without it.
"use strict";

const INTERVAL_MS = 1000;
const connection = document.getElementById("connection");
const shown = new Map();

const bodies = new Map();

// A call opens to its bodies, which are asked for only then.
async function showBodies(details) {
  const { bodies: path } = details.dataset;
  if (!path || details.querySelector("pre")) return;
  if (!bodies.has(path)) {
    const response = await fetch(path).catch((error) => error);
    bodies.set(path, response.ok ? readable(await response.json()) : "no longer in the journal");
  }
  const text = document.createElement("pre");
  text.textContent = bodies.get(path);
  if (!details.querySelector("pre")) details.append(text);
}

function readable({ request = "", response = "" }) {
  const pretty = (body) => {
    try {
      return JSON.stringify(JSON.parse(body), null, 2);
    } catch {
      return body;
    }
  };
  return `request\n${pretty(request)}\n\nresponse\n${pretty(response)}`;
}

document.addEventListener("toggle", ({ target }) => target.open && showBodies(target), true);

// Between press and release nothing is replaced: a click needs both on the same element.
let pressed = false;
for (const type of ["pointerdown", "keydown"]) {
  addEventListener(type, () => (pressed = true), true);
}
for (const type of ["pointerup", "pointercancel", "keyup", "blur"]) {
  addEventListener(type, () => setTimeout(() => (pressed = false)), true);
}

// A part keeps the focus and the rows that a user has opened.
function replace(part, fresh) {
  const focused = document.activeElement?.id;
  const open = [...part.querySelectorAll("details[open][id]")].map((it) => it.id);
  part.replaceChildren(...fresh.childNodes);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

async function refresh() {
  try {
    const response = await fetch("/", { signal: AbortSignal.timeout(5000) });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const part of document.querySelectorAll("main > section > div[id]")) {
      const fresh = page.getElementById(part.id);
      if (!fresh || pressed || shown.get(part.id) === fresh.innerHTML) continue;
      shown.set(part.id, fresh.innerHTML);
      replace(part, fresh);
    }
    showRates();
    say("live");
  } catch (error) {
    say(`not reachable: ${error.message}`);
  }
}

const counts = new Map();

// What was served since the last look, for a second.
function showRates() {
  const now = performance.now();
  for (const cell of document.querySelectorAll("[data-count]")) {
    const count = Number(cell.dataset.count);
    const before = counts.get(cell.id);
    counts.set(cell.id, { count, now });
    if (!before || now <= before.now) continue;
    const rate = Math.max(0, ((count - before.count) * 1000) / (now - before.now));
    cell.querySelector(".rate").textContent = ` ${rate.toFixed(0)}/s`;
  }
}

// Screen readers announce the text only when it changes.
function say(text) {
  if (connection.textContent !== text) connection.textContent = text;
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-post]");
  if (!button) return;
  if (button.dataset.confirm && !confirm(button.dataset.confirm)) return;
  const { post, body = "{}", method = "POST" } = button.dataset;
  const response = await fetch(post, { method, body }).catch((error) => error);
  await refresh();
  if (!response.ok) say(response.message ?? (await response.text()));
});

document.documentElement.classList.add("scripted");
(async () => {
  for (;;) {
    if (!document.hidden) await refresh();
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
  }
})();
