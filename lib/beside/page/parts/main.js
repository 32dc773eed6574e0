// Saving, and the page's beginning.

async function savedFile(app, kind) {
  const {model} = app;
  const {width, height} = model.tree;
  const {count} = model.labels;
  if (kind === 'tree') return new Blob([model.tree.bytes]);
  const labels = model.labelMap();
  if (kind === 'png') return labelsPng(labels, width, height, count);
  if (kind === 'flat') return flatPng(app, labels);
  if (kind === 'cutout') return cutoutPng(app, labels);
  const regions =
      drawnRegions(polygonsOf(labels, width, height, count), (label) => model.figuresOf(label));
  const [text, type] =
      kind === 'coco' ? [coco(regions, labels, width, height, app.about.title), 'application/json'] :
      kind === 'svg'  ? [svg(regions, width, height), 'image/svg+xml'] :
                        [geoJson(regions), 'application/geo+json'];
  return new Blob([text], {type});
}

async function save(app, kind) {
  const link = document.createElement('a');
  const url = URL.createObjectURL(await savedFile(app, kind));
  link.href = url;
  const ends = {png: '-labels.png', flat: '-flat.png', cutout: '-cutout.png', coco: '-coco.json'};
  link.download = app.about.stem + (ends[kind] ?? `.${kind}`);
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
  app.say(`Saved as ${link.download}`);
}

async function packedBytes(id) {
  return inflate(fromBase64($(id).textContent.trim()));
}

async function begin() {
  if (typeof DecompressionStream === 'undefined') {
    throw new Error('it cannot unpack the regions. Use Chrome or Edge 80, Firefox 113, Safari 16.4, or a later one');
  }
  const about = JSON.parse($('about').textContent);
  const [tree, colours, inside] = await Promise.all(['tree', 'colours', 'inside'].map(packedBytes));
  const picture = $('source');
  await picture.decode();
  const leaves = {colours: new Uint16Array(colours.buffer), inside: new Float64Array(inside.buffer)};
  const app = new App(about, readTree(tree), leaves, picture);
  app.start();
  return app;
}

// For scripts that drive the page: the App, once everything is read.
window.diacut = begin();
window.diacut.catch((error) => {
  $('message').textContent = `This browser cannot show the page: ${error.message}.`;
});
