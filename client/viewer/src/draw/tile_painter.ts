// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are the polygons near a tile drawn onto it? A tile is painted in pieces of some milliseconds, between which the
// worker draws frames.
import { HOLLOW, NON_ZERO } from '../scene/packed';
import type { Box, SceneStore } from '../scene/store';
import { addRing, addSimpleRing, type Placement } from './outline';
import { FILL_OPACITY, hue, OTHER } from './palette';

/** Which colour each category has, and which categories are hidden. */
export interface MapStyle {
  dark: boolean;
  classOf: Map<bigint, number>;
  hidden: Set<bigint>;
}

// Boxes of polygons smaller than DOT pixels stand for the polygons; polygons of one closed ring without crossings that
// are smaller than SMALL are filled together, which merges overlaps.
const DOT = 2;
const SMALL = 14;
/** Polygons between two looks at the clock. */
const BATCH = 48;

/** Paths of one class of small polygons. */
interface Batch {
  dots: Path2D;
  small: Path2D;
  smallCount: number;
  dotCount: number;
}

class TilePainter {
  private batches = new Map<number, Batch>();
  private seen: Uint8Array;

  constructor(
    private readonly context: OffscreenCanvasRenderingContext2D,
    private readonly store: SceneStore,
    private readonly at: Placement,
    private readonly style: MapStyle,
    private readonly pixelRatio: number,
  ) {
    this.seen = new Uint8Array(at.width * at.height);
    context.lineJoin = 'round';
    context.lineCap = 'round';
  }

  paint(slot: number): void {
    const { store, at } = this;
    const category = store.categories[slot];
    if (this.style.hidden.has(category)) return;
    const kind = this.style.classOf.get(category) ?? OTHER;
    const box = slot * 4;
    const width = (store.boxes[box + 2] - store.boxes[box]) * at.scale;
    const height = (store.boxes[box + 3] - store.boxes[box + 1]) * at.scale;
    const largest = Math.max(width, height);
    if (largest < DOT * this.pixelRatio) return this.addDot(slot, kind, width, height);
    const hollow = (store.flags[slot] & HOLLOW) !== 0;
    if (!hollow && store.ringCount[slot] === 1 && largest < SMALL * this.pixelRatio) {
      const batch = this.batch(kind);
      if (addSimpleRing(batch.small, store, store.firstRing[slot], at)) {
        if (++batch.smallCount >= 400) this.flush(kind, batch);
        return;
      }
    }
    if (hollow) this.paintHollow(slot, kind);
    else this.paintSolid(slot, kind);
  }

  /** Draws what waits in batches. */
  finish(): void {
    for (const [kind, batch] of this.batches) this.flush(kind, batch);
  }

  private batch(kind: number): Batch {
    let batch = this.batches.get(kind);
    if (!batch) {
      batch = { dots: new Path2D(), small: new Path2D(), smallCount: 0, dotCount: 0 };
      this.batches.set(kind, batch);
    }
    return batch;
  }

  private addDot(slot: number, kind: number, width: number, height: number): void {
    const { store, at } = this;
    const x = Math.floor((store.boxes[slot * 4] - at.ax) * at.scale + at.dx);
    const y = Math.floor((at.ay - store.boxes[slot * 4 + 3]) * at.scale + at.dy);
    if (x >= 0 && y >= 0 && x < at.width && y < at.height) {
      const pixel = y * at.width + x;
      if (this.seen[pixel] === kind + 1) return;
      this.seen[pixel] = kind + 1;
    }
    const batch = this.batch(kind);
    batch.dots.rect(x, y, Math.max(1, width), Math.max(1, height));
    batch.dotCount += 1;
  }

  private flush(kind: number, batch: Batch): void {
    const { fill, line } = hue(kind, this.style.dark);
    const context = this.context;
    if (batch.dotCount > 0) {
      context.globalAlpha = FILL_OPACITY + 0.2;
      context.fillStyle = line;
      context.fill(batch.dots);
    }
    if (batch.smallCount > 0) {
      context.globalAlpha = FILL_OPACITY;
      context.fillStyle = fill;
      context.fill(batch.small);
      context.globalAlpha = 0.8;
      context.strokeStyle = line;
      context.lineWidth = 1;
      context.stroke(batch.small);
    }
    context.globalAlpha = 1;
    this.batches.delete(kind);
  }

  private paintSolid(slot: number, kind: number): void {
    const { store, at, context } = this;
    const { fill, line } = hue(kind, this.style.dark);
    const area = new Path2D();
    const first = store.firstRing[slot];
    const last = first + store.ringCount[slot];
    for (let ring = first; ring < last; ++ring) addRing(area, store, ring, at, false);
    context.globalAlpha = FILL_OPACITY;
    context.fillStyle = fill;
    context.fill(area, (store.flags[slot] & NON_ZERO) !== 0 ? 'nonzero' : 'evenodd');
    context.globalAlpha = 1;
    context.strokeStyle = line;
    context.lineWidth = 1.25 * this.pixelRatio;
    context.stroke(area);
  }

  private paintHollow(slot: number, kind: number): void {
    const { store, at, context } = this;
    const { line } = hue(kind, this.style.dark);
    const path = new Path2D();
    const ends = new Path2D();
    const first = store.firstRing[slot];
    const last = first + store.ringCount[slot];
    for (let ring = first; ring < last; ++ring) {
      addRing(path, store, ring, at, true);
      if (store.ringOpen[ring]) this.addEnds(ends, ring);
    }
    context.strokeStyle = line;
    context.lineWidth = 2.25 * this.pixelRatio;
    context.stroke(path);
    context.fillStyle = line;
    context.fill(ends);
  }

  private addEnds(path: Path2D, ring: number): void {
    const { store, at } = this;
    const radius = 3.5 * this.pixelRatio;
    for (const vertex of [0, store.ringLength[ring] - 1]) {
      const i = (store.ringStart[ring] + vertex) * 2;
      const x = (store.xy[i] - at.ax) * at.scale + at.dx;
      const y = (at.ay - store.xy[i + 1]) * at.scale + at.dy;
      if (x < -8 || y < -8 || x > at.width + 8 || y > at.height + 8) continue;
      path.moveTo(x + radius, y);
      path.arc(x, y, radius, 0, 2 * Math.PI);
    }
  }
}

/** Paints the tile; yields whenever the time until `deadline()` is over. Returns the number of polygons. */
export function* paintTile(
  context: OffscreenCanvasRenderingContext2D,
  store: SceneStore,
  box: Box,
  at: Placement,
  style: MapStyle,
  pixelRatio: number,
  deadline: () => number,
): Generator<void, number> {
  const slots = store.search(box);
  const painter = new TilePainter(context, store, at, style, pixelRatio);
  for (let i = 0; i < slots.length; ++i) {
    painter.paint(slots[i]);
    if (i % BATCH === BATCH - 1 && performance.now() > deadline()) yield;
  }
  painter.finish();
  return slots.length;
}
