// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are edits drawn that are not committed? What was is dashed, what is to be has an area.
import type { Pen } from '../draw/pen';
import type { Shape } from '../scene/packed';
import { selected, stored, tool } from '../state/state';
import { conflicts, draft, drawn, editMode, sameShape, vertex } from './draft';
import { eachHandle } from './draft_pointer';

function lines(pen: Pen, shape: Shape, colour: string, width: number, dash: number[]): void {
  for (const { xy, open } of shape.rings) {
    if (xy.length > 20000) continue;
    for (let i = 0; i < (open ? xy.length - 2 : xy.length); i += 2) {
      const j = (i + 2) % xy.length;
      pen.line(xy[i], xy[i + 1], xy[j], xy[j + 1], colour, width, dash);
    }
  }
}

/** Both sides of edits: red and dashed what was, green what is to be. */
export function drawChange(pen: Pen, before: Shape | null, after: Shape | null): void {
  if (before && !sameShape(before, after)) lines(pen, before, pen.ink.hit, 2, [6, 4]);
  if (!after) return;
  for (const { xy, open } of after.rings) {
    if (open || xy.length > 20000) continue;
    const points = Array.from({ length: xy.length / 2 }, (_, i) => ({ x: xy[i * 2], y: xy[i * 2 + 1] }));
    pen.area(points, pen.ink.free, [], after.hollow ? 0 : 0.2);
  }
  lines(pen, after, pen.ink.free, 2, []);
}

export function drawDraft(pen: Pen): void {
  for (const { before, after } of draft.value.values()) drawChange(pen, before, after);
  // Where the server has changed an edited polygon, its side is drawn, too.
  if (draft.value.size > 0) {
    for (const id of conflicts(draft.value)) {
      const theirs = stored.scene?.shape(id);
      if (theirs) lines(pen, theirs, pen.ink.normal, 3.5, []);
    }
  }
  if (tool.value !== 'edit') return;
  const points = drawn.value;
  if (editMode.value === 'draw' && points.length > 0) {
    pen.chain(points, pen.ink.free, 2);
    points.forEach((point, i) => pen.dot(point.x, point.y, i === 0 ? pen.ink.hit : pen.ink.free));
  }
  if (selected.value !== null && editMode.value === 'change') drawHandles(pen);
}

function drawHandles(pen: Pen): void {
  const { context, ink } = pen;
  const focus = vertex.value;
  eachHandle((ring, index, at, isMiddle) => {
    const focused = !isMiddle && focus?.ring === ring && focus.index === index;
    const size = focused ? 6 : isMiddle ? 3 : 4.5;
    context.beginPath();
    if (isMiddle) context.arc(at.x, at.y, size, 0, 2 * Math.PI);
    else context.rect(at.x - size, at.y - size, size * 2, size * 2);
    context.fillStyle = focused ? ink.hit : ink.paper;
    context.globalAlpha = isMiddle ? 0.75 : 1;
    context.fill();
    context.lineWidth = isMiddle ? 1 : 1.75;
    context.strokeStyle = ink.ask;
    context.stroke();
    context.globalAlpha = 1;
  });
}
