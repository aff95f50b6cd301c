// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are findings drawn on the map? Pockets shaded, gaps with their width, crossings as crosses, others as points.
import { short } from '../ask/figures';
import type { Pen } from '../draw/pen';
import { panel } from '../state/state';
import { listed, mover, shownFinding, type Finding } from './findings';

const MOST = 3000;

function cross(pen: Pen, { at }: Finding, size: number): void {
  const { x, y } = pen.at(at.x, at.y);
  if (x < -20 || y < -20 || x > pen.view.width + 20 || y > pen.view.height + 20) return;
  const { context } = pen;
  context.strokeStyle = pen.ink.hit;
  context.lineWidth = 2.5;
  context.beginPath();
  context.moveTo(x - size, y - size);
  context.lineTo(x + size, y + size);
  context.moveTo(x - size, y + size);
  context.lineTo(x + size, y - size);
  context.stroke();
}

export function drawFindings(pen: Pen): void {
  if (panel.value !== 'findings') return;
  const disc = mover();
  if (disc) pen.capsule(disc.from.x, disc.from.y, disc.from.x, disc.from.y, disc.radius, pen.ink.free);
  listed.value.slice(0, MOST).forEach((found, i) => {
    const chosen = i === shownFinding.value;
    if (found.kind === 'POCKET') {
      pen.area(found.outline, pen.ink.normal, [5, 4], chosen ? 0.45 : 0.28);
    } else if (found.kind === 'GAP' || found.kind === 'NEAR_JUNCTION') {
      pen.line(found.at.x, found.at.y, found.other.x, found.other.y, pen.ink.hit, chosen ? 5 : 3);
      pen.dot(found.at.x, found.at.y, pen.ink.hit, 3.5);
      pen.dot(found.other.x, found.other.y, pen.ink.hit, 3.5);
      if (chosen) pen.label((found.at.x + found.other.x) / 2, (found.at.y + found.other.y) / 2, short(found.measure));
    } else if (found.kind === 'CROSSING') {
      cross(pen, found, chosen ? 9 : 5.5);
    } else {
      pen.dot(found.at.x, found.at.y, pen.ink.hit, chosen ? 7 : 4.5);
    }
  });
}
