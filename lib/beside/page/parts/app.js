// The page's elements, what they do, and what they show.

const $ = (id) => document.getElementById(id);
const FILLS = ['picture', 'mean', 'colours'];
const THRESHOLD_STEPS = 200;

function checked(name) {
  return document.querySelector(`input[name="${name}"]:checked`).value;
}

function check(name, value) {
  document.querySelector(`input[name="${name}"][value="${value}"]`).checked = true;
}

function counted(count, word) {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

class App {
  constructor(about, tree, leaves, picture) {
    this.about = about;
    this.picture = picture;
    this.background = picture;
    const size = {...parseLeastSize(about.start.size)};
    this.model = new Model(tree, leaves, {...about.start, size, text: about.start.size});
    this.view = new View($('picture'), $('regions'), tree.width, tree.height);
    this.stops = sliderStops(Math.max(1, tree.leafCount));
    this.frame = 0;
    this.isPictureStale = true;
    this.isSliding = false;
    this.thing = 1;
  }

  start() {
    connectControls(this);
    connectStage(this);
    connectKeys(this);
    showVectors(this);
    new ResizeObserver(() => {
      this.view.resize();
      this.isPictureStale = true;
      this.draw();
    }).observe($('stage'));
    this.view.resize();
    this.showAll();
    this.draw();
  }

  redraw(withPicture = false) {
    this.isPictureStale ||= withPicture;
    this.frame ||= requestAnimationFrame(() => this.draw());
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const {model, view} = this;
    if (this.isPictureStale) view.drawPicture(this.background);
    this.isPictureStale = false;
    const paint = regionPaint(model.figures, model.labels, checked('fill'), $('opacity').value / 100);
    view.drawRegions(model.tree.leaf, model.labels.labelOf, paint, $('outlines').checked, model.selected);
    view.drawMarks(model.marks);
  }

  // Shows the present cut everywhere.
  showAll() {
    const {model, stops} = this;
    const {control, labels} = model;
    check('mode', control.mode);
    const slider = $('slider');
    const byRegions = control.mode === 'regions';
    slider.max = byRegions ? stops.length - 1 : THRESHOLD_STEPS;
    slider.value = byRegions ? stops.findIndex((stop) => stop >= Math.min(control.regions, stops.at(-1))) :
                               (1 - control.threshold) * THRESHOLD_STEPS;
    const threshold = byRegions || model.byHand ? Number(model.height.toFixed(4)) : control.threshold;
    $('regions-wanted').value = model.regionCount;
    $('threshold-wanted').value = threshold;
    $('least-size').value = control.text;
    $('objects-row').hidden = model.figures.inside.length === 0;
    $('objects').checked = control.objects;
    $('inside-wanted').value = control.inside;
    $('undo').disabled = model.past.length === 0;
    $('redo').disabled = model.future.length === 0;
    const regions = counted(model.regionCount, 'region');
    const found = control.objects ? `${counted(labels.count, 'object')} of ${regions}` : regions;
    const text = `${found}, threshold ${threshold}`;
    this.say(model.byHand ? `${found}, changed by hand` : text);
    slider.setAttribute('aria-valuetext', text);
    const zero = control.objects ? 'background' : 'no data';
    $('png-hint').textContent = labels.count <= MOST_GREY_REGIONS ?
        `PNG: 16-bit grey, the labels as segment writes them; 0 is ${zero}.` :
        `PNG: 8-bit colours, label = red + 256 green + 65536 blue; 0 is ${zero}.`;
    $('command').textContent = model.byHand ? 'none, regions were changed by hand' :
                                              commandOf(control, this.about.stem);
    showRegion(this);
    this.redraw();
  }

  say(text) {
    $('message').textContent = text;
  }

  // Cuts at changed settings: {mode, regions, threshold, size, text}. A drag of the slider counts as
  // one step of Undo.
  set(change, isSliding = false) {
    if (!(isSliding && this.isSliding)) this.model.remember();
    this.isSliding = isSliding;
    this.model.control = {...this.model.control, ...change};
    this.model.cut();
    this.showAll();
  }

  setSlider(position) {
    if (this.model.control.mode === 'regions') {
      this.set({regions: this.stops[position]}, true);
    } else {
      this.set({threshold: (THRESHOLD_STEPS - position) / THRESHOLD_STEPS}, true);
    }
  }

  stepSlider(step) {
    const slider = $('slider');
    const position = Math.max(0, Math.min(Number(slider.max), Number(slider.value) + step));
    if (position === Number(slider.value)) return;
    this.setSlider(position);
    this.isSliding = false;
  }

  setMode(mode) {
    const {model} = this;
    this.set(mode === 'regions' ? {mode, regions: Math.max(1, model.regionCount)} :
                                  {mode, threshold: Math.min(1, model.height)});
  }

  select(label) {
    this.model.selected = label;
    showRegion(this);
    this.redraw();
  }

  merge(label) {
    if (label === 0) return;
    if (this.model.merge(label)) {
      this.showAll();
      if (this.model.selected === 0) this.say('Merged, the region is no object. Undo brings it back.');
    } else this.say('This region has nothing to merge with: it is the whole picture, or a piece apart.');
  }

  split(label) {
    if (label === 0) return;
    if (this.model.split(label)) {
      this.showAll();
      return;
    }
    const leaf = 'This region is a leaf of the tree and cannot be split';
    this.say(this.model.least > 1 ? `${leaf} at a least size of ${this.model.least} pixels.` : `${leaf}.`);
  }

  mark(place) {
    if (!place) return;
    const parted = this.model.mark(place, this.thing);
    if (parted === null) {
      this.say(this.model.leafAt(place) === 0 ?
          'There is nothing to mark here.' :
          'This leaf of the tree has the mark of another thing and cannot be split.');
      return;
    }
    this.showAll();
    if (parted > 0) {
      this.say(`${counted(parted, 'thing')} in several regions: ` +
               'joined, they would hold the mark of another thing.');
    }
  }

  nextThing() {
    this.thing += 1;
    $('thing').value = this.thing;
  }

  back(isRedo) {
    if (this.model.back(isRedo)) this.showAll();
  }
}

function showRegion({model}) {
  const figures = model.figuresOf(model.selected);
  $('merge').disabled = !figures || figures.mergesAt === null;
  $('split').disabled = !figures || figures.isLeaf;
  const rows = [];
  if (figures) {
    const number = (value) => value.toFixed(1);
    const hex = toHex(figures.colour);
    rows.push(
        ['Label', figures.label],
        ['Area', `${figures.area} pixels, ${(100 * figures.share).toPrecision(3)}%`],
        ['Box', `${figures.box[2]} x ${figures.box[3]} at (${figures.box[0]}, ${figures.box[1]})`],
        ['Centroid', `(${figures.centroid.map(number).join(', ')})`],
        ['Mean colour', `<span class="swatch" style="background: ${hex}"></span>${hex}`],
        ...(figures.inside === null ? [] : [['Inside', figures.inside.toFixed(3)]]),
        ['Height', figures.isLeaf ? '0 (a leaf)' : figures.height.toFixed(4)],
        ['Merges at', figures.mergesAt === null ? 'never' : figures.mergesAt.toFixed(4)]);
  } else {
    rows.push(['None', 'select one in the picture']);
  }
  $('figures').innerHTML = rows.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join('');
}

function showVectors(app) {
  const {eigenvectors} = app.about;
  $('vectors').hidden = eigenvectors.length === 0;
  const grid = $('vector-grid');
  grid.innerHTML = eigenvectors.map(({number, value}) =>
      '<button type="button" title="Show it in place of the picture" aria-pressed="false" ' +
      `aria-label="Eigenvector ${number}, eigenvalue ${value.toPrecision(3)}">` +
      `<img alt="">${number}: ${value.toPrecision(3)}</button>`).join('');
  for (const [k, button] of [...grid.children].entries()) {
    const image = button.firstChild;
    image.src = eigenvectors[k].picture;
    button.addEventListener('click', () => {
      app.background = app.background === image ? app.picture : image;
      for (const other of grid.children) {
        other.setAttribute('aria-pressed', String(app.background === other.firstChild));
      }
      app.redraw(true);
    });
  }
}
