// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do the small messages of a frame become bytes, and bytes messages? Fields have the names of the .proto files.

import { Found, PACKABLE, scan, type Wires } from './reader.js';
import { table } from './tables.js';
import { FIXED64, LENGTH, VARINT, Writer } from './writer.js';

/** Wire types by the letters of types; all others are LENGTH. */
const WIRES: Readonly<Record<string, number>> = {
  d: FIXED64,
  q: FIXED64,
  l: VARINT,
  u: VARINT,
  i: VARINT,
  b: VARINT,
  e: VARINT,
};

const wires = new Map<string, Wires>();

/** Finds the values in a message. */
export function read(name: string, data: Uint8Array): Found {
  let known = wires.get(name);
  if (known === undefined) {
    const made: (number | undefined)[] = [];
    for (const [field, type, label] of Object.values(table(name))) {
      const wire = WIRES[type];
      made[field] = wire === undefined ? LENGTH : label === 'r' ? wire + PACKABLE : wire;
    }
    known = made;
    wires.set(name, known);
  }
  return scan(data, known);
}

/** Returns the integers of a message, with names in camel case; those above 2^53 are rounded. */
export function readNumbers(name: string, data: Uint8Array): Record<string, number> {
  const found = read(name, data);
  const made: Record<string, number> = {};
  for (const [field, [number]] of Object.entries(table(name))) {
    made[field.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())] = found.number(number);
  }
  return made;
}

/** A field of a message that is written: null and what an absent field means are left out. */
export type Value = number | bigint | boolean | string | Uint8Array | readonly Inner[] | Inner | null | undefined;
/** Writes the fields of a message in a message, by descending number. */
export type Inner = (writer: Writer) => void;

/** Writes the fields of a message, by their names. */
export function put(writer: Writer, name: string, values: Readonly<Record<string, Value>>): void {
  const fields = Object.entries(table(name));
  for (let i = fields.length - 1; i >= 0; --i) {
    const [key, [number, type, label]] = fields[i]!;
    const value = values[key];
    if (value === undefined || value === null) continue;
    if (Array.isArray(value)) for (let j = value.length - 1; j >= 0; --j) putInner(writer, number, value[j] as Inner);
    else if (typeof value === 'function') putInner(writer, number, value);
    else putScalar(writer, number, type, value as number | bigint | boolean | string | Uint8Array, label !== '');
  }
}

export function putInner(writer: Writer, field: number, inner: Inner): void {
  const mark = writer.mark;
  inner(writer);
  writer.head(field, mark);
}

/** Writes a field, unless it has the value of an absent field and is not `present`. */
export function putScalar(
  writer: Writer,
  field: number,
  type: string,
  value: number | bigint | boolean | string | Uint8Array,
  present: boolean,
): void {
  if (typeof value === 'string') {
    if (present || value !== '') writer.text(field, value);
  } else if (value instanceof Uint8Array) {
    if (present || value.length > 0) writer.bytes(field, value);
  } else if (type === 'd') {
    if (present || !Object.is(value, 0)) writer.double(field, Number(value));
  } else if (type === 'q') {
    if (present || BigInt(value) !== 0n) writer.word(field, BigInt(value));
  } else if (present || Number(value) !== 0) {
    writer.big(field, type === 'b' ? 1n : BigInt(value));
  }
}

/** Returns a message as bytes. */
export function encode(name: string, values: Readonly<Record<string, Value>>): Uint8Array {
  const writer = new Writer(256);
  put(writer, name, values);
  return writer.finish();
}
