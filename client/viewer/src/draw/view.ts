// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where on the screen is a point of the scene, and where in the scene is a pixel?
//
// Positions are taken relative to the centre of the view before they are scaled, so that a scene with coordinates of
// 2^53 and of 1e-30 is drawn without an error that grows with the zoom: x - cx is exact for x near cx. The centre is a
// double; what a pan moves by less than an ulp of the centre is kept in pixels.
import type { Box } from '../scene/store';

/** What part of the scene is on the screen. Sizes are in pixels of CSS. */
export interface View {
  /** The point of the scene at the middle of the screen. */
  cx: number;
  cy: number;
  /** Distance on the screen, to the right and down, from the middle of the screen to (cx, cy). */
  px: number;
  py: number;
  /** Pixels per unit of length. */
  scale: number;
  width: number;
  height: number;
}

export interface Point {
  x: number;
  y: number;
}

const MIN_SCALE = 1e-14;
const MAX_SCALE = 1e40;
/** At the closest zoom, neighbouring doubles are this many pixels apart. */
const PIXELS_PER_ULP = 64;

/** The distance from |x| to the next double. */
export function ulp(x: number): number {
  const magnitude = Math.abs(x);
  if (magnitude < 2 ** -1000) return 2 ** -1052;
  const exponent = Math.floor(Math.log2(magnitude));
  // The logarithm of a number below a power of two may be rounded up.
  return 2 ** (exponent - (2 ** exponent > magnitude ? 53 : 52));
}

export function toScreen(view: View, x: number, y: number): Point {
  return {
    x: (x - view.cx) * view.scale + view.px + view.width / 2,
    y: (view.cy - y) * view.scale + view.py + view.height / 2,
  };
}

export function toScene(view: View, x: number, y: number): Point {
  return {
    x: view.cx + (x - view.px - view.width / 2) / view.scale,
    y: view.cy - (y - view.py - view.height / 2) / view.scale,
  };
}

/** The part of the scene that is on the screen, with a margin in pixels. */
export function visibleBox(view: View, margin = 0): Box {
  const a = toScene(view, -margin, view.height + margin);
  const b = toScene(view, view.width + margin, -margin);
  return { minX: a.x, minY: a.y, maxX: b.x, maxY: b.y };
}

/** Moves the centre to the point that is drawn in the middle, and keeps what the centre cannot express in px and py. */
function recentred(view: View): View {
  const cx = view.cx - view.px / view.scale;
  const cy = view.cy + view.py / view.scale;
  return {
    ...view,
    cx,
    cy,
    px: view.px + (cx - view.cx) * view.scale,
    py: view.py - (cy - view.cy) * view.scale,
  };
}

/** The view after the scene has moved by so many pixels to the right and down. */
export function panned(view: View, dx: number, dy: number): View {
  return recentred({ ...view, px: view.px + dx, py: view.py + dy });
}

/** The view after a zoom by `factor`, with the point at the pixel (x, y) kept in its place. */
export function zoomed(view: View, factor: number, x: number, y: number): View {
  const closest = Math.min(MAX_SCALE, PIXELS_PER_ULP / Math.max(ulp(view.cx), ulp(view.cy)));
  const scale = Math.min(Math.max(view.scale * factor, MIN_SCALE), Math.max(closest, MIN_SCALE));
  const by = scale / view.scale;
  const fromX = x - view.width / 2;
  const fromY = y - view.height / 2;
  return recentred({
    ...view,
    scale,
    px: fromX - (fromX - view.px) * by,
    py: fromY - (fromY - view.py) * by,
  });
}

/** Pixels at the sides of the map that rulers and legend cover. */
const COVERED = { left: 22, top: 22, right: 0, bottom: 48 };

/** The view in which the box fills what is free of the screen, with a margin. */
export function fitted(view: View, box: Box): View {
  const width = box.maxX - box.minX;
  const height = box.maxY - box.minY;
  const cx = box.minX + width / 2;
  const cy = box.minY + height / 2;
  const freeWidth = view.width - COVERED.left - COVERED.right;
  const freeHeight = view.height - COVERED.top - COVERED.bottom;
  const margin = Math.min(24, view.width / 8, view.height / 8);
  const fits = Math.min((freeWidth - 2 * margin) / width, (freeHeight - 2 * margin) / height);
  const alone = 100 / Math.max(1, Math.abs(cx), Math.abs(cy));
  const scale = Number.isFinite(fits) && fits > 0 ? fits : alone;
  return recentred({
    ...view,
    cx,
    cy,
    px: (COVERED.left - COVERED.right) / 2,
    py: (COVERED.top - COVERED.bottom) / 2,
    scale: Math.min(Math.max(scale, MIN_SCALE), MAX_SCALE),
  });
}

/** A round length of the scene, 1, 2 or 5 times a power of ten, that is at least `pixels` long on the screen. */
export function roundStep(scale: number, pixels: number): number {
  const least = pixels / scale;
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((k) => k * power).find((step) => step >= least * (1 - 1e-9)) ?? 10 * power;
}

/** The double with at most 15 digits nearest to x if it is not farther from x than `within`, else x. */
export function shortened(x: number, within: number): number {
  const short = Number(x.toPrecision(15));
  return Math.abs(short - x) <= within ? short : x;
}

/** A coordinate as text with digits enough to tell it from one that is 1 / scale away. */
export function formatCoordinate(x: number, scale: number): string {
  // Of the decimals and of all digits; 17 digits tell all doubles apart.
  const decimals = Math.ceil(Math.log10(Math.max(scale, 1e-300)) - 1e-9);
  const magnitude = Math.abs(x);
  if (magnitude === 0) return (0).toFixed(Math.min(Math.max(decimals, 0), 15));
  const digits = Math.min(Math.max(Math.floor(Math.log10(magnitude)) + 1 + decimals, 1), 17);
  if (magnitude < 1e-3 && decimals > 12) return x.toExponential(digits - 1);
  const plain = x.toFixed(Math.min(Math.max(decimals, 0), 20));
  const exponential = x.toExponential(digits - 1);
  return magnitude >= 1e15 && exponential.length < plain.length ? exponential : plain;
}
