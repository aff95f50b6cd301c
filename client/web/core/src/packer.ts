// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Arguments become structs of carom.h in the memory of a module.

import { type Column, type TypedArray } from './columns.js';
import type { Core } from './core.js';
import { STRUCTS } from './generated/layout.js';
import { Handle } from './handle.js';
import type { Polygons } from './polygons.js';
import type { Arguments, Description } from './question.js';
import type { Shapes } from './shapes.js';

const aligned = (bytes: number): number => Math.ceil(bytes / 8) * 8;

/** Memory for the structs and columns of one call at a time, which grows and is used again. */
export class Packer {
  private readonly core: Core;
  private begin = 0;
  private size = 0;
  private used = 0;
  private readonly shapes = new WeakMap<Shapes, Handle>();

  constructor(core: Core) {
    this.core = core;
  }

  /** Makes room for one call. What was packed before is overwritten. */
  start(bytes: number): void {
    this.used = 0;
    if (bytes <= this.size) return;
    if (this.begin !== 0) this.core.free(this.begin);
    this.begin = this.size = 0;
    const size = Math.max(4096, bytes + aligned(bytes / 4));
    this.begin = this.core.allocate(size);
    this.size = size;
  }

  /** Gives room that a large call took back. */
  private take(bytes: number): number {
    const at = this.begin + this.used;
    this.used += aligned(bytes);
    return at;
  }

  /** The bytes that `pack` takes. */
  bytesOf(asked: Arguments): number {
    let bytes = aligned(asked.kind.question.size);
    for (const column of asked.columns) {
      if (column !== null && this.placeOf(column) === 0) bytes += aligned(bytesOfColumn(column));
    }
    return bytes;
  }

  /** The address of a column that is in the memory of the module, else 0. */
  private placeOf(column: TypedArray | Column): number {
    const array = ArrayBuffer.isView(column) ? column : column.array;
    return array.buffer === this.core.memory.buffer ? array.byteOffset : 0;
  }

  /** Writes the struct of arguments, whose room `start` made. Returns its address. */
  pack(asked: Arguments, shapes: number): number {
    const { question } = asked.kind;
    const base = this.take(question.size);
    const memory = this.core.memory;
    const words = memory.u32;
    const first = base >>> 2;
    words.fill(0, first, first + (question.size >>> 2));
    words[first] = question.size;
    if (question.shapes >= 0) words[(base + question.shapes) >>> 2] = shapes;
    question.options.forEach((option, i) => {
      const value = asked.options[i] as number | bigint;
      if (option.type === 'u32') words[(base + option.offset) >>> 2] = value as number;
      else if (option.type === 'u64') memory.u64[(base + option.offset) >>> 3] = value as bigint;
      else memory.f64[(base + option.offset) >>> 3] = value as number;
    });
    for (let i = 0; i < question.columns.length; ++i) {
      const array = asked.array(i);
      if (array === null || array.length === 0) continue;
      const at = (base + (question.columns[i] as { offset: number }).offset) >>> 2;
      words[at] = this.copy(array);
      words[at + 1] = array.length;
      words[at + 2] = 1;
    }
    return base;
  }

  /** Copies an array, unless it is in the memory already. Returns its address. */
  private copy(array: TypedArray): number {
    if (array.buffer === this.core.memory.buffer) return array.byteOffset;
    const at = this.take(array.byteLength);
    const { memory } = this.core;
    if (array instanceof Float64Array) memory.f64.set(array, at >>> 3);
    else if (array instanceof Uint32Array) memory.u32.set(array, at >>> 2);
    else if (array instanceof BigUint64Array) memory.u64.set(array, at >>> 3);
    else memory.u8.set(array, at);
    return at;
  }

  /** Writes a struct with columns of this package and pointers, by their names in carom.h. Returns its address. */
  packStruct(
    name: keyof typeof STRUCTS,
    columns: Readonly<Record<string, TypedArray>>,
    numbers: Readonly<Record<string, number>> = {},
  ): number {
    const { size, at } = STRUCTS[name] as { size: number; at: Readonly<Record<string, number>> };
    let bytes = aligned(size);
    for (const array of Object.values(columns)) bytes += aligned(array.byteLength);
    this.start(bytes);
    const base = this.take(size);
    const words = this.core.memory.u32;
    words.fill(0, base >>> 2, (base + size) >>> 2);
    words[base >>> 2] = size;
    for (const [path, array] of Object.entries(columns)) {
      if (array.length === 0) continue;
      const place = (base + (at[path] as number)) >>> 2;
      words[place] = this.copy(array);
      words[place + 1] = array.length;
      words[place + 2] = 1;
    }
    for (const [path, value] of Object.entries(numbers)) words[(base + (at[path] as number)) >>> 2] = value;
    return base;
  }

  polygonSet(polygons: Polygons): Handle {
    const block = this.packStruct('carom_polygons', {
      id: polygons.id,
      ring_count: polygons.ringCount,
      ring_size: polygons.ringSize,
      x: polygons.x,
      y: polygons.y,
      open: polygons.open,
      fill_rule: polygons.fillRule,
      solidity: polygons.solidity,
      category: polygons.category,
      user_data_size: polygons.userDataSize,
      user_data: polygons.userData,
    });
    return this.core.make('carom_polygon_set_create', 'polygons', 'carom_polygon_set_destroy', block, 0);
  }

  /** The shapes as the module has them, made at the first use. */
  shapesHandle(shapes: Shapes): number {
    let handle = this.shapes.get(shapes);
    if (handle === undefined) {
      const polygons = shapes.polygons.length > 0 ? this.polygonSet(shapes.polygons) : null;
      try {
        const capsules = shapes.capsules.radius.length > 0 ? this.packStruct('carom_capsules', shapes.capsules) : 0;
        const set = polygons?.address ?? 0;
        handle = this.core.make('carom_shapes_create', 'shapes', 'carom_shapes_destroy', set, capsules);
      } finally {
        polygons?.dispose();
      }
      this.shapes.set(shapes, handle);
    }
    return handle.address;
  }

  /** Packs arguments of one call. Returns the address of the struct. */
  packOne(asked: Arguments<Description>): number {
    const shapes = asked.shapes === null ? 0 : this.shapesHandle(asked.shapes);
    this.start(this.bytesOf(asked));
    return this.pack(asked, shapes);
  }
}

function bytesOfColumn(column: TypedArray | Column): number {
  return ArrayBuffer.isView(column) ? column.byteLength : column.array.byteLength;
}
