// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A question with its arguments checked: the same for a scene of this program and for one of a server.

import type { Answers, Source } from './answers.js';
import {
  type Column,
  type ElementType,
  MAX_LENGTH,
  checkAttached,
  type TypedArray,
  elementBytes,
  makeArray,
  shown,
  toColumn,
  toInteger,
  toLong,
} from './columns.js';
import { refuse } from './errors.js';
import { type Shapes, type ShapesLike, toShapes } from './shapes.js';

/** A column of questions or answers. */
export interface ColumnSpec {
  /** As in carom.h, such as `scope.masks`. */
  readonly path: string;
  /** The name of the argument or of the property, such as `masks`. */
  readonly name: string;
  readonly type: ElementType;
  /** Offset of the `carom_*_column` in the struct of wasm32. */
  readonly offset: number;
  readonly optional: boolean;
}

/** A number beside the columns of questions. */
export interface OptionSpec {
  readonly path: string;
  readonly name: string;
  readonly type: 'u32' | 'u64' | 'f64';
  readonly offset: number;
  /** Words and their numbers, or null where any number in the range of the type is accepted. */
  readonly choices: Readonly<Record<string, number>> | null;
}

/** How a struct of carom.h lies in the memory of wasm32. */
export interface Layout {
  readonly size: number;
  readonly columns: readonly ColumnSpec[];
}

/** Arguments with a name: those of a kind of question, of bodies or of trackers. */
export interface Description {
  /** As in paths of fields, such as `segments`. */
  readonly name: string;
  readonly question: Layout & {
    readonly options: readonly OptionSpec[];
    /** Offset of the pointer to shapes, or -1. */
    readonly shapes: number;
  };
}

/** A kind of question. */
export interface Kind<A extends Answers = Answers> extends Description {
  /** `carom_kind`. */
  readonly number: number;
  /** The method of a scene, such as `cast`. */
  readonly method: string;
  /** The function of carom.h. */
  readonly function: string;
  /** The struct of answers. */
  readonly struct: Layout & { readonly numbers: Readonly<Record<string, number>> };
  /** Makes answers from what has their columns. */
  readonly answers: new (question: Question, source: Source) => A;
}

export type QuestionColumn = TypedArray | Column | null;

/** Columns with another number of entries than items. */
const OWN_LENGTH = new Set(['bodyContacts.mass']);
const PUSHED = new Set(['slides.dx', 'slides.dy']);

/** Arguments that are checked: columns of equal length and options. */
export class Arguments<K extends Description = Description> {
  readonly kind: K;
  /** The number of items. */
  readonly items: number;
  /** One for each of `kind.question.columns`; null: absent. */
  readonly columns: readonly QuestionColumn[];
  /** One for each of `kind.question.options`; 0: the default. */
  readonly options: readonly (number | bigint)[];
  readonly shapes: Shapes | null;

  constructor(kind: K, given: object) {
    this.kind = kind;
    const known = new Map(Object.entries(given));
    this.shapes = null;
    if (kind.question.shapes >= 0) {
      this.shapes = toShapes(known.get('shapes') as ShapesLike | undefined, `${kind.name}.shapes`);
      known.delete('shapes');
      if (kind.name === 'polygons' && this.shapes.capsules.radius.length > 0) {
        throw refuse('polygons.shapes', 'has capsules; capsules and circles accept these');
      }
    }
    this.options = kind.question.options.map((option) => toOption(kind.name, option, take(known, option.name)));
    const values = kind.question.columns.map((column) => toGiven(kind.name, column, take(known, column.name)));
    for (const name of known.keys()) throw refuse(`${kind.name}.${name}`, 'is not an argument of this question');
    const own = ownLengths(kind, values);
    this.items = countItems(kind, values, own);
    this.columns = kind.question.columns.map((column, i) => {
      const value = values[i];
      if (value === undefined) return this.shapeColumn(column);
      if (typeof value === 'object') return value;
      return (makeArray(column.type, this.items, `${kind.name}.${column.name}`) as Float64Array).fill(value as number);
    });
  }

  /**
   * The arrays of the columns, in the order of `kind.question.columns`; null: absent.
   *
   * Throws if the buffer of one was detached after the question was made.
   */
  arrays(): (TypedArray | null)[] {
    return this.columns.map((_, i) => this.array(i));
  }

  /** The array of a column. */
  array(index: number): TypedArray | null {
    const column = this.columns[index];
    if (column === null || column === undefined) return null;
    const array = ArrayBuffer.isView(column) ? column : column.array;
    if (array.length === 0 && this.items > 0) {
      checkAttached(array, `${this.kind.name}.${this.kind.question.columns[index]?.name}`);
    }
    return array;
  }

  /** One shape for all items where the list has a single one; else shape i for item i. */
  private shapeColumn(column: ColumnSpec): TypedArray | null {
    const isShape = column.name === 'shape';
    return isShape && this.shapes?.length === 1 && this.items !== 1 ? new Uint32Array(this.items) : null;
  }
}

/**
 * Items of one kind, to be answered by `ask` of a scene. Made by the functions of `@carom/core/questions`.
 *
 * Typed arrays are not copied: they must not change before the answer is there. A question may be asked again, also
 * after its arrays have other values. Numbers that the core does not accept, such as NaN, are errors of their item.
 */
export class Question<A extends Answers = Answers> extends Arguments<Kind<A>> {}

type Given = number | bigint | TypedArray | Column | undefined;

function take(known: Map<string, unknown>, name: string): unknown {
  const value = known.get(name);
  known.delete(name);
  return value ?? undefined;
}

function toGiven(kind: string, column: ColumnSpec, value: unknown): Given {
  const field = `${kind}.${column.name}`;
  if (value !== undefined) return toColumn(value, column.type, field);
  if (!column.optional) throw refuse(field, 'is required');
  return undefined;
}

/** Returns for each column whether its entries are not the items. */
function ownLengths(kind: Description, values: readonly Given[]): boolean[] {
  const pushes = kind.question.columns.findIndex((column) => kind.name === 'slides' && column.name === 'pushes');
  return kind.question.columns.map((column, i) => {
    const field = `${kind.name}.${column.name}`;
    const isOwn = OWN_LENGTH.has(field) || (PUSHED.has(field) && values[pushes] !== undefined);
    if (isOwn && values[i] !== undefined && typeof values[i] !== 'object') {
      throw refuse(field, 'is one number; an array is accepted, since it has not one entry an item');
    }
    return isOwn;
  });
}

function countItems(kind: Description, values: readonly Given[], own: readonly boolean[]): number {
  let items = -1;
  let first = '';
  kind.question.columns.forEach((column, i) => {
    const value = values[i];
    if (typeof value !== 'object' || own[i]) return;
    const length = value.length;
    if (items < 0) {
      items = length;
      first = column.name;
    } else if (length !== items) {
      throw refuse(`${kind.name}.${column.name}`, `has ${length} entries, where ${first} has ${items}`);
    }
  });
  if (items * elementBytes('f64') > MAX_LENGTH) throw refuse(`${kind.name}.${first}`, 'has too many entries');
  return items < 0 ? 1 : items;
}

function toOption(kind: string, option: OptionSpec, value: unknown): number | bigint {
  const field = `${kind}.${option.name}`;
  if (value === undefined) return option.type === 'u64' ? 0n : 0;
  if (option.choices !== null) {
    if (typeof value === 'string' && Object.hasOwn(option.choices, value)) return option.choices[value] as number;
    if (typeof value === 'number' && Object.values(option.choices).includes(value)) return value;
    throw refuse(field, `is ${shown(value)}; accepted are ${Object.keys(option.choices).join(', ')}`);
  }
  if (typeof value === 'boolean') return value ? 1 : 0;
  // 0 stands for all categories in C and for none on the wire, so it is refused.
  if (option.type === 'u64') return toLong(value, field, 1n);
  if (option.type === 'f64') {
    if (typeof value !== 'number') throw refuse(field, `is ${shown(value)}; a number is accepted`);
    return value;
  }
  return toInteger(value, field, 0, MAX_LENGTH);
}

/** The angles from a beam to the next one, of fans whose first and last beams are `fov` apart. */
export function withSteps<T extends { beams: unknown; fov?: unknown; step?: unknown }>(given: T): Omit<T, 'fov'> {
  const { fov, ...rest } = given;
  if ((fov === undefined) === (rest.step === undefined)) {
    throw refuse('fans.fov', 'or step must be given, and not both');
  }
  if (fov === undefined) return rest;
  const beams = toColumn(given.beams, 'u32', 'fans.beams');
  const angles = toColumn(fov, 'f64', 'fans.fov');
  const stepOf = (count: unknown, angle: unknown): number => (angle as number) / Math.max((count as number) - 1, 1);
  const list = (value: object): ArrayLike<unknown> => (ArrayBuffer.isView(value) ? value : (value as Column).array) as never;
  if (typeof beams !== 'object' && typeof angles !== 'object') return { ...rest, step: stepOf(beams, angles) };
  const [counts, wide] = [beams, angles].map((each) => (typeof each === 'object' ? list(each) : null));
  const length = (counts ?? wide)?.length ?? 1;
  if (wide && wide.length !== length) {
    throw refuse('fans.fov', `has ${wide.length} entries, where beams has ${length}`);
  }
  const step = new Float64Array(length);
  for (let i = 0; i < length; ++i) step[i] = stepOf(counts ? counts[i] : beams, wide ? wide[i] : angles);
  return { ...rest, step };
}
