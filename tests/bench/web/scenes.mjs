// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The scenes of tests/bench/scenes.cc, with random numbers of their own: `dense` and `walls`.

const TURN = 2 * Math.PI;
const CELL = 4;
const ROOM = 24;

/** Mulberry32 (T. Ettinger). */
export class Random {
  constructor(seed) {
    this.state = seed;
  }
  next() {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
  between(low, high) {
    return low + (high - low) * this.next();
  }
  below(limit) {
    return Math.floor(this.next() * limit);
  }
}

const onCircle = ([x, y], radius, angle) => [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
const boxOf = (x, y, right, top) => [[x, y], [right, y], [right, top], [x, top]]; // prettier-ignore

function convex(random, center, radius) {
  const count = 3 + random.below(6);
  const start = random.between(0, TURN);
  return Array.from({ length: count }, (_, i) =>
    onCircle(center, radius, start + (TURN * (i + random.between(0, 0.75))) / count),
  );
}

/** Polygons, and the convex pieces of each, which the peers have. */
export function dense(count) {
  const columns = 2 * Math.ceil(Math.sqrt(count) / 2);
  const random = new Random(count);
  const polygons = [];
  for (let cell = 0; cell < columns * columns; ++cell) {
    const radius = CELL * random.between(0.15, 0.3);
    const at = (index) => (index - columns / 2) * CELL + random.between(radius + 0.01, CELL - radius - 0.01);
    polygons.push(convex(random, [at(cell % columns), at(Math.floor(cell / columns))], radius));
  }
  return { polygons, pieces: polygons, half: (columns * CELL) / 2, near: CELL, far: 100 * CELL };
}

export function walls(rooms) {
  const [thick, door, middle] = [0.5, 3, (ROOM + 0.5) / 2];
  const random = new Random(rooms);
  const polygons = [];
  const pieces = [];
  for (let cell = 0; cell < rooms * rooms; ++cell) {
    const x = ((cell % rooms) - rooms / 2) * ROOM;
    const y = (Math.floor(cell / rooms) - rooms / 2) * ROOM;
    const [left, low] = [y, x].map((corner) => corner + random.between(2, ROOM - door - 2));
    const boxes = [
      boxOf(x, y, x + thick, left),
      boxOf(x, left + door, x + thick, y + ROOM),
      boxOf(x + thick, y, low, y + thick),
      boxOf(low + door, y, x + ROOM, y + thick),
    ];
    const center = [x + middle + random.between(-4, 4), y + middle + random.between(-4, 4)];
    const count = 24 + random.below(37);
    const star = Array.from({ length: count }, (_, i) =>
      onCircle(center, random.between(2.5, 6.5), (TURN * i) / count),
    );
    polygons.push(...boxes, star);
    pieces.push(...boxes, ...star.map((point, i) => [center, point, star[(i + 1) % count]]));
  }
  return { polygons, pieces, half: (rooms * ROOM) / 2, near: 6, far: 600 };
}

/** The rooms of `walls` within four walls, so that every line of sight ends. */
export function framed(rooms) {
  const { polygons, half } = walls(rooms);
  const [inner, outer] = [half + ROOM / 4, half + ROOM / 4 + 1];
  const frame = [
    boxOf(-outer, -outer, outer, -inner),
    boxOf(-outer, inner, outer, outer),
    boxOf(-outer, -inner, -inner, inner),
    boxOf(inner, -inner, outer, inner),
  ];
  return { polygons: [...polygons, ...frame], half };
}

/** Segments whose starts are in no polygon. `isFree` says whether a point is. */
export function segments(scene, count, length, seed, isFree) {
  const random = new Random(seed);
  const made = { ax: [], ay: [], bx: [], by: [] };
  while (made.ax.length < count) {
    const [x, y] = [random.between(-scene.half, scene.half), random.between(-scene.half, scene.half)];
    if (!isFree(x, y)) continue;
    const [bx, by] = onCircle([x, y], length * random.between(0.75, 1.25), random.between(0, TURN));
    made.ax.push(x);
    made.ay.push(y);
    made.bx.push(bx);
    made.by.push(by);
  }
  return Object.fromEntries(Object.entries(made).map(([name, list]) => [name, Float64Array.from(list)]));
}
