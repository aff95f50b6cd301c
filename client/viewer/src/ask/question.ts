// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is a question of the page, and what is its answer? Plain values with the names of @carom/core, which travel to
// workers, to the server, into the address of the page and into code.

/** A shape about its reference point (0, 0). */
export type ShapeSpec =
  | { kind: 'polygon'; points: [number, number][] }
  | { kind: 'capsule'; ax: number; ay: number; bx: number; by: number; radius: number };

export type Value = number | string | boolean | number[];

/** One item of one kind. */
export interface Question {
  /** A kind of @carom/core, such as `segments`. */
  kind: Kind;
  /** Columns as arrays of one number, options as numbers and words. */
  given: Record<string, Value>;
  /** The shape of kinds that place one. */
  shape?: ShapeSpec;
}

export type Kind =
  | 'segments'
  | 'points'
  | 'circles'
  | 'polygons'
  | 'rays'
  | 'capsules'
  | 'boxes'
  | 'distances'
  | 'contacts'
  | 'sweeps'
  | 'arcs'
  | 'sights'
  | 'fans'
  | 'slides'
  | 'bounces'
  | 'rayBounces'
  | 'areas';

/** Where a piece of the boundary of an area lies, by the numbers of carom.h; other pieces are lines of sight. */
export const PIECE_EDGE = 0;
export const PIECE_ARC = 1;

export type Column = number[] | bigint[];

/** The columns of an answer by the names of @carom/core, or why the question has no answer. */
export interface Answer {
  version: bigint;
  columns: Record<string, Column>;
  /** Null where the question was answered. */
  error: { field: string; message: string } | null;
}

/** The numbers of a column; empty if the answer has no such column. */
export function numbers(answer: Answer, name: string): number[] {
  return (answer.columns[name] ?? []) as number[];
}

export function ids(answer: Answer, name = 'polygonId'): bigint[] {
  return (answer.columns[name] ?? []) as bigint[];
}

/** Text of a question or answer, with 64-bit integers as digits: equal texts are equal values. */
export function toText(value: unknown): string {
  return JSON.stringify(value, (_, entry: unknown) => {
    if (typeof entry === 'bigint') return `#${entry}#`;
    if (typeof entry === 'number' && !Number.isFinite(entry)) return String(entry);
    return entry;
  }).replace(/"#(\d+)#"/g, '$1');
}

/** Whether two answers to one question have the same columns and the same error. */
export function sameAnswer(a: Answer, b: Answer): boolean {
  if (a.error || b.error) return a.error !== null && b.error !== null && a.error.field === b.error.field;
  const names = new Set([...Object.keys(a.columns), ...Object.keys(b.columns)]);
  for (const name of names) {
    const [one, other] = [a.columns[name] ?? [], b.columns[name] ?? []];
    if (one.length !== other.length) return false;
    for (let i = 0; i < one.length; ++i) if (!Object.is(one[i], other[i])) return false;
  }
  return true;
}
