// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

import { type ElementType, type TypedArray, type TypedArrayOf, makeArray } from './columns.js';

/** The memory of a module. Its buffer is another one after it grew. */
export class Memory {
  private readonly memory: WebAssembly.Memory;
  private bytes = new Uint8Array();
  private words = new Uint32Array();
  private doubles = new Float64Array();
  private longs = new BigUint64Array();

  constructor(memory: WebAssembly.Memory) {
    this.memory = memory;
  }

  get buffer(): ArrayBuffer {
    return this.memory.buffer;
  }

  private renew(): void {
    if (this.bytes.buffer === this.memory.buffer) return;
    const buffer = this.memory.buffer;
    this.bytes = new Uint8Array(buffer);
    this.words = new Uint32Array(buffer);
    this.doubles = new Float64Array(buffer);
    this.longs = new BigUint64Array(buffer);
  }

  get u8(): Uint8Array {
    this.renew();
    return this.bytes;
  }

  get u32(): Uint32Array {
    this.renew();
    return this.words;
  }

  get f64(): Float64Array {
    this.renew();
    return this.doubles;
  }

  get u64(): BigUint64Array {
    this.renew();
    return this.longs;
  }

  private whole(type: ElementType): TypedArray {
    return type === 'f64' ? this.f64 : type === 'u64' ? this.u64 : type === 'u32' ? this.u32 : this.u8;
  }

  /** A view of an array. */
  array<T extends ElementType>(type: T, address: number, length: number): TypedArrayOf<T> {
    const whole = this.whole(type);
    const begin = address / whole.BYTES_PER_ELEMENT;
    return whole.subarray(begin, begin + length) as TypedArrayOf<T>;
  }

  /** Copies the column whose struct is at an address: data, length and stride. */
  copyColumn(type: ElementType, struct: number): TypedArray {
    const words = this.u32;
    const data = words[struct >>> 2] as number;
    const length = words[(struct >>> 2) + 1] as number;
    const stride = words[(struct >>> 2) + 2] as number;
    if (length === 0) return makeArray(type, 0);
    if (stride <= 1) return this.array(type, data, length).slice();
    const whole = this.whole(type) as Float64Array;
    const made = makeArray(type, length) as Float64Array;
    for (let i = 0, at = data / whole.BYTES_PER_ELEMENT; i < length; ++i, at += stride) made[i] = whole[at] as number;
    return made;
  }

  /** The text at an address, up to a null character. */
  text(address: number): string {
    const bytes = this.u8;
    const end = bytes.indexOf(0, address);
    return new TextDecoder().decode(bytes.slice(address, end));
  }
}
