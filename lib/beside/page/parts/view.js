// The picture and its regions on two canvases, one above the other, of the screen's resolution: a
// step of the slider costs one pass over the screen's pixels, whatever the size of the picture.

const MOST_SCREEN_PIXELS = 4e6;
const LARGEST_SCALE = 64;
const LINE = packed([1, 236 / 255, 64 / 255], 1);
const LINE_SHADOW = packed([0, 0, 0], 0.55);
const SELECTED = packed([1, 0, 0.9], 1);
const SELECTED_SHADOW = packed([1, 1, 1], 1);

class View {
  constructor(pictureCanvas, regionCanvas, width, height) {
    this.pictureCanvas = pictureCanvas;
    this.regionCanvas = regionCanvas;
    this.width = width;
    this.height = height;
    this.scale = 1;
    this.x = 0;
    this.y = 0;
    this.isFitted = true;
  }

  // Takes the canvases' size from the page.
  resize() {
    const box = this.regionCanvas.getBoundingClientRect();
    const wanted = window.devicePixelRatio || 1;
    const most = Math.sqrt(MOST_SCREEN_PIXELS / Math.max(1, box.width * box.height));
    const old = this.ratio || 1;
    this.ratio = Math.min(wanted, most);
    const [columns, rows] = [box.width, box.height].map((side) => Math.max(1, Math.round(side * this.ratio)));
    for (const canvas of [this.pictureCanvas, this.regionCanvas]) {
      canvas.width = columns;
      canvas.height = rows;
    }
    this.pixels = this.regionCanvas.getContext('2d').createImageData(columns, rows);
    this.paint = new Uint32Array(this.pixels.data.buffer);
    this.labels = new Int32Array(columns * rows);
    if (this.isFitted) this.fit();
    else this.moveTo(this.scale * this.ratio / old, this.x * this.ratio / old, this.y * this.ratio / old);
  }

  get columns() {
    return this.regionCanvas.width;
  }
  get rows() {
    return this.regionCanvas.height;
  }
  get fittingScale() {
    return Math.min(this.columns / this.width, this.rows / this.height);
  }

  fit() {
    const scale = this.fittingScale;
    this.moveTo(scale, (this.columns - this.width * scale) / 2, (this.rows - this.height * scale) / 2);
    this.isFitted = true;
  }

  // Places the picture so that it fills the canvas or stays wholly in it, in each direction.
  moveTo(scale, x, y) {
    this.isFitted = false;
    this.scale = Math.max(this.fittingScale / 2, Math.min(LARGEST_SCALE, scale));
    const place = (at, room, side) => {
      const free = room - side * this.scale;
      return free > 0 ? free / 2 : Math.max(free, Math.min(0, at));
    };
    this.x = place(x, this.columns, this.width);
    this.y = place(y, this.rows, this.height);
  }

  // (x, y) stays where it is; in pixels of the canvas.
  zoomAt(factor, x = this.columns / 2, y = this.rows / 2) {
    const scale = Math.max(this.fittingScale / 2, Math.min(LARGEST_SCALE, this.scale * factor));
    const grown = scale / this.scale;
    this.moveTo(scale, x - (x - this.x) * grown, y - (y - this.y) * grown);
  }

  pan(dx, dy) {
    this.moveTo(this.scale, this.x + dx, this.y + dy);
  }

  // A place of the page, in pixels of the canvas.
  placeAt(clientX, clientY) {
    const box = this.regionCanvas.getBoundingClientRect();
    return [(clientX - box.left) * this.ratio, (clientY - box.top) * this.ratio];
  }

  // The picture's pixel below a place of the page; null beside the picture.
  pixelAt(clientX, clientY) {
    const [left, top] = this.placeAt(clientX, clientY);
    const x = Math.floor((left - this.x) / this.scale);
    const y = Math.floor((top - this.y) / this.scale);
    return x >= 0 && y >= 0 && x < this.width && y < this.height ? {x, y} : null;
  }

  drawPicture(picture) {
    const context = this.pictureCanvas.getContext('2d');
    context.clearRect(0, 0, this.columns, this.rows);
    context.imageSmoothingEnabled = this.scale < 2;
    context.imageSmoothingQuality = 'medium';
    context.drawImage(picture, this.x, this.y, this.width * this.scale, this.height * this.scale);
  }

  // `colours`: one for each label. `selected`: the label that gets an outline of its own, or 0.
  drawRegions(leaf, labelOf, colours, hasOutlines, selected) {
    this.fillRegions(leaf, labelOf, colours);
    const line = Math.max(1, Math.round(this.ratio));
    if (hasOutlines) this.outline(line, 0, LINE, LINE_SHADOW);
    if (selected !== 0) this.outline(2 * line, selected, SELECTED, SELECTED_SHADOW);
    this.regionCanvas.getContext('2d').putImageData(this.pixels, 0, 0);
  }

  // Dots with the numbers of their things.
  drawMarks(marks) {
    const context = this.regionCanvas.getContext('2d');
    const radius = 9 * this.ratio;
    context.font = `${Math.round(12 * this.ratio)}px sans-serif`;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    for (const {x, y, thing} of marks) {
      const at = [this.x + (x + 0.5) * this.scale, this.y + (y + 0.5) * this.scale];
      context.beginPath();
      context.arc(...at, radius, 0, 2 * Math.PI);
      context.fillStyle = toHex(leafColour(thing));
      context.fill();
      context.strokeStyle = context.fillStyle = '#fff';
      context.lineWidth = 2 * this.ratio;
      context.stroke();
      context.fillText(thing, ...at);
    }
  }

  // For each column or row of the screen, the picture's; `from` to `to` are those on the picture.
  picturePlaces(count, start, side) {
    const places = new Int32Array(count);
    let from = count;
    let to = 0;
    for (let k = 0; k < count; ++k) {
      places[k] = Math.floor((k + 0.5 - start) / this.scale);
      if (places[k] < 0 || places[k] >= side) continue;
      from = Math.min(from, k);
      to = k + 1;
    }
    return {places, from, to};
  }

  fillRegions(leaf, labelOf, colours) {
    const {columns, rows, labels, paint, width} = this;
    const xs = this.picturePlaces(columns, this.x, width);
    const ys = this.picturePlaces(rows, this.y, this.height);
    const {places, from, to} = xs;
    labels.fill(-1);
    paint.fill(0);
    for (let y = ys.from; y < ys.to; ++y) {
      const row = ys.places[y] * width;
      for (let x = from, i = y * columns + from; x < to; ++x, ++i) {
        const label = labelOf[leaf[row + places[x]]];
        labels[i] = label;
        paint[i] = colours[label];
      }
    }
  }

  // Draws a line where labels differ, `reach` pixels wide, with a shadow on its other side: around
  // every region, or, if `only` is not 0, around that one alone and within it.
  outline(reach, only, colour, shadow) {
    const {columns, rows, labels, paint} = this;
    const separate = (i, j) => {
      if (labels[j] < 0) return;
      if (only === 0 || labels[i] === only) {
        paint[i] = colour;
        paint[j] = shadow;
      } else if (labels[j] === only) {
        paint[j] = colour;
        paint[i] = shadow;
      }
    };
    const below = reach * columns;
    // Beyond the last column the next row begins, and beyond the last row there is nothing.
    for (let y = 0; y < rows - reach; ++y) {
      for (let i = y * columns, end = i + columns - reach; i < end; ++i) {
        const label = labels[i];
        if (label < 0) continue;
        if (labels[i + reach] !== label) separate(i, i + reach);
        if (labels[i + below] !== label) separate(i, i + below);
      }
    }
  }
}
