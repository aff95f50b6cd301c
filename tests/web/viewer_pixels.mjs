// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Reads PNG files as Chromium writes them (8 bits a channel, RGB or RGBA, not interlaced), and writes small ones.
import { deflateSync, inflateSync } from 'node:zlib';

function paeth(a, b, c) {
  const p = a + b - c;
  const [pa, pb, pc] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)];
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/** Returns width, height and a function that returns the colour [red, green, blue] of a pixel. */
export function readPng(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts = [];
  let [width, height, channels] = [0, 0, 4];
  for (let at = 8; at < bytes.length; ) {
    const length = view.getUint32(at);
    const name = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    const data = bytes.subarray(at + 8, at + 8 + length);
    if (name === 'IHDR') {
      width = view.getUint32(at + 8);
      height = view.getUint32(at + 12);
      channels = data[9] === 6 ? 4 : 3;
      if (data[8] !== 8 || ![2, 6].includes(data[9]) || data[12] !== 0) throw new Error('another kind of PNG');
    }
    if (name === 'IDAT') parts.push(data);
    at += 12 + length;
  }
  const raw = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  const pixels = new Uint8Array(stride * height);
  for (let y = 0; y < height; ++y) {
    const filter = raw[y * (stride + 1)];
    for (let x = 0; x < stride; ++x) {
      const left = x >= channels ? pixels[y * stride + x - channels] : 0;
      const up = y > 0 ? pixels[(y - 1) * stride + x] : 0;
      const corner = y > 0 && x >= channels ? pixels[(y - 1) * stride + x - channels] : 0;
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
      pixels[y * stride + x] = (raw[y * (stride + 1) + 1 + x] + guess) & 255;
    }
  }
  const at = (x, y) => [...pixels.subarray((y * width + x) * channels, (y * width + x) * channels + 3)];
  return { width, height, at };
}

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; ++k) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c;
});

function chunk(name, data) {
  const made = Buffer.alloc(data.length + 12);
  made.writeUInt32BE(data.length, 0);
  made.write(name, 4, 'latin1');
  data.copy(made, 8);
  let crc = 0xffffffff;
  for (const byte of made.subarray(4, data.length + 8)) crc = CRC[(crc ^ byte) & 255] ^ (crc >>> 8);
  made.writeUInt32BE((crc ^ 0xffffffff) >>> 0, data.length + 8);
  return made;
}

/** Writes a picture with the 256 colours that it has most of: each pixel gets the nearest one. */
export function writePng({ width, height, at }) {
  const counts = new Map();
  const key = ([r, g, b]) => (r << 16) | (g << 8) | b;
  const raw = new Uint32Array(width * height);
  for (let i = 0; i < raw.length; ++i) {
    raw[i] = key(at(i % width, Math.floor(i / width)));
    counts.set(raw[i], (counts.get(raw[i]) ?? 0) + 1);
  }
  const palette = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 256).map(([colour]) => colour);
  const nearest = new Map();
  const far = (a, b) => [16, 8, 0].reduce((sum, bit) => sum + (((a >> bit) & 255) - ((b >> bit) & 255)) ** 2, 0);
  const indexOf = (colour) => {
    let found = nearest.get(colour);
    if (found === undefined) {
      found = palette.reduce((best, each, i) => (far(each, colour) < far(palette[best], colour) ? i : best), 0);
      nearest.set(colour, found);
    }
    return found;
  };
  const lines = Buffer.alloc((width + 1) * height);
  for (let i = 0; i < raw.length; ++i) lines[Math.floor(i / width) * (width + 1) + 1 + (i % width)] = indexOf(raw[i]);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
    chunk('IHDR', head),
    chunk('PLTE', Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]))),
    chunk('IDAT', deflateSync(lines, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
