// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Random maps and lines of `carom eval` full of coincidences: vertices, edges and questions lie on one small lattice.

const SIZE = 16; // the lattice is [0, SIZE]^2, in halves
const TRACKERS = 8;

/** Mulberry32 (T. Ettinger): the numbers of a seed are the same on every machine. */
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
  below(limit) {
    return Math.floor(this.next() * limit);
  }
  one(...values) {
    return values[this.below(values.length)];
  }
  /** A coordinate: four in five are on the lattice. */
  lattice() {
    return this.next() < 0.8 ? this.below(2 * SIZE + 1) / 2 : this.next() * SIZE;
  }
  point() {
    return [this.lattice(), this.lattice()];
  }
  push() {
    const [a, b] = [this.point(), this.point()];
    return [b[0] - a[0], b[1] - a[1]];
  }
}

const times = (count, make) => Array.from({ length: count }, (_, i) => make(i));

function rectangle(random) {
  const [x, y] = random.point();
  const [w, h] = [1 + random.below(5), 1 + random.below(5)];
  return [[x, y], [x + w, y], [x + w, y + h], [x, y + h]]; // prettier-ignore
}

/** One polygon: simple or not, with or without holes, solid or hollow. */
function entry(random, id) {
  const made = { id, category: random.one(1, 1, 1, 2, 4) };
  const sort = random.below(8);
  const ring = (least, span) => times(least + random.below(span), () => random.point());
  if (sort <= 2) return { ...made, rings: [rectangle(random)] };
  if (sort === 3) {
    const outer = rectangle(random);
    const [[x, y], , [right, top]] = outer;
    return { ...made, rings: [outer, [[x, y], [(x + right) / 2, y], [(x + right) / 2, (y + top) / 2]]] }; // prettier-ignore
  }
  if (sort <= 5) return { ...made, rings: [ring(3, 5)], fill: random.one('evenodd', 'nonzero') };
  if (sort === 6) return { ...made, rings: [{ points: ring(1, 4), open: true }], solidity: 'boundary' };
  return { ...made, rings: [ring(1, 4), rectangle(random)], solidity: random.one('solid', 'boundary') };
}

function turn(random) {
  return random.one([1, 0], [0, 1], [-1, 0], [0.6, 0.8], [0.28, -0.96]);
}

/** A ring that does not touch itself: a box, a triangle or an L. */
function ringAboutZero(random) {
  const [w, h] = [(1 + random.below(6)) / 2, (1 + random.below(6)) / 2];
  return random.one(
    [[-w, -h], [w, -h], [w, h], [-w, h]],
    [[-w, -h], [w, -h], [0, h]],
    [[0, 0], [2 * w, 0], [2 * w, h / 2], [w / 2, h / 2], [w / 2, 2 * h], [0, 2 * h]],
  ); // prettier-ignore
}

const shapeOf = (random) =>
  random.next() < 0.4 ? { circle: random.below(5) / 2 } : { rings: [ringAboutZero(random)] };

function scopeOf(random, op) {
  const made = op === 'sees' ? {} : { against: random.one('scene', 'scene', 'bodies', 'both') };
  if (random.next() < 0.3) made.mask = random.one(1, 2, 3, 6);
  if (random.next() < 0.3) made.ignore_owner = random.below(4);
  return made;
}

const softWallsOf = (random) =>
  random.next() < 0.6 ? {} : { soft_mask: 1 + random.below(7), soft_count: random.below(4) };

function membersOf(random, op) {
  const [a, b, d] = [random.point(), random.point(), random.push()];
  const circle = { c: a, r: random.below(7) / 2 };
  const rings = { rings: [ringAboutZero(random).map(([x, y]) => [x + b[0], y + b[1]])] };
  const pose = [...a, ...(random.next() < 0.5 ? turn(random) : [])];
  const skin = random.one(0, 0.125);
  switch (op) {
    case 'point':
      return { p: a };
    case 'segment':
      return { a, b, inside: random.one('report', 'ignore', 'exit'), ...softWallsOf(random) };
    case 'sight':
      return { a, b, ...softWallsOf(random) };
    case 'area':
    case 'sees': {
      const start = random.below(8) - 4;
      const cone = random.next() < 0.5 ? { cone: [start, start + (1 + random.below(12)) / 2] } : {};
      const margin = op === 'sees' ? { margin: random.one(0, 0, 0.5, 1) } : {};
      return { p: a, r: (1 + random.below(19)) / 2, inside: random.one('report', 'ignore'), ...cone, ...margin };
    }
    case 'bounce':
      return { a, b, max_bounces: 1 + random.below(3) };
    case 'ray_bounce': {
      const most = random.next() < 0.5 ? { t_max: 1 + random.below(3) } : {};
      return { p: a, d: d[0] || d[1] ? d : [1, 0], max_bounces: 1 + random.below(5), ...most };
    }
    case 'circle':
      return circle;
    case 'circle_cast':
      return { ...circle, d };
    case 'polygon':
    case 'distance':
      return rings;
    case 'polygon_cast':
      return { ...rings, d };
    case 'contact': {
      const [w, h] = [1 + random.below(3), 1 + random.below(3)];
      return { rings: [[a, [a[0] + w, a[1]], [a[0] + w, a[1] + h], [a[0], a[1] + h]]] };
    }
    case 'sweep': {
      const inside = random.one('report', 'ignore', 'exit', 'blocking', 'blocking_leave');
      return { shape: shapeOf(random), at: pose, d, inside, ...(inside.startsWith('blocking') && { skin }) };
    }
    case 'slide':
      return { shape: shapeOf(random), at: pose, d: times(1 + random.below(3), () => random.push()), skin };
    default: {
      const [c, s] = turn(random);
      return { tracker: random.below(TRACKERS), x: a[0], y: a[1], c, s };
    }
  }
}

/** Lines that make a random world, and `count` lines of each of `operations`. */
export function worldLines(random, operations, count) {
  const ids = new Set();
  while (ids.size < 14) ids.add(random.below(1000));
  const row = () => [random.below(4), ...random.point(), ...turn(random), random.below(4), random.one(1, 1, 2)];
  const lines = [
    { op: 'scene', polygons: [...ids].map((id) => entry(random, id)) },
    { op: 'bodies', shapes: times(4, () => shapeOf(random)), at: times(random.one(10, 10, 70), row) },
    ...times(TRACKERS, (i) => ({ op: 'track', tracker: i, rings: [ringAboutZero(random)] })),
  ];
  for (const op of operations) {
    const hasScope = !['bounce', 'ray_bounce', 'move'].includes(op);
    lines.push(...times(count, () => ({ op, ...membersOf(random, op), ...(hasScope && scopeOf(random, op)) })));
  }
  return lines.map((line) => JSON.stringify(line));
}
