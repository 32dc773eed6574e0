// Labels as a PNG: 16-bit grey up to 65535 regions, as `segment` writes them; else 8-bit red, green
// and blue with label = red + 256 green + 65536 blue. 0 has no data.

const MOST_GREY_REGIONS = 65535;

let crcTable = null;

function crc32(bytes) {
  crcTable ??= Uint32Array.from({length: 256}, (_, n) => {
    for (let k = 0; k < 8; ++k) n = n & 1 ? 0xEDB88320 ^ (n >>> 1) : n >>> 1;
    return n;
  });
  let crc = ~0;
  for (const byte of bytes) crc = crcTable[(crc ^ byte) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}

function pngChunk(type, data) {
  const chunk = new Uint8Array(data.length + 12);
  const view = new DataView(chunk.buffer);
  view.setUint32(0, data.length);
  for (let k = 0; k < 4; ++k) chunk[4 + k] = type.charCodeAt(k);
  chunk.set(data, 8);
  view.setUint32(data.length + 8, crc32(chunk.subarray(4, data.length + 8)));
  return chunk;
}

// Rows with a filter byte of 0 (no filter) in front of each.
function pngRows(labels, width, height, isGrey) {
  const shifts = isGrey ? [8, 0] : [0, 8, 16];
  const rows = new Uint8Array((width * shifts.length + 1) * height);
  for (let i = 0, at = 0; i < labels.length; ++i) {
    if (i % width === 0) ++at;
    for (const shift of shifts) rows[at++] = labels[i] >> shift;
  }
  return rows;
}

async function labelsPng(labels, width, height, count) {
  const isGrey = count <= MOST_GREY_REGIONS;
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header.set(isGrey ? [16, 0] : [8, 2], 8);
  const data = await deflate(pngRows(labels, width, height, isGrey));
  const signature = Uint8Array.of(0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A);
  const chunks = [pngChunk('IHDR', header), pngChunk('IDAT', data), pngChunk('IEND', new Uint8Array())];
  return new Blob([signature, ...chunks], {type: 'image/png'});
}
