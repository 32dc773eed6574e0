// The merge tree of a page: the bytes of a .tree file (diacut/output.hpp says how they lie), in
// which each row of leaves has been XORed with the row above it, because that compresses better.

const TREE_HEADER = 40;

function fromBase64(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function piped(bytes, through) {
  const stream = new Blob([bytes]).stream().pipeThrough(through);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const inflate = (bytes) => piped(bytes, new DecompressionStream('deflate'));
const deflate = (bytes) => piped(bytes, new CompressionStream('deflate'));

// Undoes the XOR of rows in place. After it, `bytes` are those of the .tree file.
function restoreRows(leaf, width) {
  for (let i = width; i < leaf.length; ++i) leaf[i] ^= leaf[i - width];
}

// `bytes` must begin at the start of their buffer; they become those of the .tree file.
function readTree(bytes) {
  const view = new DataView(bytes.buffer);
  const [width, height, leafCount, mergeCount, labelBytes] =
      [12, 16, 20, 24, 28].map((at) => view.getUint32(at, true));
  const pixels = width * height;
  const leaf = labelBytes === 2 ? new Uint16Array(bytes.buffer, TREE_HEADER, pixels) :
                                  new Uint32Array(bytes.buffer, TREE_HEADER, pixels);
  restoreRows(leaf, width);
  const tree = {
    bytes, width, height, leaf, leafCount,
    threshold: view.getFloat64(32, true),
    first: new Int32Array(mergeCount),
    second: new Int32Array(mergeCount),
    heights: new Float32Array(mergeCount),
  };
  let at = TREE_HEADER + pixels * labelBytes;
  for (let k = 0; k < mergeCount; ++k, at += 12) {
    tree.first[k] = view.getInt32(at, true);
    tree.second[k] = view.getInt32(at + 4, true);
    tree.heights[k] = view.getFloat32(at + 8, true);
  }
  return tree;
}

// Figures of nothing: areas, sums of coordinates, and boxes, of `size` things.
function noFigures(size) {
  const sums = () => new Float64Array(size);
  const places = (value) => new Int32Array(size).fill(value);
  return {area: sums(), x: sums(), y: sums(), left: places(2 ** 31 - 1), top: places(2 ** 31 - 1),
          right: places(-1), bottom: places(-1)};
}

// What a region's figures are made from, by leaf: areas, sums of coordinates, boxes, mean colours
// (three 16-bit numbers a leaf, 65535 for white), and sums of the inside map in steps of
// INSIDE_STEP, of which there are none if the picture has no such map.
function leafFigures(tree, {colours, inside}) {
  const figures = {...noFigures(tree.leafCount + 1), colours, inside};
  const {leaf, width, height} = tree;
  for (let y = 0; y < height; ++y) {
    const row = y * width;
    for (let x = 0; x < width;) {
      const start = x;
      const here = leaf[row + x];
      while (++x < width && leaf[row + x] === here);
      addRun(figures, here, start, x, y);
    }
  }
  figures.pixels = tree.leaf.length - figures.area[0];
  return figures;
}

// The pixels from `start` to `end`, without it, of row y.
function addRun(figures, leaf, start, end, y) {
  const length = end - start;
  figures.area[leaf] += length;
  figures.x[leaf] += length * (start + end - 1) / 2;
  figures.y[leaf] += length * y;
  figures.left[leaf] = Math.min(figures.left[leaf], start);
  figures.right[leaf] = Math.max(figures.right[leaf], end - 1);
  figures.top[leaf] = Math.min(figures.top[leaf], y);
  figures.bottom[leaf] = y;
}

// The common boundaries of leaves, in pairs of pixels: for each leaf, `other` and `length` from
// begin[leaf] to begin[leaf + 1].
function leafBorders(tree) {
  const {leaf, width, leafCount} = tree;
  const size = leafCount + 1;
  const keys = [];
  const meet = (a, b) => {
    if (a !== b && a !== 0 && b !== 0) keys.push(a * size + b, b * size + a);
  };
  for (let i = 0, x = 0; i < leaf.length; ++i) {
    if (++x < width) meet(leaf[i], leaf[i + 1]);
    else x = 0;
    if (i + width < leaf.length) meet(leaf[i], leaf[i + width]);
  }
  const sorted = Float64Array.from(keys).sort();
  const begin = new Int32Array(size + 1);
  const other = [];
  const length = [];
  for (let k = 0; k < sorted.length; ++k) {
    if (k > 0 && sorted[k] === sorted[k - 1]) {
      ++length[length.length - 1];
      continue;
    }
    ++begin[Math.floor(sorted[k] / size) + 1];
    other.push(sorted[k] % size);
    length.push(1);
  }
  for (let k = 1; k < begin.length; ++k) begin[k] += begin[k - 1];
  return {begin, other: Int32Array.from(other), length: Int32Array.from(length)};
}
