// What is known of regions, from what is known of leaves.

const WHITE = 65535;

// The figures of all regions, each in an array by label: as leafFigures() gives those of leaves, but
// sums of red, green and blue from 0 to 1, and of the inside map.
function sumFigures(figures, {labelOf, count}) {
  const sums = {...noFigures(count + 1), colours: new Float64Array(3 * (count + 1)),
                inside: new Float64Array(count + 1)};
  for (let leaf = 1; leaf < labelOf.length; ++leaf) {
    const label = labelOf[leaf];
    const area = figures.area[leaf];
    sums.area[label] += area;
    sums.x[label] += figures.x[leaf];
    sums.y[label] += figures.y[leaf];
    sums.left[label] = Math.min(sums.left[label], figures.left[leaf]);
    sums.top[label] = Math.min(sums.top[label], figures.top[leaf]);
    sums.right[label] = Math.max(sums.right[label], figures.right[leaf]);
    sums.bottom[label] = Math.max(sums.bottom[label], figures.bottom[leaf]);
    for (let c = 0; c < 3; ++c) sums.colours[3 * label + c] += area * figures.colours[3 * leaf + c] / WHITE;
    if (figures.inside.length > 0) sums.inside[label] += figures.inside[leaf] * INSIDE_STEP;
  }
  return sums;
}

// The figures of the regions of a cut, which are summed when they are first asked for.
function sumsOf(figures, labels) {
  return labels.sums ??= sumFigures(figures, labels);
}

function meanColour({area, colours}, label) {
  return Array.from(colours.subarray(3 * label, 3 * label + 3), (sum) => sum / area[label]);
}

// The figures of one region; null for label 0.
function regionFigures(figures, working, labels, label) {
  if (label === 0) return null;
  const sums = sumsOf(figures, labels);
  const area = sums.area[label];
  const [left, top] = [sums.left[label], sums.top[label]];
  const node = labels.nodes[label];
  const merge = node - working.leafCount - 1;
  const parent = working.parent[node];
  return {
    label, node, area,
    share: area / figures.pixels,
    box: [left, top, sums.right[label] - left + 1, sums.bottom[label] - top + 1],
    centroid: [sums.x[label] / area, sums.y[label] / area],
    colour: meanColour(sums, label),
    height: merge < 0 ? 0 : working.heights[merge],
    mergesAt: parent === 0 ? null : working.heights[parent - working.leafCount - 1],
    isLeaf: merge < 0,
    inside: figures.inside.length > 0 ? sums.inside[label] / area : null,
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
    const sums = sumsOf(figures, labels);
    for (let label = 1; label <= labels.count; ++label) paint[label] = packed(meanColour(sums, label), opacity);
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
