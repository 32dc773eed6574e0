// What the page shows: a cut of the tree, changes of it by hand, and the way back.

const MOST_UNDO_STEPS = 200;

class Model {
  // `leaves`: {colours, inside} as leafFigures() takes them. `start`: {mode: 'regions' or
  // 'threshold', regions, threshold, size, objects, inside}.
  constructor(tree, leaves, start) {
    this.tree = tree;
    this.figures = leafFigures(tree, leaves);
    this.control = start;
    this.selected = 0;
    this.past = [];
    this.future = [];
    this.marks = [];  // Those set by hand: {x, y, leaf, thing}, things from 1 on.
    this.borders = () => this.knownBorders ??= leafBorders(tree);
    this.cut();
  }

  // Cuts anew as the control says; changes by hand are gone.
  cut() {
    const {control} = this;
    const regions = control.mode === 'regions' ? control.regions : 0;
    const least = leastPixels(control.size, regions, this.figures.pixels);
    if (this.least !== least) {
      this.working = withoutSmallRegions(this.tree, this.figures, this.borders, least);
      this.least = least;
      this.selected = 0;
    }
    this.marks = [];
    this.show(madeMerges(this.working, mergesOfCut(this.working, control)), false);
  }

  // `made`: which merges are made; `byHand`: whether they are another set than the control's.
  show(made, byHand) {
    const node = this.selected === 0 ? 0 : this.labels.nodes[this.selected];
    this.made = made;
    this.byHand = byHand;
    const regions = labelsOf(this.working, made);
    this.regionCount = regions.count;
    this.labels = this.control.objects ?
        objectsOf(regions, this.figures, this.control.inside, this.least) : regions;
    this.selected = node === 0 ? 0 : this.labelOfNode(node);
  }

  // The height of the last merge that is made: the threshold that the regions stand for.
  get height() {
    const last = this.made.lastIndexOf(1);
    return last < 0 ? 0 : this.working.heights[last];
  }

  get state() {
    return {control: this.control, made: this.byHand ? this.made : null, marks: this.marks};
  }

  // To be called before a change that can be undone.
  remember() {
    this.past.push(this.state);
    if (this.past.length > MOST_UNDO_STEPS) this.past.shift();
    this.future = [];
  }

  restore(state) {
    this.control = state.control;
    this.cut();
    if (state.made) this.show(state.made, true);
    this.marks = state.marks;
  }

  // A step back, or forward again. False: there is none.
  back(isRedo) {
    const [from, to] = isRedo ? [this.future, this.past] : [this.past, this.future];
    if (from.length === 0) return false;
    to.push(this.state);
    this.restore(from.pop());
    return true;
  }

  // Shows merges that were changed by hand, and selects the region of a node.
  change(made, node) {
    this.remember();
    this.selected = 0;
    this.show(made, true);
    this.selected = this.labelOfNode(node);
  }

  // Merges the region with the one that it shares its node's parent with. False: it has none.
  merge(label) {
    const node = this.labels.nodes[label];
    const parent = this.working.parent[node];
    if (label === 0 || parent === 0) return false;
    const made = this.made.slice();
    makeBelow(this.working, made, parent);
    this.change(made, parent);
    return true;
  }

  // Undoes the merge that made the region. False: it is a leaf.
  split(label) {
    const merge = this.labels.nodes[label] - this.working.leafCount - 1;
    if (label === 0 || merge < 0) return false;
    const made = this.made.slice();
    made[merge] = 0;
    this.change(made, this.working.first[merge]);
    return true;
  }

  // Sets a mark at a pixel. Returns how many things still lie in several regions; null: the place
  // has no data, or its leaf has the mark of another thing.
  mark(place, thing) {
    const leaf = this.leafAt(place);
    const marks = [...this.marks, {...place, leaf, thing}];
    const marked = leaf === 0 ? null : markedMerges(this.working, this.made, marks);
    if (!marked) return null;
    this.change(marked.made, 0);
    this.marks = marks;
    return marked.parted;
  }

  // 0 if the node is not shown.
  labelOfNode(node) {
    return Math.max(0, this.labels.nodes.indexOf(node));
  }

  leafAt({x, y}) {
    return this.tree.leaf[y * this.tree.width + x];
  }

  labelAt(place) {
    return this.labels.labelOf[this.leafAt(place)];
  }

  figuresOf(label) {
    return regionFigures(this.figures, this.working, this.labels, label);
  }

  // The label of each pixel.
  labelMap() {
    const {leaf} = this.tree;
    const {labelOf} = this.labels;
    const map = new Int32Array(leaf.length);
    for (let i = 0; i < map.length; ++i) map[i] = labelOf[leaf[i]];
    return map;
  }
}

// The numbers of regions that the slider stops at: every one at first, then in steps of 5%.
function sliderStops(most) {
  const stops = [1];
  while (stops[stops.length - 1] < most) {
    const last = stops[stops.length - 1];
    stops.push(Math.min(most, Math.max(last + 1, Math.round(last * 1.05))));
  }
  return stops;
}

// What gives the labels that are shown. A tree does not hold the inside of objects.
function commandOf(control, name) {
  if (!control.objects) return recutCommand(control, name);
  if (control.mode === 'regions') return 'none, segment finds objects at a threshold';
  return `the run's own, with --threshold ${control.threshold} --min-size ${control.text} ` +
      `--set region.inside=${control.inside}`;
}

function recutCommand(control, name) {
  const cut = control.mode === 'regions' ? `--regions ${control.regions}` :
                                           `--threshold ${control.threshold}`;
  const size = control.text === 'auto' ? '' : ` --min-size ${control.text}`;
  const tree = `${name}.tree`;
  const quoted = /^[\w.-]+$/.test(tree) ? tree : `'${tree.replaceAll("'", "'\\''")}'`;
  return `segment recut ${quoted} ${cut}${size} -o labels.png`;
}
