// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do mouse and keys do while polygons are edited?
import { roundStep, shortened, toScene, toScreen, ulp, type Point } from '../draw/view';
import { pickAt } from '../map/pick';
import { scene, selected, stored, tool, view } from '../state/state';
import {
  beginStep,
  draft,
  drawn,
  editMode,
  finishDrawing,
  insertVertex,
  moveVertex,
  redo,
  removeSelected,
  removeVertex,
  shapeNow,
  snapping,
  undo,
  vertex,
} from './draft';

const REACH = 11;
const SNAP_REACH = 9;
const MOST_VERTICES = 3000;
const MOST_HANDLES = 1500;

export const isEditing = (): boolean => tool.value === 'edit' && scene.value !== null;

/**
 * The point of the scene that the pixel stands for: a vertex near by, else a point of the grid, as chosen. `keep` has
 * the coordinates that only a vertex changes.
 */
function snapped(at: Point, except: bigint | null, keep: Partial<Point> = {}): Point {
  const chosen = snapping.value;
  const point = toScene(view.value, at.x, at.y);
  if (chosen.vertices) {
    const near = nearVertex(at, except);
    if (near) return near;
  }
  if (!chosen.grid) return { ...point, ...keep };
  const step = chosen.step > 0 ? chosen.step : roundStep(view.value.scale, 7);
  return { x: toStep(point.x, step), y: toStep(point.y, step), ...keep };
}

/** The multiple of the step nearest to x, as a short decimal where the step is one. */
function toStep(x: number, step: number): number {
  const value = Math.round(x / step) * step;
  return Number.isFinite(value) ? shortened(value, step / 1000) : x;
}

/** The coordinate x moved by so many steps, at least to the next double; x itself without a step. */
function stepped(x: number, count: number, step: number): number {
  if (count === 0) return x;
  const far = Math.max(step, ulp(x));
  return shortened(x + count * far, far / 1000);
}

function nearVertex(at: Point, except: bigint | null): Point | null {
  const store = stored.scene;
  if (!store) return null;
  const a = toScene(view.value, at.x - SNAP_REACH, at.y + SNAP_REACH);
  const b = toScene(view.value, at.x + SNAP_REACH, at.y - SNAP_REACH);
  let best: Point | null = null;
  let least = SNAP_REACH;
  let visited = 0;
  for (const slot of store.search({ minX: a.x, minY: a.y, maxX: b.x, maxY: b.y })) {
    if (store.ids[slot] === except || draft.value.get(store.ids[slot])?.after === null) continue;
    const first = store.firstRing[slot];
    for (let ring = first; ring < first + store.ringCount[slot]; ++ring) {
      visited += store.ringLength[ring];
      if (visited > MOST_VERTICES) return best;
      const start = store.ringStart[ring];
      for (let i = start; i < start + store.ringLength[ring]; ++i) {
        const [x, y] = [store.xy[i * 2], store.xy[i * 2 + 1]];
        const screen = toScreen(view.value, x, y);
        const far = Math.hypot(screen.x - at.x, screen.y - at.y);
        if (far < least) {
          least = far;
          best = { x, y };
        }
      }
    }
  }
  return best;
}

/** Calls `visit` with each vertex of the polygon that is chosen, and with the middle of each of its edges. */
export function eachHandle(
  visit: (ring: number, index: number, at: Point, isMiddle: boolean) => void,
): void {
  const id = selected.value;
  const shape = id === null ? null : shapeNow(id);
  if (!shape || shape.rings.reduce((sum, ring) => sum + ring.xy.length, 0) > MOST_HANDLES * 2) return;
  shape.rings.forEach(({ xy, open }, ring) => {
    const count = xy.length / 2;
    for (let i = 0; i < count; ++i) {
      const a = toScreen(view.value, xy[i * 2], xy[i * 2 + 1]);
      visit(ring, i, a, false);
      if (open && i === count - 1) continue;
      const j = (i + 1) % count;
      const b = toScreen(view.value, xy[j * 2], xy[j * 2 + 1]);
      if (Math.hypot(b.x - a.x, b.y - a.y) > 36) visit(ring, i, { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 }, true);
    }
  });
}

let drag: { ring: number; index: number; moved: boolean; from: Point | null } | null = null;
let pressed: Point | null = null;

/** Returns whether the press belongs to the edit; if not, the map moves. */
export function draftDown(at: Point, event: PointerEvent): boolean {
  pressed = at;
  if (editMode.value === 'draw') return true;
  const found: { ring: number; index: number; at: Point; isMiddle: boolean }[] = [];
  eachHandle((ring, index, place, isMiddle) => {
    if (Math.hypot(place.x - at.x, place.y - at.y) < REACH) found.push({ ring, index, at: place, isMiddle });
  });
  const hit = found.find(({ isMiddle }) => !isMiddle) ?? found[0];
  if (hit) {
    if (hit.isMiddle) {
      const point = snapped(at, selected.value);
      insertVertex(hit.ring, hit.index, point.x, point.y);
      drag = { ring: hit.ring, index: hit.index + 1, moved: true, from: null };
    } else {
      vertex.value = { ring: hit.ring, index: hit.index };
      const xy = shapeNow(selected.value ?? 0n)?.rings[hit.ring].xy;
      const from = xy ? { x: xy[hit.index * 2], y: xy[hit.index * 2 + 1] } : null;
      drag = { ring: hit.ring, index: hit.index, moved: false, from };
    }
    return true;
  }
  return event.shiftKey;
}

export function draftMove(at: Point, _event: PointerEvent, dragging: boolean): void {
  if (!dragging || !drag || !pressed) return;
  if (!drag.moved) {
    if (Math.hypot(at.x - pressed.x, at.y - pressed.y) < 3) return;
    beginStep();
    drag.moved = true;
  }
  // A drag along one axis leaves the other coordinate as it is.
  const keep: Partial<Point> = {};
  if (drag.from && at.x === pressed.x) keep.x = drag.from.x;
  if (drag.from && at.y === pressed.y) keep.y = drag.from.y;
  const point = snapped(at, selected.value, keep);
  moveVertex(drag.ring, drag.index, point.x, point.y, false);
}

export function draftUp(at: Point): void {
  const isClick = pressed !== null && Math.hypot(at.x - pressed.x, at.y - pressed.y) < 5;
  if (editMode.value === 'draw' && isClick) addPoint(at);
  drag = null;
  pressed = null;
}

/** A click that is no press of a handle: chooses a polygon. */
export function draftClick(at: Point): void {
  vertex.value = null;
  void pickAt(toScene(view.value, at.x, at.y));
}

function addPoint(at: Point): void {
  const points = drawn.value;
  if (points.length >= 3) {
    const first = toScreen(view.value, points[0].x, points[0].y);
    if (Math.hypot(first.x - at.x, first.y - at.y) < REACH) return finishDrawing();
  }
  drawn.value = [...points, snapped(at, null)];
}

/** Moves on to the next vertex of the polygon that is chosen. */
function nextVertex(by: number): void {
  const id = selected.value;
  const shape = id === null ? null : shapeNow(id);
  if (!shape) return;
  const all = shape.rings.flatMap(({ xy }, ring) => Array.from({ length: xy.length / 2 }, (_, index) => ({ ring, index })));
  const now = all.findIndex(({ ring, index }) => ring === vertex.value?.ring && index === vertex.value.index);
  vertex.value = all[(now + by + all.length) % all.length];
}

function nudge(dx: number, dy: number): boolean {
  const at = vertex.value;
  const id = selected.value;
  const shape = id === null ? null : shapeNow(id);
  if (!at || !shape) return false;
  const { grid, step: chosen } = snapping.value;
  const step = chosen > 0 ? chosen : grid ? roundStep(view.value.scale, 7) : 1 / view.value.scale;
  const xy = shape.rings[at.ring].xy;
  const [x, y] = [xy[at.index * 2], xy[at.index * 2 + 1]];
  moveVertex(at.ring, at.index, stepped(x, dx, step), stepped(y, dy, step), true);
  return true;
}

/** Keys while the tool is chosen. Returns whether the key was used. */
export function editKey(event: KeyboardEvent): boolean {
  const control = event.ctrlKey || event.metaKey;
  const key = event.key.toLowerCase();
  if (control && key === 'z') {
    if (event.shiftKey) redo();
    else undo();
    return true;
  }
  if (control && key === 'y') {
    redo();
    return true;
  }
  if (control || event.altKey || document.activeElement?.id !== 'map') return false;
  const drawing = editMode.value === 'draw';
  const arrows: Record<string, [number, number]> = {
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
    ArrowUp: [0, 1],
    ArrowDown: [0, -1],
  };
  const arrow = arrows[event.key];
  if (arrow) return !drawing && nudge(arrow[0] * (event.shiftKey ? 10 : 1), arrow[1] * (event.shiftKey ? 10 : 1));
  if (event.key === 'Enter') {
    if (drawing) finishDrawing();
    else nextVertex(event.shiftKey ? -1 : 1);
    return true;
  }
  if (event.key === ' ') {
    const { width, height } = view.value;
    if (drawing) drawn.value = [...drawn.value, snapped({ x: width / 2, y: height / 2 }, null)];
    else void pickAt(toScene(view.value, width / 2, height / 2));
    return true;
  }
  if (event.key === 'Delete' || event.key === 'Backspace') {
    if (drawing) drawn.value = drawn.value.slice(0, -1);
    else if (vertex.value) removeVertex();
    else removeSelected();
    return true;
  }
  if (event.key === 'Escape' && (drawing || vertex.value)) {
    drawn.value = [];
    vertex.value = null;
    editMode.value = 'change';
    return true;
  }
  return false;
}
