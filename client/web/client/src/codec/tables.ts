// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are questions written, and answers read? generate.py writes the tables from carom_abi.json and the .proto files.

import { ANSWERS, KINDS, MESSAGES } from '../generated/tables.js';

/**
 * The type of a field, as a letter: d double, q fixed64, l uint64, u uint32, i int32, b bool, e enumeration, s text,
 * y bytes, m message; D, Q, U columns of double, fixed64 and uint32; P placed shapes, S shapes, G polygons.
 */
export type FieldType = string;

/** A field of a question: number, type, and the name of the column or option. */
export type QuestionField = readonly [number, FieldType, string];

/**
 * What an entry of a column belongs to: item, entry, edge, unclear (an item that is not clear), word (one of as many for
 * each item), or none of these (list).
 */
export type Level = 'i' | 'e' | 'g' | 'u' | 'w' | 'l';

/** A column of answers. */
export interface AnswerColumn {
  readonly field: number;
  /** As in carom.h: d double, Q 64 bits, I 32 bits, B 8 bits. */
  readonly type: 'd' | 'Q' | 'I' | 'B';
  readonly level: Level;
  /** The name of the enumeration, or empty. */
  readonly names: string;
  /** 1 or 2: of the first or the second contact point of a row. */
  readonly point: number;
  /** The column without which this one is absent, or empty. */
  readonly leader: string;
  /** Whether an absent column is 0 in each row instead of empty. */
  readonly isZero: boolean;
}

/** How a kind of question is written, and its answers are read. */
export interface KindTable {
  readonly number: number; // as in carom.h
  readonly group: number; // the field of Group
  readonly answer: number; // the field of GroupAnswer
  readonly message: string;
  readonly errors: number; // the field of the errors of items
  readonly counts: string; // the column of counts, or empty
  readonly rows: string; // the column whose length is the number of entries, or empty
  readonly fields: readonly QuestionField[]; // by ascending number
  readonly placed: readonly QuestionField[]; // of the placed shapes
  readonly columns: Readonly<Record<string, AnswerColumn>>;
}

/** A field of a message: number, type, and whether it is r(epeated), o(ptional or of a oneof), or neither. */
export type Field = readonly [number, FieldType, string];

function fieldsOf(text: string): QuestionField[] {
  return [...text.matchAll(/(\d+)(\w)(\w*)/g)].map(([, number, type, name]) => [Number(number), type!, name!]);
}

function columnsOf(text: string): Record<string, AnswerColumn> {
  const made: Record<string, AnswerColumn> = {};
  for (const match of text.matchAll(/(\w+):(\d+)(\w)(\w)(?:\.(\w+))?(?:\*(\d))?(?:<(\w+))?(!?)/g)) {
    const [, path, field, type, level, names = '', point = '0', leader = '', zero] = match;
    made[path!] = {
      field: Number(field),
      type: type as AnswerColumn['type'],
      level: level as Level,
      names,
      point: Number(point),
      leader,
      isZero: zero === '!',
    };
  }
  return made;
}

/** The kinds of questions, by their numbers in carom.h. */
export const TABLES: ReadonlyMap<number, KindTable> = new Map(
  KINDS.map((text) => {
    const [number, group, answer, message, errors, counts, rows, fields, placed] = text.split('|') as string[];
    const table: KindTable = {
      number: Number(number),
      group: Number(group),
      answer: Number(answer),
      message: message!,
      errors: Number(errors),
      counts: counts!,
      rows: rows!,
      fields: fieldsOf(fields!),
      placed: fieldsOf(placed!),
      columns: columnsOf(ANSWERS[message!]!),
    };
    return [table.number, table];
  }),
);

const messages = new Map<string, Readonly<Record<string, Field>>>();

/** The fields of a message by their names, by ascending number. */
export function table(name: string): Readonly<Record<string, Field>> {
  let made = messages.get(name);
  if (made === undefined) {
    const fields = [...MESSAGES[name]!.matchAll(/(\w+):(\d+)(\w)(\w?)/g)];
    made = Object.fromEntries(
      fields.map(([, field, number, type, label]) => [field!, [Number(number), type!, label!] as const]),
    );
    messages.set(name, made);
  }
  return made;
}
