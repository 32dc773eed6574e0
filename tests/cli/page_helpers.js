// What the scripts share that use a page as a person would. Each puts what it sees into <pre
// id="result"> as JSON. The test adds them to a page, and has Chromium print the document.
const shown = {};
let isDone = false;

// Chromium prints the document when its virtual time has passed, which runs ahead while the page
// waits for nothing but another thread. A timer keeps it from running ahead.
function keepTime() {
  if (!isDone) setTimeout(keepTime, 1);
}
keepTime();

function input(id, value, event) {
  document.getElementById(id).value = value;
  document.getElementById(id).dispatchEvent(new Event(event, {bubbles: true}));
}

function press(key, options = {}) {
  document.getElementById('stage').dispatchEvent(
      new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true, ...options}));
}

function click(app, x, y, options = {}) {
  const {view} = app;
  const box = document.getElementById('regions').getBoundingClientRect();
  const place = {
    clientX: box.left + (view.x + (x + 0.5) * view.scale) / view.ratio,
    clientY: box.top + (view.y + (y + 0.5) * view.scale) / view.ratio,
    pointerId: 7, bubbles: true, ...options,
  };
  for (const type of ['pointerdown', 'pointerup']) {
    document.getElementById('stage').dispatchEvent(new PointerEvent(type, place));
  }
}

function figures() {
  const terms = [...document.querySelectorAll('#figures dt')];
  return Object.fromEntries(terms.map((term) => [term.textContent, term.nextSibling.textContent]));
}

const isSeen = (id) => document.getElementById(id).getClientRects().length > 0;

const labels = (app) => Array.from(app.model.labelMap());

function tell(result) {
  const place = document.createElement('pre');
  place.id = 'result';
  place.textContent = JSON.stringify(result);
  document.body.replaceChildren(place);
  isDone = true;
}

// Uses the page, once everything is read.
function usePage(use) {
  window.diacut.then(use).then(() => tell(shown), (error) => tell({error: String(error.stack)}));
}
