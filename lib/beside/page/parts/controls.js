// What the person does: the panel's controls, the keyboard, and the pointer in the picture.

function connectControls(app) {
  const on = (id, event, action) => $(id).addEventListener(event, action);
  const onChoice = (name, action) => document.getElementsByName(name).forEach(
      (input) => input.addEventListener('change', () => action(input.value)));
  on('slider', 'input', () => app.setSlider(Number($('slider').value)));
  on('slider', 'change', () => app.isSliding = false);
  onChoice('mode', (mode) => app.setMode(mode));
  for (const id of Object.keys(FIELDS)) on(id, 'change', () => setField(app, id));
  on('objects', 'change', () => app.set({objects: $('objects').checked}));
  onChoice('fill', () => app.redraw());
  on('outlines', 'change', () => app.redraw());
  on('opacity', 'input', () => app.redraw());
  on('undo', 'click', () => app.back(false));
  on('redo', 'click', () => app.back(true));
  on('merge', 'click', () => app.merge(app.model.selected));
  on('split', 'click', () => app.split(app.model.selected));
  onChoice('tool', (tool) => $('marks-row').hidden = tool !== 'mark');
  on('next-thing', 'click', () => app.nextThing());
  on('zoom-in', 'click', () => zoom(app, 1.5));
  on('zoom-out', 'click', () => zoom(app, 1 / 1.5));
  on('zoom-fit', 'click', () => fit(app));
  on('help-button', 'click', () => $('help').showModal());
  for (const kind of ['png', 'flat', 'cutout', 'coco', 'geojson', 'svg', 'tree']) {
    on(`save-${kind}`, 'click', () => save(app, kind));
  }
}

// What `change` makes of the number that a text is; null if it is none or not right. A number field
// gives '' for a text that is no number.
const numberField = (isRight, change) => (text) =>
    text !== '' && isRight(Number(text)) ? change(Number(text)) : null;

const isShare = (number) => number >= 0 && number <= 1;

// What the text of each field sets, or null; and what the text should be.
const FIELDS = {
  'regions-wanted': [
    numberField((number) => Number.isInteger(number) && number >= 1,
                (regions) => ({mode: 'regions', regions})),
    'number of regions: it is a whole number from 1 on'],
  'threshold-wanted': [
    numberField(isShare, (threshold) => ({mode: 'threshold', threshold})),
    'threshold: it is a number from 0 to 1'],
  'inside-wanted': [
    numberField(isShare, (inside) => ({objects: true, inside})),
    'mean of the inside map: it is a number from 0 to 1'],
  'least-size': [
    (text) => {
      const size = parseLeastSize(text);
      return size && {size, text};
    },
    'least size: it is a number of pixels, a share as 0.2%, or auto'],
};

function setField(app, id) {
  const [read, what] = FIELDS[id];
  const text = $(id).value.trim();
  const change = read(text);
  if (change) {
    app.set(change);
  } else {
    app.showAll();
    app.say(`${text === '' ? 'What was typed' : `'${text}'`} is no ${what}.`);
  }
}

function zoom(app, factor, x, y) {
  app.view.zoomAt(factor, x, y);
  app.redraw(true);
}

function fit(app) {
  app.view.fit();
  app.redraw(true);
}

const KEYS = {
  'ArrowLeft': (app) => app.stepSlider(-1),
  'ArrowRight': (app) => app.stepSlider(1),
  '+': (app) => zoom(app, 1.5),
  '=': (app) => zoom(app, 1.5),
  '-': (app) => zoom(app, 1 / 1.5),
  '0': fit,
  'o': () => $('outlines').click(),
  'f': (app) => {
    check('fill', FILLS[(FILLS.indexOf(checked('fill')) + 1) % FILLS.length]);
    app.redraw();
  },
  '[': (app) => selectNext(app, -1),
  ']': (app) => selectNext(app, 1),
  'm': (app) => app.merge(app.model.selected),
  's': (app) => app.split(app.model.selected),
  'k': () => document.querySelector('input[name="tool"][value="mark"]').click(),
  'n': (app) => app.nextThing(),
  'u': (app) => app.back(false),
  'r': (app) => app.back(true),
  '?': () => $('help').showModal(),
};

function selectNext(app, step) {
  const {model} = app;
  const count = model.labels.count;
  if (count === 0) return;
  const next = model.selected === 0 ? (step > 0 ? 1 : count) : model.selected + step;
  app.select((next - 1 + count) % count + 1);
}

function connectKeys(app) {
  document.addEventListener('keydown', (event) => {
    if ($('help').open) return;
    if (event.ctrlKey || event.metaKey) {
      const key = event.key.toLowerCase();
      if (event.target.matches('input[type="text"], input[type="number"]')) return;
      if (key !== 'z' && key !== 'y') return;
      event.preventDefault();
      app.back(key === 'y' || event.shiftKey);
      return;
    }
    if (event.altKey || event.target.matches('input[type="text"], input[type="number"]')) return;
    // Sliders and radio buttons have arrow keys of their own.
    if (event.key.startsWith('Arrow') && event.target.matches('input')) return;
    const action = KEYS[event.key];
    if (!action) return;
    event.preventDefault();
    action(app);
  });
}

const CLICK_REACH = 6;  // A pointer that moves farther drags.

// The stage gets what the pointer does outside of it, too.
function capture(pointerId) {
  try {
    $('stage').setPointerCapture(pointerId);
  } catch {
    // The pointer is gone already.
  }
}

// One pointer drags or clicks, two zoom.
class Gestures {
  constructor(app) {
    this.app = app;
    this.pointers = new Map();
    this.hasMoved = false;
  }

  down(event) {
    if (event.target.closest('button')) return;
    if (this.pointers.size === 0) {
      this.hasMoved = false;
      this.origin = [event.clientX, event.clientY];
    }
    capture(event.pointerId);
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    if (this.pointers.size > 1) this.hasMoved = true;
  }

  move(event) {
    const old = this.pointers.get(event.pointerId);
    if (!old) return;
    const [x, y] = [event.clientX, event.clientY];
    if (Math.hypot(x - this.origin[0], y - this.origin[1]) > CLICK_REACH) this.hasMoved = true;
    if (!this.hasMoved) return;
    const {view} = this.app;
    if (this.pointers.size === 1) {
      view.pan((x - old[0]) * view.ratio, (y - old[1]) * view.ratio);
    } else {
      this.pinch(event.pointerId, old, [x, y]);
    }
    this.pointers.set(event.pointerId, [x, y]);
    this.app.redraw(true);
  }

  pinch(moving, [oldX, oldY], [x, y]) {
    const {view} = this.app;
    const [fixedX, fixedY] = [...this.pointers].find(([id]) => id !== moving)[1];
    const before = Math.hypot(oldX - fixedX, oldY - fixedY);
    const after = Math.hypot(x - fixedX, y - fixedY);
    view.zoomAt(after / Math.max(1, before), ...view.placeAt((x + fixedX) / 2, (y + fixedY) / 2));
    view.pan((x - oldX) / 2 * view.ratio, (y - oldY) / 2 * view.ratio);
  }

  up(event) {
    if (!this.pointers.delete(event.pointerId) || this.hasMoved) return;
    this.click(event);
  }

  click(event) {
    const {app} = this;
    const place = app.view.pixelAt(event.clientX, event.clientY);
    const label = place ? app.model.labelAt(place) : 0;
    const tool = event.shiftKey ? 'merge' : event.altKey ? 'split' : checked('tool');
    if (tool === 'merge') app.merge(label);
    else if (tool === 'split') app.split(label);
    else if (tool === 'mark') app.mark(place);
    else app.select(label);
  }
}

function connectStage(app) {
  const stage = $('stage');
  const gestures = new Gestures(app);
  stage.addEventListener('pointerdown', (event) => gestures.down(event));
  stage.addEventListener('pointermove', (event) => gestures.move(event));
  stage.addEventListener('pointerup', (event) => gestures.up(event));
  stage.addEventListener('pointercancel', (event) => gestures.pointers.delete(event.pointerId));
  stage.addEventListener('wheel', (event) => {
    event.preventDefault();
    zoom(app, Math.exp(-event.deltaY / 400), ...app.view.placeAt(event.clientX, event.clientY));
  }, {passive: false});
}
