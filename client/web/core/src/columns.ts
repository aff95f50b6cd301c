// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Arguments as columns: typed arrays of one of four types, copied only where they must be.

import { CaromError, refuse } from './errors.js';

export type ElementType = 'f64' | 'u64' | 'u32' | 'u8';
export type TypedArray = Float64Array | BigUint64Array | Uint32Array | Uint8Array;

interface TypedArrays {
  f64: Float64Array;
  u64: BigUint64Array;
  u32: Uint32Array;
  u8: Uint8Array;
}

export type TypedArrayOf<T extends ElementType> = TypedArrays[T];

/**
 * A column in memory that a module of WebAssembly reads without a copy: `Core.column` makes one.
 *
 * The memory of a module moves when it grows, so `array` is taken anew before each use and not kept.
 */
export interface Column<A extends TypedArray = TypedArray> {
  readonly length: number;
  readonly array: A;
}

/** A number for all items, or an array with one entry for each item. */
export type Numbers = number | ArrayLike<number> | Column<Float64Array>;
export type Integers = number | ArrayLike<number> | Column<Uint32Array>;
export type Flags = number | boolean | ArrayLike<number | boolean>;
/** Ids and bits: integers up to 2^64 - 1, those above 2^53 as bigint. */
export type Longs = number | bigint | ArrayLike<number | bigint> | Column<BigUint64Array>;

export const MAX_LENGTH = 2 ** 32 - 1;
const NAMES = { f64: 'Float64Array', u64: 'BigUint64Array', u32: 'Uint32Array', u8: 'Uint8Array' };
const LIMITS = { u32: 2 ** 32, u8: 2 ** 8 };

const ARRAYS = { f64: Float64Array, u64: BigUint64Array, u32: Uint32Array, u8: Uint8Array };

/** Makes an array of zeros. Throws RESOURCE_EXHAUSTED for one that the engine cannot make. */
export function makeArray<T extends ElementType>(type: T, length: number, field = ''): TypedArrayOf<T> {
  try {
    return new ARRAYS[type](length) as TypedArrayOf<T>;
  } catch (cause) {
    throw new CaromError('RESOURCE_EXHAUSTED', field, `out of memory: ${length} entries`, { cause });
  }
}

export function elementBytes(type: ElementType): number {
  return type === 'u8' ? 1 : type === 'u32' ? 4 : 8;
}

export function isTypeOf(value: unknown, type: ElementType): value is TypedArray {
  switch (type) {
    case 'f64':
      return value instanceof Float64Array;
    case 'u64':
      return value instanceof BigUint64Array;
    case 'u32':
      return value instanceof Uint32Array;
    default:
      return value instanceof Uint8Array || value instanceof Uint8ClampedArray;
  }
}

/** Describes a value in a message, in at most 40 characters. */
export function shown(value: unknown): string {
  const text =
    typeof value === 'string'
      ? JSON.stringify(value)
      : typeof value === 'bigint'
        ? `${value}n`
        : typeof value === 'object' && value !== null
          ? (Object.getPrototypeOf(value)?.constructor?.name ?? 'an object')
          : typeof value === 'function' || typeof value === 'symbol'
            ? typeof value
            : String(value);
  return text.length > 40 ? `${text.slice(0, 37)}...` : text;
}

/** Returns an unsigned integer below 2^64. */
export function toLong(value: unknown, field: string, least = 0n): bigint {
  if (typeof value === 'bigint' ? value >= least && value < 2n ** 64n : Number.isSafeInteger(value)) {
    const long = BigInt(value as number | bigint);
    if (long >= least) return long;
  }
  throw refuse(field, `is ${shown(value)}; accepted is [${least}, 2^64 - 1], above 2^53 as bigint`);
}

/** Returns an integer in [least, most]. */
export function toInteger(value: unknown, field: string, least: number, most: number): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    throw refuse(field, `is ${shown(value)}; an integer in [${least}, ${most}] is accepted`);
  }
  return value;
}

/** Returns one entry of a column. */
export function toEntry(value: unknown, type: ElementType, field: string): number | bigint {
  if (type === 'u64') return toLong(value, field);
  if (type === 'f64') {
    if (typeof value === 'number') return value;
    throw refuse(field, `is ${shown(value)}; a number is accepted`);
  }
  if (typeof value === 'boolean') return value ? 1 : 0;
  return toInteger(value, field, 0, LIMITS[type] - 1);
}

function isColumn(value: object): value is Column {
  return 'array' in value && 'length' in value;
}

/**
 * Returns an argument as a scalar, a typed array or a `Column`.
 *
 * An array of the right type is not copied. Throws for other types, and for arrays whose buffer is detached.
 */
export function toColumn(value: unknown, type: ElementType, field: string): number | bigint | TypedArray | Column {
  if (typeof value !== 'object' || value === null) return toEntry(value, type, field);
  if (isTypeOf(value, type)) {
    checkAttached(value, field);
    return value;
  }
  if (isColumn(value)) {
    if (!isTypeOf(value.array, type)) throw refuse(field, `is a column of another type; ${NAMES[type]} is accepted`);
    return value;
  }
  const list = value as ArrayLike<unknown>;
  if (typeof list.length !== 'number' || ArrayBuffer.isView(value) !== 'BYTES_PER_ELEMENT' in value) {
    throw refuse(field, `is ${shown(value)}; numbers or ${NAMES[type]} are accepted`);
  }
  toInteger(list.length, `${field}.length`, 0, MAX_LENGTH);
  checkAttached(value, field);
  const made = makeArray(type, list.length, field);
  for (let i = 0; i < list.length; ++i) {
    const entry = list[i];
    made[i] = type === 'f64' && typeof entry === 'number' ? entry : toEntry(entry, type, `${field}[${i}]`);
  }
  return made;
}

/** Throws for an array whose buffer is detached: transferred, or that of a module's memory before it grew. */
export function checkAttached(array: unknown, field: string): void {
  // The buffer of an array that is not detached has bytes, or the array was made with length 0.
  if (ArrayBuffer.isView(array) && array.byteLength === 0 && isDetached(array.buffer)) {
    throw refuse(field, 'has a detached buffer');
  }
}

/** Returns the entries of a column. Those of a `Column` are valid until its module allocates. */
export function arrayOf(column: TypedArray | Column, field: string): TypedArray {
  const array = ArrayBuffer.isView(column) ? column : column.array;
  checkAttached(array, field);
  return array;
}

/** Returns a list of any length as an array that the caller does not have; a scalar is a list of one. */
export function ownList<T extends ElementType>(value: unknown, type: T, field: string): TypedArrayOf<T> {
  const column = toColumn(value, type, field);
  if (typeof column !== 'object') return toArray(column, type, field, 1);
  const array = arrayOf(column, field);
  return (column === value ? array.slice() : array) as TypedArrayOf<T>;
}

/** Whether a buffer was transferred, or is that of a module's memory before it grew. */
export function isDetached(buffer: ArrayBufferLike): boolean {
  if ('detached' in buffer) return buffer.detached as boolean;
  if (buffer.byteLength > 0 || !(buffer instanceof ArrayBuffer)) return false;
  try {
    return new Uint8Array(buffer).length > 0;
  } catch {
    return true;
  }
}

/** Returns a column with `length` entries as an array that the caller does not have. */
export function toArray<T extends ElementType>(value: unknown, type: T, field: string, length: number): TypedArrayOf<T> {
  const column = toColumn(value, type, field);
  if (typeof column !== 'object') {
    const made = makeArray(type, length, field);
    (made as Float64Array).fill(column as number);
    return made;
  }
  const array = arrayOf(column, field);
  if (array.length !== length) throw refuse(field, `has ${array.length} entries, where there are ${length}`);
  return (column === value ? array.slice() : array) as TypedArrayOf<T>;
}
