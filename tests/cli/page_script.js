// Uses every part of a page but objects.
function cuts(app) {
  input('regions-wanted', 3, 'change');
  shown.three = labels(app);
  input('regions-wanted', 120, 'change');
  shown.many = labels(app);
  input('threshold-wanted', 0.25, 'change');
  shown.quarter = labels(app);
  input('least-size', '0', 'change');
  shown.quarterAll = labels(app);
  input('least-size', '0.5%', 'change');
  shown.quarterLarge = labels(app);
  input('least-size', 'auto', 'change');
  input('regions-wanted', 1, 'change');
  input('slider', 5, 'input');
  input('slider', 5, 'change');
  shown.slider = labels(app);
  shown.sliderMessage = document.getElementById('message').textContent;
  shown.command = document.getElementById('command').textContent;
  press('ArrowRight');
  shown.arrow = labels(app);
  input('regions-wanted', 'x', 'change');
  shown.badNumber = document.getElementById('message').textContent;
  input('regions-wanted', 100000, 'change');
  const text = document.getElementById('message').textContent;
  shown.heading = /(\d+) regions?, threshold ([\d.]+)/.exec(text).slice(1);
  shown.fields = ['regions-wanted', 'threshold-wanted'].map((id) => document.getElementById(id).value);
}

// Marks two regions as one thing, then a third region as another.
function marks(app) {
  const {width} = app.model.tree;
  shown.places = [1, 2, 3].map((label) => shown.six.indexOf(label));
  const clickAt = (place) => click(app, place % width, Math.floor(place / width));
  press('k');
  clickAt(shown.places[0]);
  clickAt(shown.places[1]);
  shown.joinedMarks = labels(app);
  press('n');
  clickAt(shown.places[2]);
  shown.partedMarks = labels(app);
  shown.marks = app.model.marks.length;
  press('u');
  shown.marksUndone = labels(app);
  press('u');
  press('u');
  document.querySelector('input[name="tool"][value="select"]').click();
}

function changes(app) {
  input('regions-wanted', 6, 'change');
  shown.six = labels(app);
  click(app, 80, 60);
  shown.selected = app.model.selected;
  shown.figures = figures();
  document.querySelector('input[name="tool"][value="merge"]').click();
  click(app, 80, 60);
  shown.merged = labels(app);
  document.querySelector('input[name="tool"][value="split"]').click();
  click(app, 80, 60);
  shown.split = labels(app);
  press('z', {ctrlKey: true});
  shown.undone = labels(app);
  document.getElementById('undo').click();
  shown.undoneTwice = labels(app);
  press('r');
  shown.redone = labels(app);
  press('u');
  click(app, 80, 60, {shiftKey: true});
  shown.shiftClick = labels(app);
  press('u');
}

// What the canvases show at the middle of some pixels of the picture.
function drawing(app) {
  press('o');
  press('f');
  app.draw();
  const {view} = app;
  const context = document.getElementById('regions').getContext('2d');
  shown.drawn = [[10, 10], [12, 40], [80, 60], [150, 100]].map(([x, y]) => {
    const at = [view.x + (x + 0.5) * view.scale, view.y + (y + 0.5) * view.scale].map(Math.floor);
    return {x, y, colour: Array.from(context.getImageData(...at, 1, 1).data)};
  });
  const before = view.scale;
  press('+');
  shown.grown = view.scale / before;
  press('0');
  shown.fitted = view.scale / before;
  press('?');
  shown.help = document.getElementById('help').open;
  document.getElementById('help').close();
}

// The bytes that a button saves.
async function saved(id) {
  const made = new Promise((resolve) => {
    URL.createObjectURL = (blob) => {
      resolve(blob);
      return 'blob:none';
    };
  });
  HTMLAnchorElement.prototype.click = () => {};
  document.getElementById(id).click();
  return Array.from(new Uint8Array(await (await made).arrayBuffer()));
}

async function use(app) {
  shown.first = labels(app);
  shown.vectors = document.querySelectorAll('#vector-grid button').length;
  shown.objects = isSeen('objects');
  cuts(app);
  changes(app);
  marks(app);
  drawing(app);
  app.select(0);
  for (const kind of ['png', 'flat', 'cutout', 'coco', 'geojson', 'svg', 'tree']) {
    shown[kind] = await saved(`save-${kind}`);
  }
}

usePage(use);
