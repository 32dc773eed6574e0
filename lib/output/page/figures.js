// What is known of regions, from what is known of leaves.

const WHITE = 65535;

// The mean colour of each region, red, green and blue from 0 to 1.
function meanColours(figures, labels) {
  const sums = new Float64Array(3 * (labels.count + 1));
  const area = new Float64Array(labels.count + 1);
  for (let leaf = 1; leaf < labels.labelOf.length; ++leaf) {
    const label = labels.labelOf[leaf];
    area[label] += figures.area[leaf];
    for (let c = 0; c < 3; ++c) {
      sums[3 * label + c] += figures.area[leaf] * figures.colours[3 * leaf + c];
    }
  }
  for (let k = 0; k < sums.length; ++k) sums[k] /= WHITE * Math.max(1, area[Math.floor(k / 3)]);
  return sums;
}

// The leaves of each region: in `leaves` from begin[label] to begin[label + 1].
function leavesOf(labels) {
  const {labelOf, count} = labels;
  const begin = new Int32Array(count + 2);
  for (const label of labelOf) ++begin[label];
  let sum = 0;
  for (let label = 0; label < begin.length; ++label) begin[label] = sum += begin[label];
  const leaves = new Int32Array(labelOf.length);
  for (let leaf = labelOf.length; leaf-- > 0;) leaves[--begin[labelOf[leaf]]] = leaf;
  return {begin, leaves};
}

// The figures of one region; null for label 0.
function regionFigures(figures, working, labels, label) {
  if (label === 0) return null;
  const {begin, leaves} = labels.members ??= leavesOf(labels);
  const sum = {area: 0, x: 0, y: 0, left: Infinity, top: Infinity, right: -1, bottom: -1};
  const colour = [0, 0, 0];
  let inside = 0;
  for (const leaf of leaves.subarray(begin[label], begin[label + 1])) {
    const area = figures.area[leaf];
    sum.area += area;
    sum.x += figures.x[leaf];
    sum.y += figures.y[leaf];
    sum.left = Math.min(sum.left, figures.left[leaf]);
    sum.top = Math.min(sum.top, figures.top[leaf]);
    sum.right = Math.max(sum.right, figures.right[leaf]);
    sum.bottom = Math.max(sum.bottom, figures.bottom[leaf]);
    for (let c = 0; c < 3; ++c) colour[c] += area * figures.colours[3 * leaf + c] / WHITE;
    inside += figures.inside.length > 0 ? figures.inside[leaf] * INSIDE_STEP : 0;
  }
  const node = labels.nodes[label];
  const merge = node - working.leafCount - 1;
  const parent = working.parent[node];
  return {
    label, node,
    area: sum.area,
    share: sum.area / figures.pixels,
    box: [sum.left, sum.top, sum.right - sum.left + 1, sum.bottom - sum.top + 1],
    centroid: [sum.x / sum.area, sum.y / sum.area],
    colour: colour.map((value) => value / sum.area),
    height: merge < 0 ? 0 : working.heights[merge],
    mergesAt: parent === 0 ? null : working.heights[parent - working.leafCount - 1],
    isLeaf: merge < 0,
    inside: figures.inside.length > 0 ? inside / sum.area : null,
  };
}

function toHex(colour) {
  const byte = (value) => Math.round(255 * value).toString(16).padStart(2, '0');
  return '#' + colour.map(byte).join('');
}

// A colour for each leaf, which a region takes from its first leaf, so that regions keep their
// colours when others merge. Neighbouring numbers are a golden angle apart in hue.
function leafColour(leaf) {
  const hue = (leaf * 137.508) % 360;
  const lightness = 0.45 + 0.08 * (leaf % 4);
  const chroma = 0.65 * (1 - Math.abs(2 * lightness - 1));
  const channel = (n) => {
    const k = (n + hue / 30) % 12;
    return lightness - chroma / 2 * Math.max(-1, Math.min(k - 3, 9 - k, 1));
  };
  return [channel(0), channel(8), channel(4)];
}

// As canvases store it: red in the lowest byte.
function packed(colour, alpha) {
  const [r, g, b] = colour.map((value) => Math.round(255 * value));
  return ((Math.round(255 * alpha) << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

// The colour of each region in the picture: 0 is transparent. `fill`: picture, mean or colours.
function regionPaint(figures, labels, fill, opacity) {
  const paint = new Uint32Array(labels.count + 1);
  if (fill === 'mean') {
    const means = meanColours(figures, labels);
    for (let label = 1; label <= labels.count; ++label) {
      paint[label] = packed(Array.from(means.subarray(3 * label, 3 * label + 3)), opacity);
    }
  } else if (fill === 'colours') {
    for (let leaf = labels.labelOf.length; leaf-- > 1;) {
      paint[labels.labelOf[leaf]] = leaf;
    }
    for (let label = 1; label <= labels.count; ++label) {
      paint[label] = packed(leafColour(paint[label]), opacity);
    }
  }
  return paint;
}
