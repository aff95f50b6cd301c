// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Answers as columns, the same wherever they come from: this program, or a server.

import type { ColumnSpec, Question } from './question.js';
import type { TypedArray } from './columns.js';
import { type CaromError, refuse } from './errors.js';
import { DISPOSE } from './handle.js';

/** What has the columns of one answer. */
export interface Source {
  /** The version of the scene that answered. */
  readonly version: bigint;
  /** Returns a column of the struct of answers, with one entry after the other. */
  column(spec: ColumnSpec): TypedArray;
  /** Returns a number beside the columns, by its name in carom.h. */
  number(name: string): bigint;
  /** Returns the name of the column of an item in error, as in carom.h, and what is wrong. */
  describe(column: number, fault: number): { column: string; fault: string };
  /** Frees what the source has; later calls fail. */
  dispose?(): void;
}

/** Why one item of a question was not answered. */
export interface ItemError {
  readonly index: number;
  readonly error: CaromError;
}

/**
 * The answers to one question: columns, with some entries for each item.
 *
 * Columns are read when they are first used, and stay as they are afterwards. Entries of item i are those in
 * [offsets[i], offsets[i + 1]).
 */
export abstract class Answers {
  readonly question: Question;
  private source: Source;
  private cache: (TypedArray | undefined)[] = [];
  private ends: Uint32Array | undefined;
  private edgeEnds: Uint32Array | undefined;
  private faults: Map<number, CaromError> | undefined;

  constructor(question: Question, source: Source) {
    this.question = question;
    this.source = source;
  }

  protected abstract readonly specs: readonly ColumnSpec[];

  /** The number of items. */
  get length(): number {
    return this.question.items;
  }

  /** The version of the scene that answered. */
  get version(): bigint {
    return this.source.version;
  }

  /** Frees the memory of the answers at once; columns that were read stay. */
  dispose(): void {
    this.source.dispose?.();
  }

  [DISPOSE](): void {
    this.dispose();
  }

  /** What has the columns. */
  get from(): Source {
    return this.source;
  }

  protected column(index: number): TypedArray {
    return (this.cache[index] ??= this.source.column(this.specs[index] as ColumnSpec));
  }

  protected number(name: string): bigint {
    return this.source.number(name);
  }

  /** Numbers of entries of the items. */
  protected entryCounts(): ArrayLike<number> | null {
    return null;
  }

  /** Entries of item i are those in [offsets[i], offsets[i + 1]): one entry more than there are items. */
  get offsets(): Uint32Array {
    if (this.ends === undefined) {
      const counts = this.entryCounts();
      const ends = new Uint32Array(this.length + 1);
      for (let i = 0; i < this.length; ++i) ends[i + 1] = (ends[i] as number) + (counts?.[i] ?? 1);
      this.ends = ends;
    }
    return this.ends;
  }

  /** The number of entries of an item. */
  count(item: number): number {
    this.checkItem(item);
    return (this.offsets[item + 1] as number) - (this.offsets[item] as number);
  }

  protected checkItem(item: number): void {
    if (!(Number.isInteger(item) && item >= 0 && item < this.length)) {
      throw refuse('item', `is ${String(item)}, of ${this.length} items`);
    }
  }

  /** The entries of an item. */
  protected list<R>(item: number, entry: (index: number) => R): R[] {
    this.checkItem(item);
    const result: R[] = [];
    for (let i = this.offsets[item] as number; i < (this.offsets[item + 1] as number); ++i) result.push(entry(i));
    return result;
  }

  /** The first entry of an item, or null. */
  protected first<R>(item: number, entry: (index: number) => R): R | null {
    this.checkItem(item);
    const at = this.offsets[item] as number;
    return at < (this.offsets[item + 1] as number) ? entry(at) : null;
  }

  /** The edges of an entry, of columns that have edge_counts beside them. */
  protected edgesOf(counts: Uint32Array, ring: Uint32Array, edge: Uint32Array, index: number): EdgeOfPolygon[] {
    if (counts.length === 0) return [];
    if (this.edgeEnds === undefined) {
      this.edgeEnds = new Uint32Array(counts.length + 1);
      counts.forEach((count, i) => {
        (this.edgeEnds as Uint32Array)[i + 1] = ((this.edgeEnds as Uint32Array)[i] as number) + count;
      });
    }
    const result: EdgeOfPolygon[] = [];
    for (let i = this.edgeEnds[index] as number; i < (this.edgeEnds[index + 1] as number); ++i) {
      result.push({ ring: ring[i] as number, edge: edge[i] as number });
    }
    return result;
  }

  /** Whether an ascending list has an item. */
  protected lists(items: Uint32Array, item: number): boolean {
    this.checkItem(item);
    let [low, high] = [0, items.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((items[middle] as number) < item) low = middle + 1;
      else high = middle;
    }
    return items[low] === item;
  }

  protected abstract readonly errorColumns: readonly [number, number, number];

  private errorMap(): Map<number, CaromError> {
    if (this.faults === undefined) {
      this.faults = new Map();
      const [index, column, fault] = this.errorColumns.map((each) => this.column(each)) as [
        Uint32Array,
        Uint8Array,
        Uint8Array,
      ];
      for (let i = 0; i < index.length; ++i) {
        const text = this.source.describe(column[i] as number, fault[i] as number);
        const name = text.column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
        const at = index[i] as number;
        this.faults.set(at, refuse(`${this.question.kind.name}.${name}[${at}]`, text.fault));
      }
    }
    return this.faults;
  }

  /** Why an item was not answered, with a path such as `segments.ax[3]`; null if it was. */
  error(item: number): CaromError | null {
    this.checkItem(item);
    return this.errorMap().get(item) ?? null;
  }

  /** The items that were not answered, ascending. */
  errors(): ItemError[] {
    return [...this.errorMap()].map(([index, error]) => ({ index, error }));
  }

  /** Throws the error of the first item that was not answered, if there is one; returns the answers. */
  check(): this {
    for (const error of this.errorMap().values()) throw error;
    return this;
  }

  /** Makes these the answers to another question, without new memory: what `out` of `ask` does. */
  reset(question: Question, source: Source): void {
    if (question.kind.answers !== (this.constructor as unknown)) {
      throw refuse('out', `has answers of another kind; those of ${question.kind.name} are accepted`);
    }
    (this as { question: Question }).question = question;
    this.source = source;
    this.cache = [];
    this.ends = this.edgeEnds = this.faults = undefined;
  }
}

/** An edge of a polygon: edge `edge` of ring `ring` starts at its vertex of this number. */
export interface EdgeOfPolygon {
  ring: number;
  edge: number;
}

/** Answers to moves, where items that touch nothing are a bit in `clear` and have no entry in `counts`. */
export abstract class MoveAnswers extends Answers {
  private places: Uint32Array | undefined;

  abstract readonly clear: BigUint64Array;
  abstract readonly counts: Uint32Array;

  /** Whether an item touches nothing, on a sweep nothing on the path. */
  isClear(item: number): boolean {
    this.checkItem(item);
    return this.hasClearBit(item);
  }

  private hasClearBit(item: number): boolean {
    return (((this.clear[item >>> 6] ?? 0n) >> BigInt(item & 63)) & 1n) === 1n;
  }

  /** The index in `counts` of an item that is not clear. */
  protected place(item: number): number {
    if (this.places === undefined) {
      this.places = new Uint32Array(this.length);
      for (let i = 0, next = 0; i < this.length; ++i) {
        this.places[i] = next;
        if (!this.hasClearBit(i)) next += 1;
      }
    }
    return this.places[item] as number;
  }

  protected override entryCounts(): ArrayLike<number> {
    const result = new Uint32Array(this.length);
    for (let i = 0; i < this.length; ++i) result[i] = this.hasClearBit(i) ? 0 : (this.counts[this.place(i)] ?? 0);
    return result;
  }

  override reset(question: Question, source: Source): void {
    super.reset(question, source);
    this.places = undefined;
  }
}

/** Answers to observers: which of the bodies each of them sees. */
export abstract class SeeAnswers extends Answers {
  private halves: Uint32Array | undefined;

  abstract readonly seen: BigUint64Array;

  /** The bits of all items, 32 in each entry. */
  private bits(): Uint32Array {
    const { buffer, byteOffset, length } = this.seen;
    return (this.halves ??= new Uint32Array(buffer, byteOffset, 2 * length));
  }

  /** Whether an item sees a body, by its index in the bodies; false for a body that does not exist. */
  sees(item: number, body: number): boolean {
    this.checkItem(item);
    const bits = this.bits();
    const width = bits.length / this.length;
    if (!(Number.isInteger(body) && body >= 0 && body < 32 * width)) return false;
    return (((bits[item * width + (body >>> 5)] as number) >>> (body & 31)) & 1) === 1;
  }

  /** The indices of the bodies that an item sees, ascending. */
  bodies(item: number): number[] {
    this.checkItem(item);
    const bits = this.bits();
    const width = bits.length / this.length;
    const found: number[] = [];
    for (let k = 0; k < width; ++k) {
      for (let rest = bits[item * width + k] as number; rest !== 0; rest &= rest - 1) {
        found.push(32 * k + 31 - Math.clz32(rest & -rest));
      }
    }
    return found;
  }

  override reset(question: Question, source: Source): void {
    super.reset(question, source);
    this.halves = undefined;
  }
}
