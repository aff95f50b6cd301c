// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which shape does a point that one drags describe?
import type { ShapeSpec } from './question';

/** The shape about (0, 0) of the given kind whose first vertex, or rim, is at (x, y). */
export function shapeOf(kind: string, x: number, y: number): ShapeSpec {
  const radius = Math.hypot(x, y);
  if (kind === 'disc') return { kind: 'capsule', ax: 0, ay: 0, bx: 0, by: 0, radius };
  if (kind === 'capsule') return { kind: 'capsule', ax: -x, ay: -y, bx: x, by: y, radius: radius / 2 };
  if (kind === 'box') {
    const [w, h] = [Math.abs(x), Math.abs(y)];
    return {
      kind: 'polygon',
      points: [
        [-w, -h],
        [w, -h],
        [w, h],
        [-w, h],
      ],
    };
  }
  const count = kind === 'triangle' ? 3 : 6;
  const turn = Math.atan2(y, x);
  const points = Array.from({ length: count }, (_, i): [number, number] => {
    const angle = turn + (2 * Math.PI * i) / count;
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  });
  return { kind: 'polygon', points };
}
