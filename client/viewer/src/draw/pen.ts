// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How is a figure drawn above the map? In coordinates of the scene, cut to the screen, with lines of the same width at
// each zoom.
import { arcPoints, clipped } from './clip';
import { toScreen, type Point, type View } from './view';

const GUARD = 4000;
/** Greatest radius in pixels of what the canvas draws as an arc. */
const MAX_ARC = 4000;

export interface Ink {
  /** The question. */
  ask: string;
  /** What the answer found. */
  hit: string;
  /** Normals and exits. */
  normal: string;
  /** Ways that are free. */
  free: string;
  paper: string;
  text: string;
}

export function ink(dark: boolean): Ink {
  return dark
    ? { ask: '#f2f5f9', hit: '#ff6b5e', normal: '#ffd166', free: '#5fe0a0', paper: '#15181d', text: '#f2f5f9' }
    : { ask: '#111827', hit: '#d0281c', normal: '#a15c00', free: '#0a7a48', paper: '#ffffff', text: '#111827' };
}

/** A part of the screen that has text or a mark. */
interface Taken {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export class Pen {
  private taken: Taken[] = [];

  constructor(
    readonly context: CanvasRenderingContext2D,
    readonly view: View,
    readonly ink: Ink,
  ) {}

  at(x: number, y: number): Point {
    return toScreen(this.view, x, y);
  }

  /** A straight line between two points of the scene. */
  line(ax: number, ay: number, bx: number, by: number, colour: string, width = 2, dash: number[] = []): void {
    const part = this.cut(this.at(ax, ay), this.at(bx, by));
    if (!part) return;
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(part[0].x, part[0].y);
    context.lineTo(part[1].x, part[1].y);
    context.stroke();
    context.setLineDash([]);
  }

  /** Lines between points of the scene in turn. */
  chain(points: readonly Point[], colour: string, width = 2, dash: number[] = []): void {
    for (let i = 0; i + 1 < points.length; ++i) {
      this.line(points[i].x, points[i].y, points[i + 1].x, points[i + 1].y, colour, width, dash);
    }
  }

  /** A closed outline with a faint area. */
  area(points: readonly Point[], colour: string, dash: number[] = [], opacity = 0.14): void {
    const outline = points.map(({ x, y }) => this.at(x, y));
    this.outline(outline, colour, dash, opacity);
  }

  /** A capsule; a disc if both ends are equal. */
  capsule(ax: number, ay: number, bx: number, by: number, radius: number, colour: string, dash: number[] = []): void {
    const a = this.at(ax, ay);
    const b = this.at(bx, by);
    const r = radius * this.view.scale;
    const turn = Math.atan2(b.y - a.y, b.x - a.x);
    const { context } = this;
    const half = Math.PI / 2;
    if (r > MAX_ARC || [a, b].some(({ x, y }) => Math.abs(x) > MAX_ARC || Math.abs(y) > MAX_ARC)) {
      const { width, height } = this.view;
      const near = { x: width / 2, y: height / 2 };
      const reach = width + height;
      const outline = [
        ...arcPoints(a, r, turn + half, turn + 3 * half, near, reach),
        ...arcPoints(b, r, turn + 3 * half, turn + 5 * half, near, reach),
      ];
      this.outline(outline, colour, dash, 0.14);
      return;
    }
    context.beginPath();
    context.arc(a.x, a.y, r, turn + half, turn + 3 * half);
    context.arc(b.x, b.y, r, turn - half, turn + half);
    context.closePath();
    this.fillAndStroke(colour, dash, 0.14);
  }

  /** A closed outline of pixels, of which the part near the screen is drawn. */
  private outline(points: readonly Point[], colour: string, dash: number[], opacity: number): void {
    const { width, height } = this.view;
    const box = { minX: -GUARD, minY: -GUARD, maxX: width + GUARD, maxY: height + GUARD };
    const near = clipped(points, box);
    if (near.length === 0) return;
    const { context } = this;
    context.beginPath();
    for (const { x, y } of near) context.lineTo(x, y);
    context.closePath();
    this.fillAndStroke(colour, dash, opacity);
  }

  private fillAndStroke(colour: string, dash: number[], opacity: number): void {
    const { context } = this;
    context.globalAlpha = opacity;
    context.fillStyle = colour;
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = colour;
    context.lineWidth = 1.75;
    context.setLineDash(dash);
    context.stroke();
    context.setLineDash([]);
  }

  dot(x: number, y: number, colour: string, radius = 4.5): void {
    const point = this.at(x, y);
    if (Math.abs(point.x) > GUARD || Math.abs(point.y) > GUARD) return;
    this.reserve(point.x, point.y, radius);
    const { context } = this;
    context.beginPath();
    context.arc(point.x, point.y, radius, 0, 2 * Math.PI);
    context.fillStyle = colour;
    context.fill();
    context.lineWidth = 1.5;
    context.strokeStyle = this.ink.paper;
    context.stroke();
  }

  /** An arrow from a point of the scene in the direction (dx, dy), so many pixels long. */
  arrow(x: number, y: number, dx: number, dy: number, colour: string, pixels = 34): void {
    const length = Math.hypot(dx, dy);
    if (length === 0) return;
    const from = this.at(x, y);
    if (Math.abs(from.x) > GUARD || Math.abs(from.y) > GUARD) return;
    const [ux, uy] = [dx / length, -dy / length];
    const tip = { x: from.x + ux * pixels, y: from.y + uy * pixels };
    const { context } = this;
    context.strokeStyle = colour;
    context.fillStyle = colour;
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.lineTo(tip.x - ux * 7, tip.y - uy * 7);
    context.stroke();
    context.beginPath();
    context.moveTo(tip.x, tip.y);
    context.lineTo(tip.x - ux * 9 - uy * 4.5, tip.y - uy * 9 + ux * 4.5);
    context.lineTo(tip.x - ux * 9 + uy * 4.5, tip.y - uy * 9 - ux * 4.5);
    context.fill();
  }

  /** Keeps text away from a mark at a pixel. */
  reserve(x: number, y: number, radius: number): void {
    this.taken.push({ left: x - radius, top: y - radius, right: x + radius, bottom: y + radius });
  }

  /** Text beside a point of the scene, on the side where it meets no other text, readable on any ground. */
  label(x: number, y: number, text: string, dx = 10, dy = -10): void {
    const point = this.at(x, y);
    if (Math.abs(point.x) > GUARD || Math.abs(point.y) > GUARD) return;
    const width = this.width(text, 12);
    const places = [dy, -dy].flatMap((down) => [
      { x: point.x + dx, y: point.y + down },
      { x: point.x - dx - width, y: point.y + down },
    ]);
    const free = places.find((place) => this.isFree(this.place(place.x, place.y, width, 12)));
    const { x: left, y: middle } = free ?? places[0];
    this.text(left, middle, text, 12);
  }

  /** Text around a pixel, unless other text or a mark is there. */
  labelIfFree(x: number, y: number, text: string, size: number): void {
    const width = this.width(text, size);
    if (this.isFree(this.place(x - width / 2, y, width, size))) this.text(x - width / 2, y, text, size);
  }

  private width(text: string, size: number): number {
    this.context.font = `${size}px system-ui, sans-serif`;
    return this.context.measureText(text).width;
  }

  private place(left: number, middle: number, width: number, size: number): Taken {
    return { left: left - 2, top: middle - size * 0.6, right: left + width + 2, bottom: middle + size * 0.6 };
  }

  private isFree(place: Taken): boolean {
    return !this.taken.some(
      ({ left, top, right, bottom }) =>
        left < place.right && right > place.left && top < place.bottom && bottom > place.top,
    );
  }

  private text(x: number, y: number, text: string, size: number): void {
    const { context } = this;
    this.taken.push(this.place(x, y, this.width(text, size), size));
    context.textAlign = 'left';
    context.textBaseline = 'middle';
    context.lineWidth = 3.5;
    context.lineJoin = 'round';
    context.strokeStyle = this.ink.paper;
    context.strokeText(text, x, y);
    context.fillStyle = this.ink.text;
    context.fillText(text, x, y);
  }

  /** The part of the line near the screen, since a canvas computes in floats. */
  private cut(a: Point, b: Point): [Point, Point] | null {
    let low = 0;
    let high = 1;
    for (const [p, q, max] of [
      [a.x, b.x, this.view.width],
      [a.y, b.y, this.view.height],
    ]) {
      if (p === q) {
        if (p < -GUARD || p > max + GUARD) return null;
        continue;
      }
      const t0 = (-GUARD - p) / (q - p);
      const t1 = (max + GUARD - p) / (q - p);
      low = Math.max(low, Math.min(t0, t1));
      high = Math.min(high, Math.max(t0, t1));
    }
    if (!(low <= high)) return null;
    const on = (t: number): Point => ({ x: a.x + (b.x - a.x) * t, y: a.y + (b.y - a.y) * t });
    return [low === 0 ? a : on(low), high === 1 ? b : on(high)];
  }
}
