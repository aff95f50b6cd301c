// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which bytes does a message have? `Writer` writes protobuf from the end to the beginning, so that the size of a message
// is known when its head is written. Fields are therefore written by descending number; the bytes are those that
// protobuf-es writes. Typed arrays are copied as they are.

export const VARINT = 0;
export const FIXED64 = 1;
export const LENGTH = 2;
export const FIXED32 = 5;

const IS_LITTLE = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
const UTF8 = new TextEncoder();

/** Columns of numbers as a caller has them. */
export type Column = Float64Array | BigUint64Array | Uint32Array | Uint8Array;

/** Writes one message at a time. */
export class Writer {
  private data: Uint8Array;
  private view: DataView;
  private at: number; // of the first byte that is written

  constructor(size = 1024) {
    this.data = new Uint8Array(size);
    this.view = new DataView(this.data.buffer);
    this.at = size;
  }

  /** A place, from which `head` counts the bytes of a message. */
  get mark(): number {
    return this.data.length - this.at;
  }

  /** Returns a copy of what was written, and begins another message. */
  finish(): Uint8Array<ArrayBuffer> {
    const made = this.data.slice(this.at) as Uint8Array<ArrayBuffer>;
    this.at = this.data.length;
    return made;
  }

  private reserve(size: number): number {
    if (size > this.at) this.grow(size);
    this.at -= size;
    return this.at;
  }

  private grow(size: number): void {
    const used = this.data.length - this.at;
    const data = new Uint8Array(Math.max(2 * this.data.length, used + size + 64));
    data.set(this.data.subarray(this.at), data.length - used);
    this.data = data;
    this.view = new DataView(data.buffer);
    this.at = data.length - used;
  }

  /** Writes an integer in [0, 2^53). */
  varint(value: number): void {
    if (value < 128) {
      const at = this.reserve(1);
      this.data[at] = value;
      return;
    }
    let size = 1;
    for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) ++size;
    let at = this.reserve(size);
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.data[at++] = (rest % 128) + 128;
    this.data[at] = rest;
  }

  /** Writes an integer in [0, 2^64). */
  bigVarint(value: bigint): void {
    if (value <= 0x1fffffffffffffn) return this.varint(Number(value));
    let size = 1;
    for (let rest = value; rest >= 128n; rest >>= 7n) ++size;
    let at = this.reserve(size);
    let rest = value;
    for (; rest >= 128n; rest >>= 7n) this.data[at++] = Number(rest & 127n) + 128;
    this.data[at] = Number(rest);
  }

  /** Writes what is before a value. */
  tag(field: number, wire: number): void {
    this.varint(field * 8 + wire);
  }

  /** Writes the tag and the size of what was written since `mark`. */
  head(field: number, mark: number): void {
    this.varint(this.mark - mark);
    this.tag(field, LENGTH);
  }

  /** Writes bytes as they are. */
  raw(bytes: Uint8Array): void {
    const at = this.reserve(bytes.length);
    this.data.set(bytes, at);
  }

  /** Writes a field of bytes, a text or an encoded message, also if they are empty. */
  bytes(field: number, bytes: Uint8Array): void {
    this.raw(bytes);
    this.varint(bytes.length);
    this.tag(field, LENGTH);
  }

  text(field: number, text: string): void {
    this.bytes(field, UTF8.encode(text));
  }

  number(field: number, value: number): void {
    this.varint(value);
    this.tag(field, VARINT);
  }

  big(field: number, value: bigint): void {
    this.bigVarint(value);
    this.tag(field, VARINT);
  }

  double(field: number, value: number): void {
    const at = this.reserve(8);
    this.view.setFloat64(at, value, true);
    this.tag(field, FIXED64);
  }

  word(field: number, value: bigint): void {
    const at = this.reserve(8);
    this.view.setBigUint64(at, value, true);
    this.tag(field, FIXED64);
  }

  /** Writes a column of numbers of 8 or 4 bytes, unless it is empty. */
  fixed(field: number, column: Float64Array | BigUint64Array | Float32Array): void {
    if (column.length === 0) return;
    const at = this.reserve(column.byteLength);
    if (IS_LITTLE) {
      this.data.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), at);
    } else if (column instanceof Float64Array) {
      column.forEach((value, i) => this.view.setFloat64(at + 8 * i, value, true));
    } else if (column instanceof Float32Array) {
      column.forEach((value, i) => this.view.setFloat32(at + 4 * i, value, true));
    } else {
      column.forEach((value, i) => this.view.setBigUint64(at + 8 * i, value, true));
    }
    this.varint(column.byteLength);
    this.tag(field, LENGTH);
  }

  /** Writes a column of unsigned integers, unless it is empty. */
  varints(field: number, column: Uint32Array | Uint8Array | readonly number[]): void {
    const count = column.length;
    if (count === 0) return;
    let size = count;
    for (let i = 0; i < count; ++i) {
      const value = column[i]!;
      if (value >= 0x80) size += value < 0x4000 ? 1 : value < 0x200000 ? 2 : value < 0x10000000 ? 3 : 4;
    }
    let at = this.reserve(size);
    const data = this.data;
    for (let i = 0; i < count; ++i) {
      let value = column[i]!;
      while (value >= 0x80) {
        data[at++] = (value & 0x7f) | 0x80;
        value >>>= 7;
      }
      data[at++] = value;
    }
    this.varint(size);
    this.tag(field, LENGTH);
  }
}
