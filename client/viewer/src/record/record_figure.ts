// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Draws a tick of a recording above the map.
import type { Pen } from '../draw/pen';
import { panel } from '../state/state';
import type { Mark } from './marks';
import { tick } from './player';

const DASH = [6, 4];

function drawMark(pen: Pen, mark: Mark): void {
  switch (mark.type) {
    case 'line':
      for (let i = 0; i + 3 < mark.points.length; i += 2) {
        const [ax, ay, bx, by] = mark.points.slice(i, i + 4);
        pen.line(ax, ay, bx, by, pen.ink[mark.ink], mark.width, mark.dashed ? DASH : []);
      }
      break;
    case 'area': {
      const points = Array.from({ length: mark.points.length / 2 }, (_, i) => ({
        x: mark.points[2 * i],
        y: mark.points[2 * i + 1],
      }));
      pen.area(points, pen.ink[mark.ink], mark.dashed ? DASH : []);
      break;
    }
    case 'capsule':
      pen.capsule(...mark.ends, mark.radius, pen.ink[mark.ink], mark.dashed ? DASH : []);
      break;
    case 'dot':
      pen.dot(mark.x, mark.y, pen.ink[mark.ink], 3.5);
      break;
    default:
      pen.label(mark.x, mark.y, mark.text, 8, -8);
  }
}

export function drawTick(pen: Pen): void {
  const shown = tick.value;
  if (shown === null || panel.value !== 'record') return;
  for (const mark of shown.marks) drawMark(pen, mark);
}
