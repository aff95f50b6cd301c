// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which values do the bytes of a message have? `scan` finds where the values of each field are; the other functions read
// one of them. The bytes are of a server, which is not trusted: what is no message throws CaromError INTERNAL.

import { CaromError } from '@carom/core/questions';
import { FIXED32, FIXED64, LENGTH, VARINT } from './writer.js';

const GROUP = 3;
const GROUP_END = 4;
const MOST_VARINT_BYTES = 10;
const MOST_NESTED_GROUPS = 100;
const IS_LITTLE = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
const UTF8 = new TextDecoder();

/** The wire types of fields by their numbers; a column of numbers has PACKABLE added. */
export type Wires = readonly (number | undefined)[];
export const PACKABLE = 8;

export function malformed(what: string): CaromError {
  return new CaromError('INTERNAL', '', `the server sent a malformed message: ${what}`);
}

/** The bytes of one message, with the places of its values: pairs of begin and end by the number of the field. */
export class Found {
  readonly places: (number[] | undefined)[] = [];
  /** The number of a field that is unknown or has another wire type; 0: none. */
  unknown = 0;

  constructor(readonly data: Uint8Array) {}

  has(field: number): boolean {
    return this.places[field] !== undefined;
  }

  /** The bytes of a field; a message or a column in pieces is that of the joined bytes. Empty if it is absent. */
  bytes(field: number): Uint8Array {
    const places = this.places[field];
    if (places === undefined) return EMPTY;
    if (places.length === 2) return this.data.subarray(places[0], places[1]);
    const parts = this.all(field);
    const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      joined.set(part, at);
      at += part.length;
    }
    return joined;
  }

  /** The bytes of each value of a field. */
  all(field: number): Uint8Array[] {
    const places = this.places[field] ?? [];
    const parts: Uint8Array[] = [];
    for (let i = 0; i < places.length; i += 2) parts.push(this.data.subarray(places[i], places[i + 1]));
    return parts;
  }

  /** The last value of a field of one varint below 2^53; 0 if it is absent. */
  number(field: number): number {
    return Number(this.big(field));
  }

  /** The last value of a field of one varint; 0 if it is absent. */
  big(field: number): bigint {
    const places = this.places[field];
    return places === undefined ? 0n : bigVarint(this.data, places[places.length - 2]!);
  }

  /** The last value of a field of bytes; empty if it is absent. */
  last(field: number): Uint8Array {
    const places = this.places[field];
    return places === undefined ? EMPTY : this.data.subarray(places[places.length - 2], places[places.length - 1]);
  }

  /** The last value of a field of text; characters that UTF-8 does not have are replaced. */
  text(field: number): string {
    return UTF8.decode(this.last(field));
  }
}

const EMPTY = new Uint8Array(0);

function bigVarint(data: Uint8Array, begin: number): bigint {
  let low = 0;
  let at = begin;
  for (let scale = 1; scale <= 2 ** 42; scale *= 128) {
    const byte = data[at++]!;
    low += (byte & 127) * scale;
    if (byte < 128) return BigInt(low);
  }
  let value = BigInt(low);
  for (let shift = 49n; ; shift += 7n) {
    const byte = data[at++]!;
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) return BigInt.asUintN(64, value);
  }
}

/** Finds the values of a message. Other fields than those of `wires`, and other wire types, are left out. */
export function scan(data: Uint8Array, wires: Wires): Found {
  const found = new Found(data);
  const cursor = new Cursor(data);
  while (cursor.at < data.length) {
    const key = cursor.size();
    const wire = key & 7;
    const field = Math.floor(key / 8);
    if (field === 0 || key >= 2 ** 32) throw malformed(`the field ${field}`);
    let begin = cursor.at;
    if (wire === LENGTH) {
      const size = cursor.size();
      begin = cursor.at;
      cursor.at += size;
    } else {
      cursor.skip(wire);
    }
    if (cursor.at > data.length) throw malformed('it is cut short');
    const known = field < wires.length ? wires[field] : undefined;
    if (known === undefined) {
      found.unknown = field;
      continue;
    }
    if (known === wire || (known >= PACKABLE && (wire === LENGTH || wire === known - PACKABLE))) {
      const places = found.places[field];
      if (places === undefined) found.places[field] = [begin, cursor.at];
      else places.push(begin, cursor.at);
    } else {
      found.unknown = field;
    }
  }
  return found;
}

class Cursor {
  at = 0;

  constructor(private readonly data: Uint8Array) {}

  /** Reads a varint; above 2^53 its value is approximate. */
  size(): number {
    const data = this.data;
    let byte = data[this.at];
    if (byte !== undefined && byte < 128) {
      ++this.at;
      return byte;
    }
    let value = 0;
    let scale = 1;
    for (let i = 0; i < MOST_VARINT_BYTES; ++i) {
      byte = data[this.at++];
      if (byte === undefined) throw malformed('it ends in a varint');
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
    throw malformed('a varint of more than 10 bytes');
  }

  skip(wire: number): void {
    if (wire === VARINT) this.size();
    else if (wire === FIXED64) this.at += 8;
    else if (wire === FIXED32) this.at += 4;
    else if (wire === LENGTH) {
      const size = this.size();
      this.at += size;
    } else if (wire === GROUP) this.group();
    else throw malformed(`the wire type ${wire}`);
  }

  /** Skips a group, an old form of message, and the groups in it. */
  private group(): void {
    for (let depth = 1; depth > 0; ) {
      const wire = this.size() & 7;
      if (wire === GROUP_END) --depth;
      else if (wire !== GROUP) this.skip(wire);
      else if (++depth > MOST_NESTED_GROUPS) throw malformed('a group');
      if (this.at > this.data.length) throw malformed('a group');
    }
  }
}

// --- Columns --------------------------------------------------------------------------------------

function words(raw: Uint8Array): ArrayBuffer {
  if (raw.length % 8 !== 0) throw malformed('a column with a part of an entry');
  const copy = new Uint8Array(raw); // aligned, and without the rest of the message
  if (!IS_LITTLE) for (let i = 0; i < copy.length; i += 8) copy.subarray(i, i + 8).reverse();
  return copy.buffer;
}

export function doubles(raw: Uint8Array): Float64Array<ArrayBuffer> {
  return new Float64Array(words(raw));
}

export function bigs(raw: Uint8Array): BigUint64Array<ArrayBuffer> {
  return new BigUint64Array(words(raw));
}

/** A column of floats, each as the double of the same value. */
export function floats(raw: Uint8Array): Float64Array<ArrayBuffer> {
  if (raw.length % 4 !== 0) throw malformed('a column with a part of an entry');
  const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
  return Float64Array.from({ length: raw.length / 4 }, (_, i) => view.getFloat32(4 * i, true));
}

/** The number of entries of a column of varints. */
export function countOf(raw: Uint8Array): number {
  if (raw.length > 0 && raw[raw.length - 1]! >= 128) throw malformed('a column that ends in a varint');
  let count = 0;
  for (let i = 0; i < raw.length; ++i) count += raw[i]! < 128 ? 1 : 0;
  return count;
}

/** A column of varints, modulo 2^32. */
export function integers(raw: Uint8Array): Uint32Array<ArrayBuffer> {
  const count = countOf(raw);
  if (count === raw.length) return Uint32Array.from(raw);
  const made = new Uint32Array(count);
  let at = 0;
  for (let i = 0; i < count; ++i) {
    let byte = raw[at++]!;
    let value = byte & 127;
    let shift = 7;
    for (; byte >= 128; shift += 7) {
      if (shift >= 7 * MOST_VARINT_BYTES) throw malformed('a varint of more than 10 bytes');
      byte = raw[at++]!;
      if (shift < 32) value |= (byte & 127) << shift;
    }
    made[i] = value;
  }
  return made;
}

/** A column of bool, as 0 and 1. */
export function flags(raw: Uint8Array): Uint8Array<ArrayBuffer> {
  const made = new Uint8Array(countOf(raw));
  let at = 0;
  for (let i = 0; i < made.length; ++i) {
    let size = 0;
    let bits = 0;
    for (let more = true; more; ) {
      const byte = raw[at++]!;
      if (++size > MOST_VARINT_BYTES) throw malformed('a varint of more than 10 bytes');
      bits |= byte & (size === MOST_VARINT_BYTES ? 1 : 127); // 64 bits have one bit in the tenth byte
      more = byte >= 128;
    }
    made[i] = bits === 0 ? 0 : 1;
  }
  return made;
}

/** A column of an enumeration through a table, whose entries of 255 are not accepted. */
export function mapped(raw: Uint8Array, table: readonly number[]): Uint8Array<ArrayBuffer> {
  if (countOf(raw) !== raw.length) throw malformed('a number of no enumeration');
  const made = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) {
    const number = table[raw[i]!] ?? 255;
    if (number === 255) throw malformed('a number of no enumeration');
    made[i] = number;
  }
  return made;
}
