// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do mouse, fingers and keys do on the map? They move the view, drag points of the tool, and choose polygons.
import { signal } from '@preact/signals';
import { toolOf } from '../ask/tools';
import { panned, toScene, toScreen, zoomed, type Point } from '../draw/view';
import { draftClick, draftDown, draftMove, draftUp, isEditing } from '../edit/draft_pointer';
import { pickAt } from './pick';
import { cursor, handles, selected, tool, view } from '../state/state';

const REACH = 14;
const KEY_PAN = 60;
const KEY_ZOOM = 1.25;

/** The point of the tool that keys move; -1: none. */
export const focusedHandle = signal(-1);

type Drag =
  | { kind: 'pan'; x: number; y: number; moved: number }
  | { kind: 'handle'; index: number; dx: number; dy: number }
  | { kind: 'draft' };

let drag: Drag | null = null;
const fingers = new Map<number, Point>();

function handleAt(x: number, y: number): number {
  const points = handles.value[tool.value];
  if (!points || !toolOf(tool.value)) return -1;
  let best = -1;
  let least = REACH;
  points.forEach((point, i) => {
    const at = toScreen(view.value, point.x, point.y);
    const far = Math.hypot(at.x - x, at.y - y);
    if (far < least) {
      least = far;
      best = i;
    }
  });
  return best;
}

/** Moves a point of the tool, and those that move along with it. */
export function moveHandle(index: number, x: number, y: number): void {
  const chosen = toolOf(tool.value);
  const points = chosen && handles.value[chosen.id];
  if (!chosen || !points?.[index]) return;
  const [dx, dy] = [x - points[index].x, y - points[index].y];
  const along = chosen.along?.(index) ?? [];
  const next = points.map((point, i) => {
    if (i === index) return { x, y };
    return along.includes(i) ? { x: point.x + dx, y: point.y + dy } : point;
  });
  handles.value = { ...handles.value, [chosen.id]: next };
}

function position(event: PointerEvent | WheelEvent, element: HTMLElement): Point {
  const box = element.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

function down(event: PointerEvent, element: HTMLElement): void {
  const at = position(event, element);
  element.setPointerCapture(event.pointerId);
  fingers.set(event.pointerId, at);
  if (fingers.size > 1) {
    drag = null;
    return;
  }
  const index = event.button === 0 ? handleAt(at.x, at.y) : -1;
  if (index >= 0) {
    const point = handles.value[tool.value][index];
    const screen = toScreen(view.value, point.x, point.y);
    drag = { kind: 'handle', index, dx: screen.x - at.x, dy: screen.y - at.y };
    focusedHandle.value = index;
  } else if (event.button === 0 && isEditing() && draftDown(at, event)) {
    drag = { kind: 'draft' };
  } else {
    drag = { kind: 'pan', x: at.x, y: at.y, moved: 0 };
  }
}

function move(event: PointerEvent, element: HTMLElement): void {
  const at = position(event, element);
  cursor.value = toScene(view.value, at.x, at.y);
  const before = fingers.get(event.pointerId);
  if (before && fingers.size === 2) {
    pinch(event.pointerId, before, at);
    return;
  }
  if (before) fingers.set(event.pointerId, at);
  if (!drag) {
    if (isEditing()) draftMove(at, event, false);
    element.style.cursor = handleAt(at.x, at.y) >= 0 ? 'move' : isEditing() ? 'crosshair' : 'grab';
  } else if (drag.kind === 'pan') {
    view.value = panned(view.value, at.x - drag.x, at.y - drag.y);
    drag.moved += Math.hypot(at.x - drag.x, at.y - drag.y);
    drag.x = at.x;
    drag.y = at.y;
    element.style.cursor = 'grabbing';
  } else if (drag.kind === 'handle') {
    const to = toScene(view.value, at.x + drag.dx, at.y + drag.dy);
    moveHandle(drag.index, to.x, to.y);
  } else {
    draftMove(at, event, true);
  }
}

/** Two fingers: the points below them stay below them. */
function pinch(id: number, before: Point, at: Point): void {
  const [other] = [...fingers].filter(([finger]) => finger !== id).map(([, point]) => point);
  const factor = Math.hypot(at.x - other.x, at.y - other.y) / Math.hypot(before.x - other.x, before.y - other.y);
  if (Number.isFinite(factor) && factor > 0) view.value = zoomed(view.value, factor, other.x, other.y);
  view.value = panned(view.value, (at.x - before.x) / 2, (at.y - before.y) / 2);
  fingers.set(id, at);
}

function up(event: PointerEvent, element: HTMLElement): void {
  const at = position(event, element);
  fingers.delete(event.pointerId);
  if (drag?.kind === 'draft') draftUp(at);
  if (drag?.kind === 'pan' && drag.moved < 4 && event.type === 'pointerup') {
    if (isEditing()) draftClick(at);
    else void pickAt(toScene(view.value, at.x, at.y));
  }
  drag = null;
}

function wheel(event: WheelEvent, element: HTMLElement): void {
  event.preventDefault();
  const at = position(event, element);
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    view.value = panned(view.value, -(event.deltaX || event.deltaY), 0);
    return;
  }
  const lines = event.deltaMode === 1 ? 18 : 1;
  view.value = zoomed(view.value, Math.exp(-event.deltaY * lines * 0.0016), at.x, at.y);
}

/** Keys of the map while it has the focus: arrows, + and -, Tab through the points. Returns whether the key was used. */
export function mapKey(event: KeyboardEvent): boolean {
  const { width, height } = view.value;
  const far = event.shiftKey ? 4 : 1;
  const steps: Record<string, [number, number]> = {
    ArrowLeft: [1, 0],
    ArrowRight: [-1, 0],
    ArrowUp: [0, 1],
    ArrowDown: [0, -1],
  };
  const step = steps[event.key];
  const index = focusedHandle.value;
  const point = handles.value[tool.value]?.[index];
  if (step && point && toolOf(tool.value)) {
    const pixels = event.shiftKey ? 10 : 1;
    const at = toScreen(view.value, point.x, point.y);
    const to = toScene(view.value, at.x - step[0] * pixels, at.y - step[1] * pixels);
    moveHandle(index, step[0] === 0 ? point.x : to.x, step[1] === 0 ? point.y : to.y);
    return true;
  }
  if (step) {
    view.value = panned(view.value, step[0] * KEY_PAN * far, step[1] * KEY_PAN * far);
    return true;
  }
  if (event.key === '+' || event.key === '=') {
    view.value = zoomed(view.value, KEY_ZOOM, width / 2, height / 2);
    return true;
  }
  if (event.key === '-' || event.key === '_') {
    view.value = zoomed(view.value, 1 / KEY_ZOOM, width / 2, height / 2);
    return true;
  }
  if (event.key === 'Enter' && toolOf(tool.value)) {
    const count = handles.value[tool.value]?.length ?? 0;
    focusedHandle.value = count > 0 ? (index + 1) % count : -1;
    return true;
  }
  if (event.key === 'Escape' && (index >= 0 || selected.value !== null)) {
    focusedHandle.value = -1;
    selected.value = null;
    return true;
  }
  return false;
}

export function startPointer(element: HTMLElement): void {
  element.addEventListener('pointerdown', (event) => down(event, element));
  element.addEventListener('pointermove', (event) => move(event, element));
  element.addEventListener('pointerup', (event) => up(event, element));
  element.addEventListener('pointercancel', (event) => up(event, element));
  element.addEventListener('pointerleave', () => {
    if (!drag) cursor.value = null;
  });
  element.addEventListener('wheel', (event) => wheel(event, element), { passive: false });
}
