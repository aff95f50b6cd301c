// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

import type { Core } from './core.js';
import { STRUCTS } from './generated/layout.js';
import { Polygons } from './polygons.js';

const POLYGON = STRUCTS.carom_polygon;
const RING = STRUCTS.carom_ring;
const SOLIDITIES = ['solid', 'solid', 'boundary'] as const;
const FILL_RULES = ['even_odd', 'even_odd', 'non_zero'] as const;

/** Returns the polygons of a scene, in ascending order of their ids. */
export function readPolygons(core: Core, scene: number, count: number): Polygons {
  const { memory } = core;
  const polygon = core.allocate(POLYGON.size + RING.size);
  const ring = polygon + POLYGON.size;
  const ids = new BigUint64Array(count);
  const categories = new BigUint64Array(count);
  const ringCount = new Uint32Array(count);
  const x: number[] = [];
  const y: number[] = [];
  const sizes: number[] = [];
  const open: boolean[] = [];
  const userData: Uint8Array[] = [];
  const solidity: ('solid' | 'boundary')[] = [];
  const fillRule: ('even_odd' | 'non_zero')[] = [];
  const word = (address: number): number => memory.u32[address >>> 2] as number;
  try {
    for (let i = 0; i < count; ++i) {
      memory.u32[polygon >>> 2] = POLYGON.size;
      core.check('carom_scene_polygon', scene, i, polygon);
      const at = POLYGON.at;
      ids[i] = memory.u64[(polygon + at.id) >>> 3] as bigint;
      categories[i] = memory.u64[(polygon + at.category) >>> 3] as bigint;
      solidity.push(SOLIDITIES[word(polygon + at.solidity)] ?? 'solid');
      fillRule.push(FILL_RULES[word(polygon + at.fill_rule)] ?? 'even_odd');
      const data = word(polygon + at.user_data);
      userData.push(memory.u8.slice(data, data + word(polygon + at.user_data_size)));
      ringCount[i] = word(polygon + at.ring_count);
      for (let j = 0; j < (ringCount[i] as number); ++j) {
        memory.u32[ring >>> 2] = RING.size;
        core.check('carom_scene_ring', scene, i, j, ring);
        open.push(word(ring + RING.at.open) === 1);
        const xs = memory.copyColumn('f64', ring + RING.at.x) as Float64Array;
        const ys = memory.copyColumn('f64', ring + RING.at.y) as Float64Array;
        sizes.push(xs.length);
        for (const value of xs) x.push(value);
        for (const value of ys) y.push(value);
      }
    }
  } finally {
    core.free(polygon);
  }
  const columns = { x: Float64Array.from(x), y: Float64Array.from(y), ringSize: Uint32Array.from(sizes), ringCount };
  return new Polygons(columns, { ids, categories, open, solidity, fillRule, userData });
}
