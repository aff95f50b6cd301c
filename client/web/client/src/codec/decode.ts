// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do the bytes of a server become the columns of answers? Each column has the name, the type and the numbers that it
// has in carom.h. Where the values are is found at once, and a column becomes an array when it is read first. A server is
// not trusted: columns that do not fit together throw CaromError INTERNAL.

import { type ColumnSpec, CaromError, type Source, type TypedArray } from '@carom/core/questions';
import { ENUMS, ITEM_COLUMNS, ITEM_FAULTS } from '../generated/tables.js';
import { read } from './messages.js';
import { bigs, countOf, doubles, type Found, flags, integers, mapped, PACKABLE, scan, type Wires } from './reader.js';
import type { AnswerColumn, KindTable } from './tables.js';
import { FIXED64, LENGTH, VARINT } from './writer.js';

// Messages whose counts have no entries in the mode ANY.
const BY_ANY = new Set(['CastAnswers', 'SweepAnswers', 'ArcAnswers']);

const wires = new Map<KindTable, Wires>();

function wiresOf(table: KindTable): Wires {
  let known = wires.get(table);
  if (known === undefined) {
    const made: (number | undefined)[] = [];
    for (const { field, type } of Object.values(table.columns)) {
      made[field] = PACKABLE + (type === 'd' || type === 'Q' ? FIXED64 : VARINT);
    }
    made[table.errors] = LENGTH;
    known = made;
    wires.set(table, known);
  }
  return known;
}

/** A column that has 0 for each entry. */
function zeros(type: AnswerColumn['type'], length: number): TypedArray {
  switch (type) {
    case 'd':
      return new Float64Array(length);
    case 'Q':
      return new BigUint64Array(length);
    case 'I':
      return new Uint32Array(length);
    default:
      return new Uint8Array(length);
  }
}

function sum(values: Uint32Array): number {
  let total = 0;
  for (let i = 0; i < values.length; ++i) total += values[i]!;
  return total;
}

/** The number of bits that are set. */
function bitsOf(words: Uint32Array): number {
  let count = 0;
  for (const word of words) {
    for (let rest = word; rest !== 0; rest &= rest - 1) ++count;
  }
  return count;
}

/** Errors of items, as columns of carom.h. */
interface ErrorColumns {
  readonly index: Uint32Array;
  readonly column: Uint8Array;
  readonly fault: Uint8Array;
  readonly texts: ReadonlyMap<string, string>; // by column and fault
}

/** The answers to one question in a message, checked as a whole; `column` reads and checks one of them. */
export class Columns implements Source {
  private readonly found: Found;
  private readonly rows: number; // entries
  private errors: ErrorColumns | undefined;

  /** name: the beginning of field paths; numbers: beside the columns, by their names in carom.h. */
  constructor(
    private readonly table: KindTable,
    private readonly name: string,
    data: Uint8Array,
    private readonly items: number,
    readonly version: bigint,
    private readonly numbers: (name: string) => bigint,
  ) {
    this.found = scan(data, wiresOf(table));
    this.rows = table.rows === '' ? 0 : this.lengthOf(table.columns[table.rows]!);
    this.check();
  }

  private misfit(path: string): CaromError {
    return new CaromError('INTERNAL', `${this.name}.${path}`, 'does not fit the question or the other columns');
  }

  /** Checks the number of items, and that the counts are those of the rows. */
  private check(): void {
    const { message, counts, columns } = this.table;
    if (counts === '') {
      const item = columns['visible'] ?? columns['x']!;
      if (this.lengthOf(item) !== this.items) throw this.misfit('x');
      return;
    }
    const each = this.integersOf(columns[counts]!);
    if (message === 'SeeAnswers') {
      if (each.length !== this.items) throw this.misfit(counts);
      this.checkSeen(each);
      return;
    }
    const items = message === 'MoveAnswers' ? this.items - this.clearItems() : this.items;
    const isAny = BY_ANY.has(message) && this.rows === 0;
    const fits = isAny ? each.every((count) => count <= 1) : sum(each) === this.rows;
    if (each.length !== items || !fits) throw this.misfit(counts);
  }

  /** Checks that each item has as many words of bits, and as many bits as its count says. */
  private checkSeen(counts: Uint32Array): void {
    const words = bigs(this.found.bytes(this.table.columns['seen']!.field));
    const bits = new Uint32Array(words.buffer, words.byteOffset, 2 * words.length);
    const width = this.items === 0 ? 0 : Math.floor(words.length / this.items) * 2;
    if (bits.length !== width * this.items) throw this.misfit('seen');
    for (const [item, count] of counts.entries()) {
      if (bitsOf(bits.subarray(item * width, (item + 1) * width)) !== count) throw this.misfit('seen');
    }
  }

  /** The number of items whose bits in the column `clear` are set. */
  private clearItems(): number {
    const words = bigs(this.found.bytes(this.table.columns['clear']!.field));
    const beyond = this.items % 64;
    const last = words[words.length - 1] ?? 0n;
    if (words.length !== Math.ceil(this.items / 64) || (beyond > 0 && last >> BigInt(beyond) > 0n)) {
      throw this.misfit('clear');
    }
    return bitsOf(new Uint32Array(words.buffer));
  }

  private lengthOf({ field, type }: AnswerColumn): number {
    const raw = this.found.bytes(field);
    return type === 'd' || type === 'Q' ? raw.length / 8 : countOf(raw);
  }

  private integersOf({ field }: AnswerColumn): Uint32Array {
    return integers(this.found.bytes(field));
  }

  private readColumn({ field, type, names }: AnswerColumn): TypedArray {
    const raw = this.found.bytes(field);
    switch (type) {
      case 'd':
        return doubles(raw);
      case 'Q':
        return bigs(raw);
      case 'I':
        return integers(raw);
      default:
        return names === '' ? flags(raw) : mapped(raw, ENUMS[names]!);
    }
  }

  // --- Source -------------------------------------------------------------------------------------

  column(spec: ColumnSpec): TypedArray {
    const column = this.table.columns[spec.path];
    if (column === undefined) return this.errorColumn(spec.path);
    const { type, level, point, leader, isZero } = column;
    if (point > 0) return this.points(spec.path, column);
    const values = this.readColumn(column);
    const expected = this.expected(level);
    if (level === 'l' || level === 'w' || values.length === expected) return values;
    const led = leader === '' ? undefined : this.table.columns[leader];
    if (values.length > 0 || led === undefined || this.found.has(led.field)) throw this.misfit(spec.path);
    // A column of a touch has no rows unless the moves are sweeps.
    const isAsked = level !== 'u' || this.found.has(this.table.columns['touches']!.field);
    return isZero && isAsked ? zeros(type, expected) : values;
  }

  number(name: string): bigint {
    return this.numbers(name);
  }

  describe(column: number, fault: number): { column: string; fault: string } {
    const { texts } = this.errorColumns();
    return { column: ITEM_COLUMNS[column]!, fault: texts.get(`${column} ${fault}`) ?? '' };
  }

  private expected(level: AnswerColumn['level']): number {
    const { columns } = this.table;
    switch (level) {
      case 'i':
        return this.items;
      case 'e':
        return this.rows;
      case 'u':
        return this.lengthOf(columns['counts']!);
      case 'g':
        return sum(this.integersOf(columns['edge_counts']!));
      default:
        return 0;
    }
  }

  /** The first, or the second, contact point of each row, from a column with an entry for each point. */
  private points(path: string, column: AnswerColumn): TypedArray {
    const counts = this.integersOf(this.table.columns['point_counts']!);
    const values = this.readColumn(column);
    const fits = counts.length === this.rows && counts.every((count) => count === 1 || count === 2);
    if (!fits || values.length !== sum(counts)) throw this.misfit(path);
    const made = zeros(column.type, this.rows);
    let at = 0;
    counts.forEach((count, i) => {
      const isThere = column.point === 1 || count === 2;
      if (isThere) made[i] = values[at + column.point - 1]!;
      at += count;
    });
    return made;
  }

  private errorColumn(path: string): TypedArray {
    const errors = this.errorColumns();
    return path === 'error_index' ? errors.index : path === 'error_column' ? errors.column : errors.fault;
  }

  private errorColumns(): ErrorColumns {
    if (this.errors === undefined) {
      const messages = this.found.all(this.table.errors);
      const index = new Uint32Array(messages.length);
      const column = new Uint8Array(messages.length);
      const fault = new Uint8Array(messages.length);
      const texts = new Map<string, string>();
      messages.forEach((message, i) => {
        const error = read('ItemError', message);
        const number = ITEM_COLUMNS.indexOf(error.text(3));
        const at = error.number(1);
        if (number < 0 || at >= this.items || (i > 0 && index[i - 1]! >= at)) throw this.misfit('errors');
        // A fault that a later server may send counts as NOT_ACCEPTED, which is 0 in carom.h.
        const known = error.number(5);
        fault[i] = known > 0 && known < ITEM_FAULTS ? known - 1 : 0;
        index[i] = at;
        column[i] = number;
        texts.set(`${number} ${fault[i]}`, error.text(4));
      });
      this.errors = { index, column, fault, texts };
    }
    return this.errors;
  }
}
