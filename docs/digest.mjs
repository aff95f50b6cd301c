// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The digests of made-up questions of every kind, against 10,000 polygons and 200 bodies: what
// tests/python/library_digest.c asks a native library. The questions are made of whole numbers alone, so that they are
// the same on every machine. The page digest.html and the tests of the web packages import this file.

const SIDE = 100;
const SHAPES = 24;
const BODIES = 200;
const MOST_ITEMS = 65536;
const WORD = 2n ** 64n - 1n;

/** SplitMix64 (Steele, Lea and Flood). */
class Source {
  state = 1n;
  draw() {
    this.state = (this.state + 0x9e3779b97f4a7c15n) & WORD;
    let z = this.state;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & WORD;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & WORD;
    return z ^ (z >> 31n);
  }
  /** An integer in [0, limit). */
  below(limit) {
    return Number(this.draw() % BigInt(limit));
  }
  /** A multiple of 1/256 in [least, least + span). */
  between(least, span) {
    return least + this.below(span * 256) / 256;
  }
}

// Sixteen directions, whose lengths differ by less than a thousandth from 1,024.
const QUARTER = [[1024, 0], [946, 392], [724, 724], [392, 946]]; // prettier-ignore
const DIRECTIONS = [0, 1, 2, 3].flatMap((turns) =>
  QUARTER.map(([x, y]) => [[x, y], [-y, x], [-x, -y], [y, -x]][turns]), // prettier-ignore
);

/** Star-shaped polygons about points, some of them with a hole. */
class Stars {
  polygons = [];
  constructor(source) {
    this.source = source;
  }
  ring(x, y, least, span) {
    for (;;) {
      const ring = [];
      const taken = this.source.draw();
      DIRECTIONS.forEach(([dx, dy], k) => {
        const length = this.source.between(least, span);
        if ((taken >> BigInt(k)) & 1n) ring.push([x + (dx * length) / 1024, y + (dy * length) / 1024]);
      });
      if (ring.length >= 3) return ring; // else the ring is drawn again
    }
  }
  add(x, y, least, span) {
    const rings = this.source.draw() % 8n === 0n ? 2 : 1;
    const made = [];
    for (let ring = 0; ring < rings; ++ring) made.push(this.ring(x, y, least >> ring, span));
    this.polygons.push(made);
  }
  take() {
    const made = this.polygons;
    this.polygons = [];
    return made;
  }
}

// The columns of one question, all of which are drawn, in this order, before it is asked: entries lie in
// [least, least + span), counted from the entry of the column named last if there is one.
const NUMBERS = [
  ['x', 0, 16 * SIDE], ['y', 0, 16 * SIDE], ['nearX', -16, 32, 'x'], ['nearY', -16, 32, 'y'],
  ['farX', -200, 400, 'x'], ['farY', -200, 400, 'y'], ['highX', 0, 9, 'x'], ['highY', 0, 9, 'y'],
  ['dx', -8, 16], ['dy', -8, 16], ['up', 1, 2], ['angle', -3, 6], ['turn', -3, 6], ['small', 0, 2], ['wide', 0, 9],
  ['large', 0, 60], ['room', 1, 1], ['fine', 0, 1], ['farRange', 0, 400],
]; // prettier-ignore
const CHOICES = [
  ['shape', 0, 2 * SHAPES], ['polygon', 0, SHAPES], ['body', 0, BODIES], ['beams', 1, 8], ['manyBeams', 64, 512],
]; // prettier-ignore

function drawColumns(source, items) {
  const made = {};
  for (const [name, least, span, from] of NUMBERS) {
    made[name] = new Float64Array(items);
    for (let i = 0; i < items; ++i) made[name][i] = source.between(least, span) + (from ? made[from][i] : 0);
  }
  for (const [name, least, span] of CHOICES) {
    made[name] = new Uint32Array(items);
    for (let i = 0; i < items; ++i) made[name][i] = least + source.below(span);
  }
  return made;
}

/** The questions: each asks the scene about columns, and returns the answers. */
function questionsOf(scene, trackers, shapes) {
  const placed = (c, shape) => ({ shapes, shape, x: c.x, y: c.y, angle: c.angle });
  const both = { against: 'both' };
  const detail = 'edges';
  const first = (array) => array.subarray(0, Math.min(array.length, 64));
  const near = (c) => ({ ax: c.x, ay: c.y, bx: c.nearX, by: c.nearY });
  const far = (c) => ({ ax: c.x, ay: c.y, bx: c.farX, by: c.farY });
  const rays = (c) => ({ x: c.x, y: c.y, dx: c.dx, dy: c.up });
  const to = (c) => ({ ...placed(c, c.shape), toX: c.nearX, toY: c.nearY });
  return {
    segments: (c) => scene.cast(near(c)),
    passages: (c) => scene.cast({ ...far(c), mode: 'all_passages', ...both }),
    rays: (c) => scene.rays({ ...rays(c), ...both }),
    points: (c) => scene.locate({ x: c.x, y: c.y, ...both }),
    circles: (c) => scene.overlapCircles({ x: c.x, y: c.y, radius: c.wide, detail }),
    capsules: (c) => scene.overlapCapsules({ ...near(c), radius: c.small, detail }),
    boxes: (c) => scene.overlapBoxes({ minX: c.x, minY: c.y, maxX: c.highX, maxY: c.highY, detail }),
    polygons: (c) => scene.overlap({ ...placed(c, c.polygon), shapes: shapes.polygons, detail, ...both }),
    distances: (c) => scene.nearest(placed(c, c.shape)),
    within: (c) => scene.nearest({ ...placed(c, c.shape), mode: 'all', maxDistance: c.wide, ...both }),
    contacts: (c) => scene.contacts({ ...placed(c, c.shape), ...both }),
    'body contacts': (c) => scene.bodyContacts({ body: c.body }),
    depenetrations: (c) => scene.depenetrate(placed(c, c.shape)),
    sweeps: (c) => scene.sweep(to(c)),
    blocking: (c) => scene.sweep({ ...to(c), insidePolicy: 'blocking_leave', skin: c.small, ...both }),
    'rotating sweeps': (c) => scene.sweepRotating({ ...to(c), toAngle: c.turn, tolerance: c.room }),
    arcs: (c) => scene.arcs({ x: c.x, y: c.y, vx: c.dx, vy: c.dy, ax: c.small, ay: c.turn, duration: c.wide, ...both }),
    sights: (c) => scene.sights({ ...near(c), ...both }),
    fans: (c) =>
      scene.fans({ x: c.x, y: c.y, angle: c.angle, step: c.small, range: c.large, beams: c.beams, ...both }),
    // A few scanners of many beams, which the core casts in another way.
    'wide fans': (c) =>
      scene.fans({
        x: first(c.x), y: first(c.y), angle: first(c.angle), step: first(c.fine).map((each) => each / 64),
        range: first(c.farRange), beams: first(c.manyBeams), ...both,
      }), // prettier-ignore
    slides: (c) => scene.slide({ ...placed(c, c.shape), dx: c.dx, dy: c.dy }),
    bounces: (c) => scene.bounce(far(c)),
    'ray bounces': (c) => scene.bounceRays(rays(c)),
    areas: (c) => scene.areas({ x: c.x, y: c.y, range: c.large, ...both }),
    sees: (c) => scene.sees({ x: c.x, y: c.y, range: c.large, margin: 0.5 }),
    // Trackers at poses, and a little further.
    moves: (c) => {
      trackers.define({ shapes, shape: c.shape, within: 1 });
      scene.move({ x: c.x, y: c.y, angle: c.angle }).dispose();
      return scene.move({ x: c.highX, y: c.highY, angle: c.angle, fromX: c.x, fromY: c.y, detail });
    },
  };
}

/**
 * Returns a line for each kind of question, such as "segments         0123456789abcdef". `carom` is the module
 * @carom/core, and `core` an instance that it loaded; `items` are those of a question, up to 65,536; `step` is called
 * after each line.
 */
export async function digestLines(carom, core, items = 2048, step = async () => {}) {
  const { Bodies, Polygons, Scene, Shapes, Trackers, digestOf } = carom;
  const source = new Source();
  const stars = new Stars(source);
  for (let i = 0; i < SIDE * SIDE; ++i) stars.add(16 * (i % SIDE) + 8, 16 * Math.floor(i / SIDE) + 8, 2, 5);
  const polygonsAlone = Scene.fromPolygons(stars.take(), { core });
  for (let i = 0; i < SHAPES; ++i) stars.add(0, 0, 1, 2);
  const polygons = new Polygons(stars.take());
  const c = drawColumns(source, SHAPES);
  const shapes = new Shapes(polygons, { ax: c.small, ay: c.room, bx: c.up, by: c.small, radius: c.small });
  const b = drawColumns(source, BODIES);
  const bodies = new Bodies({ shapes, shape: b.shape, x: b.x, y: b.y, angle: b.angle }, { core });
  const trackers = new Trackers({ core, maxTrackers: MOST_ITEMS });
  const scene = polygonsAlone.withBodies(bodies).withTrackers(trackers);
  const lines = [];
  for (const [name, ask] of Object.entries(questionsOf(scene, trackers, shapes))) {
    const answers = ask(drawColumns(source, items));
    lines.push(`${name.padEnd(16)} ${digestOf(answers).toString(16).padStart(16, '0')}`);
    answers.dispose();
    await step(lines.at(-1));
  }
  for (const each of [scene, bodies, trackers]) each.dispose();
  return lines;
}
