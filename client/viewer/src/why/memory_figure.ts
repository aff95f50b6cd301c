// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How is the memory of a tracker drawn? The quiet ball, the ball of the influence mask, and the polygons of the mask.
import type { Pen } from '../draw/pen';
import { panel, stored, tool } from '../state/state';
import { explained } from './explanation';
import { moves } from './tracker';

export function drawMemory(pen: Pen): void {
  const shown = explained.value;
  if (tool.value !== 'tracker' || panel.value !== 'why' || shown.state !== 'ready') return;
  const memory = shown.value.memory;
  const path = moves.value;
  pen.chain(path.slice(-120), pen.ink.ask, 1.25, [2, 3]);
  if (!memory) return;
  const { maskX = 0, maskY = 0, maskRadius = -1, ballX = 0, ballY = 0, ballRadius2 = -1, knownRadius = 0 } = memory;
  for (const id of memory.neighbors ?? []) {
    const shape = stored.scene?.shape(BigInt(id));
    for (const { xy, open } of shape?.rings ?? []) {
      if (xy.length > 4000) continue;
      for (let i = 0; i < (open ? xy.length - 2 : xy.length); i += 2) {
        const j = (i + 2) % xy.length;
        pen.line(xy[i], xy[i + 1], xy[j], xy[j + 1], pen.ink.normal, 3);
      }
    }
  }
  if (knownRadius > 0) pen.capsule(maskX, maskY, maskX, maskY, knownRadius, pen.ink.normal, [2, 5]);
  if (maskRadius >= 0) {
    pen.capsule(maskX, maskY, maskX, maskY, maskRadius, pen.ink.normal, [7, 4]);
    pen.label(maskX, maskY - maskRadius, 'mask holds', 6, 12);
  }
  if (ballRadius2 >= 0) {
    const radius = Math.sqrt(ballRadius2);
    pen.capsule(ballX, ballY, ballX, ballY, radius, pen.ink.free, [4, 3]);
    pen.label(ballX, ballY + radius, 'quiet', 6, -8);
  }
}
