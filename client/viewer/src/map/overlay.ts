// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is drawn above the map? Changed polygons that fade, highlighted polygons and edges, the question with its answer,
// the points that one can drag, numbers of edges, and the rulers.
import { effect } from '@preact/signals';
import { drawQuestion } from '../ask/figures';
import { toolOf } from '../ask/tools';
import { draft, drawn, editMode, vertex } from '../edit/draft';
import { drawChange, drawDraft } from '../edit/draft_figure';
import { drawFindings } from '../findings/finding_figure';
import { listed, shownFinding } from '../findings/findings';
import { ink, Pen } from '../draw/pen';
import { difference } from '../history/history';
import { formatCoordinate, roundStep, shortened, toScene, toScreen } from '../draw/view';
import { tick } from '../record/player';
import { drawTick } from '../record/record_figure';
import type { Shape } from '../scene/packed';
import {
  answer,
  cursor,
  flashes,
  handles,
  highlighted,
  isDark,
  labels,
  panel,
  question,
  revision,
  selected,
  stored,
  tool,
  view,
} from '../state/state';
import { explained } from '../why/explanation';
import { drawMemory } from '../why/memory_figure';
import { focusedHandle } from './pointer';

const FLASH_MS = 1400;
/** Height and width of the rulers. */
export const RULER = 22;
const MAX_OUTLINE = 20000;

let canvas: HTMLCanvasElement;
let context: CanvasRenderingContext2D;
let requested = false;

/** Draws the overlay again at the next frame of the browser, whenever something that it shows has changed. */
export function startOverlay(element: HTMLCanvasElement): void {
  canvas = element;
  context = canvas.getContext('2d') as CanvasRenderingContext2D;
  effect(() => {
    void [view.value, isDark.value, answer.value, question.value, handles.value, tool.value, cursor.value];
    void [flashes.value, highlighted.value, labels.value, selected.value, revision.value, focusedHandle.value];
    void [explained.value, panel.value, draft.value, drawn.value, editMode.value, vertex.value, difference.value];
    void [listed.value, shownFinding.value, tick.value];
    requestOverlay();
  });
}

export function requestOverlay(): void {
  if (requested) return;
  requested = true;
  requestAnimationFrame((now) => {
    requested = false;
    draw(now);
  });
}

function draw(now: number): void {
  const { width, height } = view.value;
  const ratio = Math.min(devicePixelRatio || 1, 2);
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const pen = new Pen(context, view.value, ink(isDark.value));
  reserveHandles(pen);
  drawFlashes(pen, now);
  drawHighlights(pen);
  drawFindings(pen);
  drawMemory(pen);
  drawTick(pen);
  if (question.value) drawQuestion(pen, question.value, answer.value);
  for (const { before, after } of difference.value?.changes ?? []) drawChange(pen, before, after);
  drawDraft(pen);
  for (const label of labels.value) {
    const at = toScreen(view.value, label.x, label.y);
    pen.labelIfFree(at.x + label.dx, at.y + label.dy, label.text, 10.5);
  }
  drawHandles(pen);
  drawRulers(pen);
}

function outline(pen: Pen, shape: Shape, colour: string, width: number, opacity: number): void {
  context.globalAlpha = opacity;
  for (const { xy, open } of shape.rings) {
    if (xy.length > MAX_OUTLINE) continue;
    const count = xy.length / 2;
    for (let i = 0; i < (open ? count - 1 : count); ++i) {
      const j = (i + 1) % count;
      pen.line(xy[i * 2], xy[i * 2 + 1], xy[j * 2], xy[j * 2 + 1], colour, width);
    }
  }
  context.globalAlpha = 1;
}

function drawFlashes(pen: Pen, now: number): void {
  let alive = false;
  for (const flash of flashes.value) {
    const left = 1 - (now - flash.at) / FLASH_MS;
    if (left <= 0) continue;
    alive = true;
    const colour = flash.removed ? pen.ink.hit : pen.ink.free;
    for (const shape of flash.shapes) outline(pen, shape, colour, 2 + 3 * left, left);
  }
  if (alive) requestOverlay();
}

function drawHighlights(pen: Pen): void {
  const store = stored.scene;
  if (!store) return;
  const { ids, edges } = highlighted.value;
  const chosen = selected.value;
  for (const id of ids.slice(0, 100)) {
    const shape = store.shape(id);
    if (shape) outline(pen, shape, pen.ink.normal, 3, 1);
  }
  if (chosen !== null) {
    const shape = store.shape(chosen);
    if (shape) outline(pen, shape, pen.ink.ask, 2, 0.9);
  }
  for (const { id, ring, edge } of edges.slice(0, 400)) {
    const xy = store.shape(id)?.rings[ring]?.xy;
    if (!xy) continue;
    const a = edge * 2;
    const b = (a + 2) % xy.length;
    pen.line(xy[a], xy[a + 1], xy[b], xy[b + 1], pen.ink.hit, 5);
  }
}

function reserveHandles(pen: Pen): void {
  const chosen = toolOf(tool.value);
  for (const { x, y } of (chosen && handles.value[chosen.id]) ?? []) {
    const at = toScreen(view.value, x, y);
    pen.reserve(at.x, at.y, 8);
  }
}

function drawHandles(pen: Pen): void {
  const chosen = toolOf(tool.value);
  const points = chosen && handles.value[chosen.id];
  if (!points) return;
  points.forEach((point, i) => {
    const at = toScreen(view.value, point.x, point.y);
    context.beginPath();
    context.arc(at.x, at.y, i === focusedHandle.value ? 9 : 7, 0, 2 * Math.PI);
    context.fillStyle = pen.ink.paper;
    context.fill();
    context.lineWidth = i === focusedHandle.value ? 3.5 : 2.5;
    context.strokeStyle = pen.ink.ask;
    context.stroke();
  });
}

function drawRulers(pen: Pen): void {
  const { width, height, scale } = view.value;
  const dark = isDark.value;
  context.fillStyle = dark ? '#1b1f26' : '#ffffff';
  context.fillRect(0, 0, width, RULER);
  context.fillRect(0, 0, RULER, height);
  context.fillStyle = dark ? '#323a46' : '#d4dae2';
  context.fillRect(0, RULER - 1, width, 1);
  context.fillRect(RULER - 1, 0, 1, height);
  const step = roundStep(scale, 90);
  context.fillStyle = dark ? '#a9b3c1' : '#4a5564';
  context.font = '10.5px system-ui, sans-serif';
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  const corner = toScene(view.value, RULER, height);
  const opposite = toScene(view.value, width, RULER);
  // Long numbers stand at every second, fifth or tenth line.
  const widest = (from: number, to: number): number =>
    Math.max(...[from, to].map((value) => context.measureText(formatCoordinate(value, 1 / step)).width)) + 10;
  ticks(corner.x, opposite.x, step, widest(corner.x, opposite.x) / (step * scale), (value, text) => {
    const at = toScreen(view.value, value, 0).x;
    context.fillRect(Math.round(at), RULER - 7, 1, 6);
    if (at + 6 + context.measureText(text).width < width) context.fillText(text, at + 4, RULER / 2);
  });
  ticks(corner.y, opposite.y, step, widest(corner.y, opposite.y) / (step * scale), (value, text) => {
    const at = toScreen(view.value, 0, value).y;
    context.fillRect(RULER - 7, Math.round(at), 6, 1);
    if (at - 6 - context.measureText(text).width < RULER) return;
    context.save();
    context.translate(RULER / 2, at - 4);
    context.rotate(-Math.PI / 2);
    context.fillText(text, 0, 0);
    context.restore();
  });
  context.fillStyle = dark ? '#1b1f26' : '#ffffff';
  context.fillRect(0, 0, RULER - 1, RULER - 1);
  const mouse = cursor.value;
  if (!mouse) return;
  const at = toScreen(view.value, mouse.x, mouse.y);
  context.fillStyle = pen.ink.hit;
  context.fillRect(Math.round(at.x), 0, 1, RULER - 1);
  context.fillRect(0, Math.round(at.y), RULER - 1, 1);
}

/** Marks the multiples of the step; those have a text that are `every` steps apart, rounded up to 1, 2, 5 or 10. */
function ticks(
  from: number,
  to: number,
  step: number,
  every: number,
  mark: (value: number, text: string) => void,
): void {
  const first = Math.ceil(from / step);
  if (!Number.isSafeInteger(first)) return;
  const each = [1, 2, 5].find((count) => count >= every) ?? 10;
  const count = Math.min(Math.floor(to / step) - first, 100);
  for (let k = 0; k <= count; ++k) {
    const value = shortened((first + k) * step, step / 1000);
    mark(value, (first + k) % each === 0 ? formatCoordinate(value, 1 / step) : '');
  }
}
