// Cuts of the merge tree, equal to those of `segment recut`: lib/vision/region/cuts/leaf_cut.cpp has the same
// steps.

// "auto", a number of pixels or a share as "0.2%"; null for another text.
function parseLeastSize(text) {
  text = text.trim();
  if (text === 'auto') return {unit: 'auto', value: 0};
  const share = /^(\d+\.?\d*|\.\d+)%$/.exec(text);
  if (share && Number(share[1]) <= 100) return {unit: 'share', value: Number(share[1]) / 100};
  if (/^\d{1,9}$/.test(text)) return {unit: 'pixels', value: Number(text)};
  return null;
}

// `regions`: how many are wanted; 0: the cut is at a threshold.
function leastPixels(size, regions, pixels) {
  if (size.unit === 'pixels') return size.value;
  if (size.unit === 'share') return Math.ceil(size.value * pixels);
  return Math.ceil((regions === 0 ? 0.001 : Math.min(0.0003, 0.25 / regions)) * pixels);
}

// 0, 1, ... up to `count`, without it.
function numbersTo(count) {
  const numbers = new Int32Array(count);
  for (let k = 0; k < count; ++k) numbers[k] = k;
  return numbers;
}

// Disjoint sets of numbers, each named by its least.
class DisjointSets {
  constructor(count) {
    this.parent = numbersTo(count);
  }
  find(member) {
    const parent = this.parent;
    while (parent[member] !== member) member = parent[member] = parent[parent[member]];
    return member;
  }
  unite(a, b) {
    a = this.find(a);
    b = this.find(b);
    return this.parent[Math.max(a, b)] = Math.min(a, b);
  }
}

// Joins each node of less than `least` pixels with the node that it merges with; of several
// groups there, with the one that it shares the longest boundary with.
class Absorption {
  constructor(tree, figures, borders, least) {
    const nodes = tree.leafCount + 1 + tree.first.length;
    this.tree = tree;
    this.borders = borders;
    this.least = least;
    this.area = new Float64Array(nodes);
    this.firstLeaf = new Int32Array(nodes);
    this.lastLeaf = new Int32Array(nodes);
    this.nextLeaf = new Int32Array(tree.leafCount + 1);
    this.groups = new DisjointSets(tree.leafCount + 1);
    this.joined = new DisjointSets(tree.leafCount + 1);
    this.node = numbersTo(tree.leafCount + 1);
    for (let leaf = 1; leaf <= tree.leafCount; ++leaf) {
      this.area[leaf] = figures.area[leaf];
      this.firstLeaf[leaf] = this.lastLeaf[leaf] = leaf;
    }
    for (let k = 0; k < tree.first.length; ++k) this.add(k);
  }

  isLarge(node) {
    return this.area[node] >= this.least;
  }

  add(k) {
    const {first: firsts, second: seconds, leafCount} = this.tree;
    const [first, second] = [firsts[k], seconds[k]];
    const node = leafCount + 1 + k;
    const [small, other] = this.isLarge(first) ? [second, first] : [first, second];
    if (!this.isLarge(small)) {
      const near = this.isLarge(other) ? this.longestBorder(small, other) : 0;
      this.groups.unite(this.firstLeaf[small], near || this.firstLeaf[other]);
    }
    this.area[node] = this.area[first] + this.area[second];
    this.firstLeaf[node] = this.firstLeaf[first];
    this.nextLeaf[this.lastLeaf[first]] = this.firstLeaf[second];
    this.lastLeaf[node] = this.lastLeaf[second];
    this.node[this.joined.unite(this.firstLeaf[first], this.firstLeaf[second])] = node;
  }

  // Of the groups of node `other`, the one that shares the longest boundary with node `small`.
  longestBorder(small, other) {
    const {begin, other: neighbour, length} = this.borders;
    const shares = new Map();
    for (let leaf = this.firstLeaf[small]; leaf !== 0;
         leaf = leaf === this.lastLeaf[small] ? 0 : this.nextLeaf[leaf]) {
      for (let b = begin[leaf]; b < begin[leaf + 1]; ++b) {
        if (this.node[this.joined.find(neighbour[b])] !== other) continue;
        const group = this.groups.find(neighbour[b]);
        shares.set(group, (shares.get(group) || 0) + length[b]);
      }
    }
    let best = 0;
    let longest = 0;
    for (const [group, share] of shares) {
      if (share < longest || (share === longest && group > best)) continue;
      longest = share;
      best = group;
    }
    return best;
  }

  // The new leaf that each old leaf is part of; index 0: 0.
  newLeaves() {
    const number = new Int32Array(this.tree.leafCount + 1);
    let count = 0;
    for (let leaf = 1; leaf < number.length; ++leaf) {
      const group = this.groups.find(leaf);
      number[leaf] = group === leaf ? ++count : number[group];
    }
    return {number, count};
  }

  result() {
    const {first: firsts, second: seconds, heights: old, leafCount} = this.tree;
    const {number, count} = this.newLeaves();
    const made = new Int32Array(this.area.length);
    made.set(number);
    const [first, second, heights] = [[], [], []];
    for (let k = 0; k < firsts.length; ++k) {
      const [a, b] = [firsts[k], seconds[k]];
      if (this.isLarge(a) && this.isLarge(b)) {
        first.push(Math.min(made[a], made[b]));
        second.push(Math.max(made[a], made[b]));
        heights.push(old[k]);
        made[leafCount + 1 + k] = count + first.length;
      } else {
        made[leafCount + 1 + k] = made[this.isLarge(b) ? b : a];
      }
    }
    return workingTree(number, count, first, second, heights);
  }
}

// A tree to cut: leafOf has the leaf of it that each leaf of the page's tree is part of.
function workingTree(leafOf, leafCount, first, second, heights) {
  const parent = new Int32Array(leafCount + 1 + first.length);
  for (let k = 0; k < first.length; ++k) parent[first[k]] = parent[second[k]] = leafCount + 1 + k;
  return {leafOf, leafCount, first, second, heights, parent};
}

function withoutSmallRegions(tree, figures, borders, least) {
  if (least > 1) return new Absorption(tree, figures, borders(), least).result();
  return workingTree(numbersTo(tree.leafCount + 1), tree.leafCount, tree.first, tree.second, tree.heights);
}

// How many merges a cut makes: of at most `threshold`, or as many as leave `regions` regions.
function mergesOfCut(working, control) {
  const merges = working.first.length;
  if (control.mode === 'regions') {
    return Math.max(0, Math.min(merges, working.leafCount - control.regions));
  }
  let count = 0;
  while (count < merges && working.heights[count] <= control.threshold) ++count;
  return count;
}

// Which merges are made, one byte each: with a merge, those below it are made.
function madeMerges(working, count) {
  return new Uint8Array(working.first.length).fill(1, 0, count);
}

// Regions are numbered in scan order, as their first leaves are. labelOf: by leaf of the page's
// tree; nodes: the node of each region.
function labelsOf(working, made) {
  const {leafOf, leafCount, first, second} = working;
  const top = numbersTo(leafCount + 1 + first.length);
  for (let k = first.length; k-- > 0;) {
    if (made[k]) top[first[k]] = top[second[k]] = top[leafCount + 1 + k];
  }
  const labelOf = new Int32Array(leafOf.length);
  const label = new Int32Array(top.length);
  const nodes = [0];
  for (let leaf = 1; leaf < leafOf.length; ++leaf) {
    const node = top[leafOf[leaf]];
    if (label[node] === 0) {
      label[node] = nodes.length;
      nodes.push(node);
    }
    labelOf[leaf] = label[node];
  }
  return {labelOf, nodes, count: nodes.length - 1};
}

const INSIDE_STEP = 2 ** -24;

// Of regions those that are objects: of at least `least` pixels, over which the mean of the inside
// map is above `inside`. The others are background, label 0.
function objectsOf(regions, figures, inside, least) {
  const sums = sumsOf(figures, regions);
  const number = new Int32Array(regions.count + 1);
  const nodes = [0];
  for (let region = 1; region <= regions.count; ++region) {
    const area = sums.area[region];
    if (area < least || !(sums.inside[region] > inside * area)) continue;
    number[region] = nodes.length;
    nodes.push(regions.nodes[region]);
  }
  return {labelOf: regions.labelOf.map((region) => number[region]), nodes, count: nodes.length - 1};
}

// The merges that marks ask for, beside those made: {made, parted}. A mark is {leaf, thing}. Nodes
// with marks of different things are parted, and of those with marks of one thing alone the least
// that hold them all are joined. parted: how many things still lie in several regions. null: the
// marks of two things lie in one leaf.
function markedMerges(working, made, marks) {
  const {leafOf, leafCount, first, second} = working;
  const MIXED = -1;
  const things = new Int32Array(leafCount + 1 + first.length);
  for (const {leaf, thing} of marks) {
    const node = leafOf[leaf];
    if (things[node] !== 0 && things[node] !== thing) return null;
    things[node] = thing;
  }
  made = made.slice();
  const joined = [];
  for (let k = 0; k < first.length; ++k) {
    const [a, b] = [things[first[k]], things[second[k]]];
    const node = leafCount + 1 + k;
    things[node] = a === 0 || a === b ? b : b === 0 ? a : MIXED;
    if (things[node] === MIXED) made[k] = 0;
    else if (a !== 0 && a === b) joined.push(node);
  }
  for (const node of joined) makeBelow(working, made, node);
  const {labelOf} = labelsOf(working, made);
  const regions = new Map();
  for (const {leaf, thing} of marks) {
    regions.set(thing, (regions.get(thing) ?? new Set()).add(labelOf[leaf]));
  }
  return {made, parted: [...regions.values()].filter((found) => found.size > 1).length};
}

// Makes the merge `node` and all below it.
function makeBelow(working, made, node) {
  const pending = [node];
  while (pending.length > 0) {
    const k = pending.pop() - working.leafCount - 1;
    if (k < 0 || made[k]) continue;
    made[k] = 1;
    pending.push(working.first[k], working.second[k]);
  }
}
