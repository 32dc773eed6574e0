// The picture in the regions' mean colours, and a region cut out of it, as PNG.

// `paint`: changes the picture's pixels, red, green, blue and alpha of each.
function pngOf({picture, model: {tree: {width, height}}}, paint) {
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext('2d');
  context.drawImage(picture, 0, 0, width, height);
  const pixels = context.getImageData(0, 0, width, height);
  paint(pixels.data);
  context.putImageData(pixels, 0, 0);
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
}

// What belongs to no region has its mean colour too; what has no data stays.
function flatPng(app, labels) {
  const {model} = app;
  const colours = regionPaint(model.figures, model.labels, 'mean', 1);
  const isBackground = (i) => labels[i] === 0 && model.tree.leaf[i] !== 0;
  return pngOf(app, (bytes) => {
    const sum = [0, 0, 0];
    let count = 0;
    for (let i = 0; i < labels.length; ++i) {
      if (!isBackground(i)) continue;
      ++count;
      for (let c = 0; c < 3; ++c) sum[c] += bytes[4 * i + c] / 255;
    }
    colours[0] = packed(sum.map((value) => value / count), 1);
    const pixels = new Uint32Array(bytes.buffer);
    for (let i = 0; i < pixels.length; ++i) {
      if (labels[i] !== 0 || isBackground(i)) pixels[i] = colours[labels[i]];
    }
  });
}

// The largest region that does not surround the others, as segment --cutout finds it.
function foreground({tree: {width, height}, figures, labels}) {
  const {left, top, right, bottom, area} = sumsOf(figures, labels);
  const sides = (label) => Math.max(2, (left[label] === 0) + (top[label] === 0) +
      (right[label] === width - 1) + (bottom[label] === height - 1));
  let best = 0;
  for (let label = 1; label <= labels.count; ++label) {
    const fewer = best === 0 ? 1 : sides(best) - sides(label);
    if (fewer > 0 || (fewer === 0 && area[label] > area[best])) best = label;
  }
  return best;
}

// Tells of each label whether it is the region's, or that of a region within its holes.
function withEnclosed(labels, width, height, label, count) {
  const outside = new Uint8Array(labels.length);
  const waiting = [];
  const visit = (i) => {
    if (labels[i] === label || outside[i] !== 0) return;
    outside[i] = 1;
    waiting.push(i);
  };
  for (let x = 0; x < width; ++x) [x, (height - 1) * width + x].forEach(visit);
  for (let y = 0; y < height; ++y) [y * width, (y + 1) * width - 1].forEach(visit);
  while (waiting.length > 0) {
    const i = waiting.pop();
    if (i % width > 0) visit(i - 1);
    if (i % width < width - 1) visit(i + 1);
    if (i >= width) visit(i - width);
    if (i + width < labels.length) visit(i + width);
  }
  const chosen = new Uint8Array(count + 1);
  for (let i = 0; i < labels.length; ++i) {
    if (outside[i] === 0 && labels[i] !== 0) chosen[labels[i]] = 1;
  }
  return chosen;
}

// The pixels around a place that are chosen: their weights of 16 in all, where the picture goes on
// beyond its edges, and the mean of their colours in `bytes`.
function around(labels, width, height, chosen, x, y, bytes) {
  let weight = 0;
  let count = 0;
  const sum = [0, 0, 0];
  for (let v = -1; v <= 1; ++v) {
    for (let u = -1; u <= 1; ++u) {
      const row = Math.min(height - 1, Math.max(0, y + v));
      const i = row * width + Math.min(width - 1, Math.max(0, x + u));
      if (!chosen[labels[i]]) continue;
      weight += (2 - Math.abs(u)) * (2 - Math.abs(v));
      ++count;
      for (let c = 0; c < 3; ++c) sum[c] += bytes[4 * i + c];
    }
  }
  return {weight, colour: sum.map((value) => value / count)};
}

function cutoutPng(app, labels) {
  const {model} = app;
  const {width, height} = model.tree;
  const {count} = model.labels;
  const label = model.selected || foreground(model);
  const chosen = model.selected ? Uint8Array.from({length: count + 1}, (_, each) => each === label) :
                                  withEnclosed(labels, width, height, label, count);
  return pngOf(app, (bytes) => {
    const picture = bytes.slice();
    bytes.fill(0);
    const [left, top, columns, rows] = model.figuresOf(label)?.box ?? [0, 0, 0, 0];
    for (let y = Math.max(0, top - 1); y < Math.min(height, top + rows + 1); ++y) {
      for (let x = Math.max(0, left - 1); x < Math.min(width, left + columns + 1); ++x) {
        const i = y * width + x;
        const {weight, colour} = around(labels, width, height, chosen, x, y, picture);
        const inside = chosen[labels[i]];
        if (weight === 0) continue;
        bytes.set(inside ? picture.subarray(4 * i, 4 * i + 3) : colour, 4 * i);
        bytes[4 * i + 3] = Math.round(255 * (inside ? Math.max(8, weight) : weight) / 16);
      }
    }
  });
}
