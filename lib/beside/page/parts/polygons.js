// Regions as polygons along the edges of pixels, and as files.

// The 4-connected components of a map of labels, numbered from 1 on, and the label of each.
function components(labels, width) {
  const of = new Int32Array(labels.length);
  const meeting = [];  // Numbers of one component, in pairs.
  let count = 0;
  for (let i = 0; i < labels.length; ++i) {
    const label = labels[i];
    if (label === 0) continue;
    const left = i % width !== 0 && labels[i - 1] === label ? of[i - 1] : 0;
    const above = i >= width && labels[i - width] === label ? of[i - width] : 0;
    of[i] = left || above || ++count;
    if (left !== 0 && above !== 0 && left !== above) meeting.push(left, above);
  }
  const sets = new DisjointSets(count + 1);
  for (let k = 0; k < meeting.length; k += 2) sets.unite(meeting[k], meeting[k + 1]);
  const labelOf = new Int32Array(count + 1);
  for (let i = 0; i < labels.length; ++i) {
    of[i] = sets.find(of[i]);
    labelOf[of[i]] = labels[i];
  }
  return {of, labelOf};
}

const STEPS = [[1, 0], [0, 1], [-1, 0], [0, -1]];  // East, south, west, north.

// The pixel to the left (side 0) or right (side 1) of the edge that leaves (x, y) in a direction.
function pixelAhead(x, y, direction, side) {
  const [dx, dy] = [[0, -1 + side], [-side, 0], [-1, -side], [-1 + side, -1]][direction];
  return [x + dx, y + dy];
}

// Follows the boundary of the component at the pixel (x, y) from that pixel's upper edge, with the
// component on the right. Where pixels of it meet at a corner only, the ring passes from one to the
// other: as components are 4-connected, no ring meets itself then, as polygons demand.
function followRing(map, width, height, x, y, seen) {
  const component = map[y * width + x];
  const inside = ([px, py]) =>
      px >= 0 && py >= 0 && px < width && py < height && map[py * width + px] === component;
  const ring = [[x, y]];
  const start = [x, y];
  let direction = 0;
  do {
    if (direction === 0) seen[y * width + x] = 1;
    x += STEPS[direction][0];
    y += STEPS[direction][1];
    const turn = inside(pixelAhead(x, y, direction, 0)) ? 3 :
                 inside(pixelAhead(x, y, direction, 1)) ? 0 : 1;
    if (turn !== 0) ring.push([x, y]);
    direction = (direction + turn) % 4;
  } while (x !== start[0] || y !== start[1] || direction !== 0);
  return ring;
}

// For each label 1..count its polygons; a polygon is a list of closed rings, the outer one first.
function polygonsOf(labels, width, height, count) {
  const {of: map, labelOf} = components(labels, width);
  const seen = new Uint8Array(map.length);
  const polygons = Array.from({length: count + 1}, () => []);
  const byComponent = new Array(labelOf.length);
  for (let i = 0; i < map.length; ++i) {
    if (map[i] === 0 || seen[i] || (i >= width && map[i - width] === map[i])) continue;
    const ring = followRing(map, width, height, i % width, Math.floor(i / width), seen);
    if (byComponent[map[i]]) {
      byComponent[map[i]].push(ring);
    } else {
      polygons[labelOf[map[i]]].push(byComponent[map[i]] = [ring]);
    }
  }
  return polygons;
}

// Of each region its polygons and its figures, as files take them.
function drawnRegions(polygons, figuresOf) {
  return polygons.map((own, label) => ({polygons: own, ...figuresOf(label)}))
      .filter((region) => region.polygons.length > 0);
}

function geoJson(regions) {
  const features = regions.map(({label, polygons, area, box, centroid, colour, height}) => {
    const properties = {label, area, box, centroid, mean_colour: colour, height};
    const geometry = polygons.length === 1 ? {type: 'Polygon', coordinates: polygons[0]} :
                                             {type: 'MultiPolygon', coordinates: polygons};
    return JSON.stringify({type: 'Feature', id: label, properties, geometry});
  });
  const unit = 'pixels from the upper left corner of the picture, x to the right, y downwards';
  return `{"type":"FeatureCollection","coordinate_unit":"${unit}","features":[\n` +
      features.join(',\n') + '\n]}\n';
}

// COCO's run lengths: column by column, pixels without and with the label in turns. `box`: the
// label's.
function runsOf(labels, width, height, label, [left, , columns]) {
  const runs = [left * height];
  for (let x = left; x < left + columns; ++x) {
    for (let y = 0; y < height; ++y) {
      if ((labels[y * width + x] === label) !== (runs.length % 2 === 0)) runs.push(0);
      ++runs[runs.length - 1];
    }
  }
  const rest = (width - left - columns) * height;
  if (rest > 0 && runs.length % 2 === 0) runs.push(0);
  runs[runs.length - 1] += rest;
  return runs;
}

// COCO: polygons; regions with holes, which those cannot hold, as runs of pixels.
function coco(regions, labels, width, height, name) {
  const annotations = regions.map(({label, polygons, area, box}) => {
    const hasHoles = polygons.some((rings) => rings.length > 1);
    const segmentation = hasHoles ?
        {size: [height, width], counts: runsOf(labels, width, height, label, box)} :
        polygons.map(([ring]) => ring.slice(0, -1).flat());
    return {id: label, image_id: 1, category_id: 1, iscrowd: 0, area, bbox: box, segmentation};
  });
  return JSON.stringify({
    images: [{id: 1, width, height, file_name: name}],
    categories: [{id: 1, name: 'region', supercategory: ''}],
    annotations,
  });
}

function svg(regions, width, height) {
  const paths = regions.map(({label, polygons, colour}) => {
    const path = polygons.flat().map((ring) => 'M' + ring.slice(0, -1).join('L') + 'Z').join('');
    const hex = toHex(colour);
    return `<path id="region-${label}" fill="${hex}" stroke="${hex}" d="${path}"/>`;
  });
  return '<svg xmlns="http://www.w3.org/2000/svg" ' +
      `viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" ` +
      'fill-rule="evenodd" stroke-width="0.5" stroke-linejoin="round">\n' + paths.join('\n') + '\n</svg>\n';
}
