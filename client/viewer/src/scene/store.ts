// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where are the polygons of a scene kept, and which of them are near a box? Page and drawing worker have a store each.
//
// A store is columns that grow. A polygon has a slot; a polygon that is replaced gets a new slot, and the store is
// compacted when most of its vertices are those of polygons that are gone. A ring is divided into runs of vertices
// with a box each, by which long rings are drawn without a visit to vertices that are out of view.
import Flatbush from 'flatbush';
import { HOLLOW, NON_ZERO, type Packed, type Shape } from './packed';

/** Number of vertices of a run. */
export const RUN = 64;
// Slots that no index holds are searched one after the other; from this number on the index is made again.
const LOOSE = 512;

export interface Box {
  minX: number;
  minY: number;
  maxX: number;
  maxY: number;
}

type Column = Float64Array | Uint32Array | Uint8Array | BigUint64Array;

/** A copy of the column with room for at least `length` entries, or the column itself. */
function grown<T extends Column>(column: T, length: number): T {
  if (length <= column.length) return column;
  const wider = new (column.constructor as new (length: number) => T)(Math.max(length, column.length * 2, 64));
  wider.set(column as never);
  return wider;
}

export class SceneStore {
  ids = new BigUint64Array(0);
  categories = new BigUint64Array(0);
  flags = new Uint8Array(0);
  alive = new Uint8Array(0);
  /** minX, minY, maxX and maxY of each slot. */
  boxes = new Float64Array(0);
  firstRing = new Uint32Array(0);
  ringCount = new Uint32Array(0);
  ringStart = new Uint32Array(0);
  ringLength = new Uint32Array(0);
  ringOpen = new Uint8Array(0);
  /** First run of each ring. */
  ringRun = new Uint32Array(0);
  /** minX, minY, maxX and maxY of each run: vertices RUN * k to RUN * (k + 1), both ends included. */
  runBoxes = new Float64Array(0);
  xy = new Float64Array(0);

  private slots = 0;
  private ringTotal = 0;
  private runTotal = 0;
  private vertexTotal = 0;
  private deadVertices = 0;
  private slotOf = new Map<bigint, number>();
  private index: Flatbush | null = null;
  private indexed = 0;

  get polygonCount(): number {
    return this.slotOf.size;
  }

  get vertexCount(): number {
    return this.vertexTotal - this.deadVertices;
  }

  /** Adds the polygons, each in place of the polygon with its id. */
  add(packed: Packed): void {
    const count = packed.ids.length;
    for (const id of packed.ids) this.remove(id);
    this.reserve(count, packed.lengths.length, packed.xy.length / 2);
    this.xy.set(packed.xy, this.vertexTotal * 2);
    let ring = 0;
    for (let i = 0; i < count; ++i) {
      const slot = this.slots++;
      this.ids[slot] = packed.ids[i];
      this.categories[slot] = packed.categories[i];
      this.flags[slot] = packed.flags[i];
      this.alive[slot] = 1;
      this.firstRing[slot] = this.ringTotal;
      this.ringCount[slot] = packed.rings[i];
      for (let k = 0; k < packed.rings[i]; ++k, ++ring) this.addRing(packed.lengths[ring], packed.open[ring]);
      this.measure(slot);
      this.slotOf.set(packed.ids[i], slot);
    }
  }

  remove(id: bigint): void {
    const slot = this.slotOf.get(id);
    if (slot === undefined) return;
    this.slotOf.delete(id);
    this.alive[slot] = 0;
    for (let k = 0; k < this.ringCount[slot]; ++k) this.deadVertices += this.ringLength[this.firstRing[slot] + k];
    if (this.deadVertices > 4096 && this.deadVertices * 2 > this.vertexTotal) this.compact();
  }

  clear(): void {
    Object.assign(this, new SceneStore());
  }

  slot(id: bigint): number | undefined {
    return this.slotOf.get(id);
  }

  /** Slots of the polygons whose boxes meet the box, in the order in which polygons were added. */
  search(box: Box): number[] {
    this.refreshIndex();
    const found = this.index
      ? this.index.search(box.minX, box.minY, box.maxX, box.maxY, (i) => this.alive[i] === 1)
      : [];
    for (let slot = this.indexed; slot < this.slots; ++slot) {
      if (this.alive[slot] && this.meets(slot, box)) found.push(slot);
    }
    return found.sort((a, b) => a - b);
  }

  meets(slot: number, box: Box): boolean {
    const at = slot * 4;
    return (
      this.boxes[at] <= box.maxX &&
      this.boxes[at + 2] >= box.minX &&
      this.boxes[at + 1] <= box.maxY &&
      this.boxes[at + 3] >= box.minY
    );
  }

  boxOf(slot: number): Box {
    const [minX, minY, maxX, maxY] = this.boxes.subarray(slot * 4, slot * 4 + 4);
    return { minX, minY, maxX, maxY };
  }

  /** The box of all polygons, or null without polygons. */
  bounds(): Box | null {
    let box: Box | null = null;
    for (let slot = 0; slot < this.slots; ++slot) {
      if (!this.alive[slot]) continue;
      const one = this.boxOf(slot);
      box = box
        ? {
            minX: Math.min(box.minX, one.minX),
            minY: Math.min(box.minY, one.minY),
            maxX: Math.max(box.maxX, one.maxX),
            maxY: Math.max(box.maxY, one.maxY),
          }
        : one;
    }
    return box;
  }

  /** Number of polygons of each category. */
  categoryCounts(): Map<bigint, number> {
    const counts = new Map<bigint, number>();
    for (const slot of this.slotOf.values()) {
      const category = this.categories[slot];
      counts.set(category, (counts.get(category) ?? 0) + 1);
    }
    return counts;
  }

  shape(id: bigint): Shape | null {
    const slot = this.slotOf.get(id);
    if (slot === undefined) return null;
    const rings = Array.from({ length: this.ringCount[slot] }, (_, k) => {
      const ring = this.firstRing[slot] + k;
      const start = this.ringStart[ring] * 2;
      return {
        xy: this.xy.slice(start, start + this.ringLength[ring] * 2),
        open: this.ringOpen[ring] === 1,
      };
    });
    const flags = this.flags[slot];
    return {
      id,
      category: this.categories[slot],
      nonZero: (flags & NON_ZERO) !== 0,
      hollow: (flags & HOLLOW) !== 0,
      rings,
    };
  }

  allIds(): bigint[] {
    return [...this.slotOf.keys()];
  }

  /** Columns of the polygons in the slots. */
  packedSlots(slots: readonly number[]): Packed {
    const rings: number[] = [];
    for (const slot of slots) {
      for (let k = 0; k < this.ringCount[slot]; ++k) rings.push(this.firstRing[slot] + k);
    }
    const xy = new Float64Array(rings.reduce((sum, ring) => sum + this.ringLength[ring] * 2, 0));
    let at = 0;
    for (const ring of rings) {
      const start = this.ringStart[ring] * 2;
      xy.set(this.xy.subarray(start, start + this.ringLength[ring] * 2), at);
      at += this.ringLength[ring] * 2;
    }
    return {
      ids: BigUint64Array.from(slots, (slot) => this.ids[slot]),
      categories: BigUint64Array.from(slots, (slot) => this.categories[slot]),
      flags: Uint8Array.from(slots, (slot) => this.flags[slot]),
      rings: Uint32Array.from(slots, (slot) => this.ringCount[slot]),
      lengths: Uint32Array.from(rings, (ring) => this.ringLength[ring]),
      open: Uint8Array.from(rings, (ring) => this.ringOpen[ring]),
      xy,
    };
  }

  /** Slots of all polygons, in the order in which they were added. */
  allSlots(): number[] {
    return [...this.slotOf.values()].sort((a, b) => a - b);
  }

  private reserve(polygons: number, rings: number, vertices: number): void {
    const slots = this.slots + polygons;
    this.ids = grown(this.ids, slots);
    this.categories = grown(this.categories, slots);
    this.flags = grown(this.flags, slots);
    this.alive = grown(this.alive, slots);
    this.boxes = grown(this.boxes, slots * 4);
    this.firstRing = grown(this.firstRing, slots);
    this.ringCount = grown(this.ringCount, slots);
    this.ringStart = grown(this.ringStart, this.ringTotal + rings);
    this.ringLength = grown(this.ringLength, this.ringTotal + rings);
    this.ringOpen = grown(this.ringOpen, this.ringTotal + rings);
    this.ringRun = grown(this.ringRun, this.ringTotal + rings);
    this.xy = grown(this.xy, (this.vertexTotal + vertices) * 2);
    this.runBoxes = grown(this.runBoxes, (this.runTotal + rings + Math.ceil(vertices / RUN)) * 4);
  }

  private addRing(length: number, open: number): void {
    const ring = this.ringTotal++;
    this.ringStart[ring] = this.vertexTotal;
    this.ringLength[ring] = length;
    this.ringOpen[ring] = open;
    this.ringRun[ring] = this.runTotal;
    for (let first = 0; first < length; first += RUN) {
      const at = this.runTotal++ * 4;
      let minX = Infinity;
      let minY = Infinity;
      let maxX = -Infinity;
      let maxY = -Infinity;
      const last = Math.min(first + RUN, length - 1);
      for (let i = first; i <= last; ++i) {
        const x = this.xy[(this.vertexTotal + i) * 2];
        const y = this.xy[(this.vertexTotal + i) * 2 + 1];
        if (x < minX) minX = x;
        if (x > maxX) maxX = x;
        if (y < minY) minY = y;
        if (y > maxY) maxY = y;
      }
      this.runBoxes[at] = minX;
      this.runBoxes[at + 1] = minY;
      this.runBoxes[at + 2] = maxX;
      this.runBoxes[at + 3] = maxY;
    }
    this.vertexTotal += length;
  }

  /** Writes the box of a slot from the boxes of its runs. */
  private measure(slot: number): void {
    const first = this.ringRun[this.firstRing[slot]];
    const box = this.boxes.subarray(slot * 4, slot * 4 + 4);
    box.set([Infinity, Infinity, -Infinity, -Infinity]);
    for (let run = first; run < this.runTotal; ++run) {
      const at = run * 4;
      box[0] = Math.min(box[0], this.runBoxes[at]);
      box[1] = Math.min(box[1], this.runBoxes[at + 1]);
      box[2] = Math.max(box[2], this.runBoxes[at + 2]);
      box[3] = Math.max(box[3], this.runBoxes[at + 3]);
    }
  }

  private refreshIndex(): void {
    if (this.slots - this.indexed <= LOOSE) return;
    this.index = new Flatbush(this.slots);
    for (let slot = 0; slot < this.slots; ++slot) {
      const at = slot * 4;
      this.index.add(this.boxes[at], this.boxes[at + 1], this.boxes[at + 2], this.boxes[at + 3]);
    }
    this.index.finish();
    this.indexed = this.slots;
  }

  private compact(): void {
    const fresh = new SceneStore();
    fresh.add(this.packedSlots(this.allSlots()));
    Object.assign(this, fresh);
  }
}
