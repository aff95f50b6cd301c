// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which picture does the worker show for a view? Tiles of the scene, painted once for a scale and kept.
//
// While a zoom is in progress, tiles of the last scale are drawn larger or smaller, and tiles of the new scale replace
// them when the zoom pauses. So each frame is a few copies of pictures, however large the scene is.
import { SceneStore } from '../scene/store';
import { colours } from './palette';
import { type MapStyle, paintTile } from './tile_painter';
import { roundStep, type View } from './view';

const TILE = 384;
const MAX_TILES = 80;
/** Milliseconds of a frame within which tiles are painted. */
const PAINT_MS = 9;
/** Milliseconds without a change of the scale after which tiles of the new scale are painted. */
const SETTLE_MS = 90;
const MAX_STRETCH = 1.9;

interface Tile {
  canvas: OffscreenCanvas;
  done: boolean;
  stale: boolean;
  used: number;
  work: Generator<void, number> | null;
}

/** The tiles of one scale. Tile (i, j) begins i * TILE pixels to the right and j * TILE below the anchor. */
interface Layer {
  ax: number;
  ay: number;
  scale: number;
  tiles: Map<string, Tile>;
}

export interface FrameReport {
  /** Whether further frames follow without a change of the view. */
  busy: boolean;
  /** Tiles of the view that are not painted. */
  missing: number;
}

export class MapRenderer {
  readonly store = new SceneStore();
  style: MapStyle = { dark: false, classOf: new Map(), hidden: new Set() };
  private context: OffscreenCanvasRenderingContext2D;
  private layer: Layer | null = null;
  private backdrop: Layer | null = null;
  private frame = 0;
  private scaleSince = 0;
  private lastScale = 0;
  private until = 0;

  constructor(
    private readonly canvas: OffscreenCanvas,
    private readonly pixelRatio: number,
  ) {
    this.context = canvas.getContext('2d', { alpha: false }) as OffscreenCanvasRenderingContext2D;
  }

  /** Marks tiles for a new painting: those that meet the boxes, or all. Old pictures stay until then. */
  invalidate(boxes?: Float64Array): void {
    for (const layer of [this.layer, this.backdrop]) {
      if (!layer) continue;
      for (const [key, tile] of layer.tiles) {
        if (boxes && !this.tileMeets(layer, key, boxes)) continue;
        tile.stale = true;
        tile.work = null;
      }
    }
  }

  /** Forgets every tile, for another scene or another style. */
  reset(): void {
    this.layer = null;
    this.backdrop = null;
  }

  draw(view: View, now: number): FrameReport {
    this.frame += 1;
    this.until = performance.now() + PAINT_MS;
    const ratio = this.pixelRatio;
    const width = Math.max(1, Math.round(view.width * ratio));
    const height = Math.max(1, Math.round(view.height * ratio));
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    if (view.scale !== this.lastScale) {
      this.lastScale = view.scale;
      this.scaleSince = now;
    }
    this.chooseLayer(view, now);
    const layer = this.layer as Layer;
    const exact = layer.scale === view.scale * ratio;
    const missing = this.paintMissing(layer, view);
    this.drawGround(view);
    if (this.backdrop && (missing > 0 || !exact)) this.drawLayer(this.backdrop, view);
    else if (missing === 0) this.backdrop = null;
    this.drawLayer(layer, view);
    this.evict();
    return { busy: missing > 0 || !exact, missing };
  }

  private chooseLayer(view: View, now: number): void {
    const scale = view.scale * this.pixelRatio;
    const layer = this.layer;
    if (!layer) {
      this.layer = { ax: view.cx, ay: view.cy, scale, tiles: new Map() };
      return;
    }
    const stretch = scale / layer.scale;
    const far = Math.abs((view.cx - layer.ax) * scale) > 1e6 || Math.abs((view.cy - layer.ay) * scale) > 1e6;
    if (stretch === 1 && !far) return;
    const settled = now - this.scaleSince > SETTLE_MS;
    if (!settled && stretch < MAX_STRETCH && stretch > 1 / MAX_STRETCH && !far) return;
    if ([...layer.tiles.values()].some((tile) => tile.done)) this.backdrop = layer;
    this.layer = { ax: view.cx, ay: view.cy, scale, tiles: new Map() };
  }

  /** Pixel of the screen at which the anchor of the layer is drawn, and the stretch of its tiles. */
  private origin(layer: Layer, view: View): { x: number; y: number; stretch: number } {
    const scale = view.scale * this.pixelRatio;
    return {
      x: Math.round((layer.ax - view.cx) * scale + (view.px + view.width / 2) * this.pixelRatio),
      y: Math.round((view.cy - layer.ay) * scale + (view.py + view.height / 2) * this.pixelRatio),
      stretch: scale / layer.scale,
    };
  }

  /** Indices of the tiles that the view needs: first and last, in x and y. */
  private range(layer: Layer, view: View): [number, number, number, number] {
    const { x, y, stretch } = this.origin(layer, view);
    const size = TILE * stretch;
    return [
      Math.floor(-x / size),
      Math.floor((this.canvas.width - 1 - x) / size),
      Math.floor(-y / size),
      Math.floor((this.canvas.height - 1 - y) / size),
    ];
  }

  /** Paints missing tiles, nearest to the middle first, until the time is over. Returns how many are left. */
  private paintMissing(layer: Layer, view: View): number {
    const [i0, i1, j0, j1] = this.range(layer, view);
    const wanted: { i: number; j: number; far: number }[] = [];
    for (let i = i0; i <= i1; ++i) {
      for (let j = j0; j <= j1; ++j) {
        const far = Math.hypot(i - (i0 + i1) / 2, j - (j0 + j1) / 2);
        wanted.push({ i, j, far });
      }
    }
    wanted.sort((a, b) => a.far - b.far);
    let left = 0;
    for (const { i, j } of wanted) {
      const tile = this.tileAt(layer, i, j);
      tile.used = this.frame;
      if (tile.done && !tile.stale && !tile.work) continue;
      if (performance.now() < this.until && this.advance(layer, i, j, tile)) continue;
      left += 1;
    }
    return left;
  }

  private tileAt(layer: Layer, i: number, j: number): Tile {
    const key = `${i},${j}`;
    let tile = layer.tiles.get(key);
    if (!tile) {
      tile = { canvas: new OffscreenCanvas(1, 1), done: false, stale: false, used: 0, work: null };
      layer.tiles.set(key, tile);
    }
    return tile;
  }

  /** Paints the tile further; true when it is finished. */
  private advance(layer: Layer, i: number, j: number, tile: Tile): boolean {
    if (!tile.work) {
      const canvas = new OffscreenCanvas(TILE, TILE);
      const context = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D;
      const margin = 8 * this.pixelRatio;
      const { ax, ay, scale } = layer;
      const at = { ax, ay, dx: -i * TILE, dy: -j * TILE, scale, width: TILE, height: TILE };
      const box = {
        minX: ax + (i * TILE - margin) / scale,
        maxX: ax + ((i + 1) * TILE + margin) / scale,
        minY: ay - ((j + 1) * TILE + margin) / scale,
        maxY: ay - (j * TILE - margin) / scale,
      };
      tile.stale = false;
      const paint = paintTile(context, this.store, box, at, this.style, this.pixelRatio, () => this.until);
      tile.work = (function* () {
        const polygons = yield* paint;
        tile.canvas = canvas;
        return polygons;
      })();
    }
    if (!tile.work.next().done) return false;
    tile.work = null;
    tile.done = true;
    return true;
  }

  private tileMeets(layer: Layer, key: string, boxes: Float64Array): boolean {
    const [i, j] = key.split(',').map(Number);
    const margin = 8 * this.pixelRatio;
    const left = layer.ax + (i * TILE - margin) / layer.scale;
    const right = layer.ax + ((i + 1) * TILE + margin) / layer.scale;
    const top = layer.ay - (j * TILE - margin) / layer.scale;
    const bottom = layer.ay - ((j + 1) * TILE + margin) / layer.scale;
    for (let at = 0; at < boxes.length; at += 4) {
      if (boxes[at] <= right && boxes[at + 2] >= left && boxes[at + 1] <= top && boxes[at + 3] >= bottom) return true;
    }
    return false;
  }

  private drawLayer(layer: Layer, view: View): void {
    const { x, y, stretch } = this.origin(layer, view);
    const context = this.context;
    context.imageSmoothingEnabled = stretch !== 1;
    context.imageSmoothingQuality = 'low';
    for (const [key, tile] of layer.tiles) {
      if (!tile.done) continue;
      const [i, j] = key.split(',').map(Number);
      // Both sides of a tile are rounded, so that stretched tiles meet without a seam.
      const left = Math.round(x + i * TILE * stretch);
      const top = Math.round(y + j * TILE * stretch);
      const right = Math.round(x + (i + 1) * TILE * stretch);
      const bottom = Math.round(y + (j + 1) * TILE * stretch);
      if (right < 0 || bottom < 0 || left > this.canvas.width || top > this.canvas.height) continue;
      tile.used = this.frame;
      if (layer === this.layer && this.backdrop && tile.done) this.eraseGround(view, left, top, right, bottom);
      if (stretch === 1) context.drawImage(tile.canvas, left, top);
      else context.drawImage(tile.canvas, left, top, right - left, bottom - top);
    }
  }

  /** Background and grid: lines of 1, 2 or 5 times a power of ten. */
  private drawGround(view: View, box?: [number, number, number, number]): void {
    const { background, grid, axis } = colours(this.style.dark);
    const context = this.context;
    const ratio = this.pixelRatio;
    const { width, height } = this.canvas;
    const [left, top, right, bottom] = box ?? [0, 0, width, height];
    context.fillStyle = background;
    context.fillRect(left, top, right - left, bottom - top);
    const step = roundStep(view.scale, 90);
    const middleX = (view.px + view.width / 2) * ratio;
    const middleY = (view.py + view.height / 2) * ratio;
    const scale = view.scale * ratio;
    const line = (k: number, along: number): void => {
      context.fillStyle = k === 0 ? axis : grid;
      if (along === 0) context.fillRect(Math.round((k * step - view.cx) * scale + middleX), top, 1, bottom - top);
      else context.fillRect(left, Math.round((view.cy - k * step) * scale + middleY), right - left, 1);
    };
    for (const along of [0, 1]) {
      const from = along === 0 ? view.cx + (left - middleX) / scale : view.cy - (bottom - middleY) / scale;
      const to = along === 0 ? view.cx + (right - middleX) / scale : view.cy - (top - middleY) / scale;
      const first = Math.ceil(from / step);
      const lines = Math.min(Math.floor(to / step) - first, 200);
      if (!Number.isSafeInteger(first)) continue;
      for (let k = first; k <= first + lines; ++k) line(k, along);
    }
  }

  private eraseGround(view: View, left: number, top: number, right: number, bottom: number): void {
    const { width, height } = this.canvas;
    this.drawGround(view, [
      Math.max(0, left),
      Math.max(0, top),
      Math.min(width, right),
      Math.min(height, bottom),
    ]);
  }

  /** Drops the tiles that were not drawn for longest. */
  private evict(): void {
    const tiles = this.layer?.tiles;
    if (!tiles || tiles.size <= MAX_TILES) return;
    const oldest = [...tiles].sort((a, b) => a[1].used - b[1].used).slice(0, tiles.size - MAX_TILES);
    for (const [key, tile] of oldest) if (tile.used !== this.frame) tiles.delete(key);
  }
}
