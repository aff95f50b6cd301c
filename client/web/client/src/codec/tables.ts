// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The form of the tables that generate.py writes from carom_abi.json and the .proto files.

/** The type of a field; a column of numbers has the suffix `[]`. */
export type FieldType = string;

/** A field of a question: number, type, and the name of the column or option. */
export type QuestionField = readonly [number, FieldType, string];

/**
 * A column of answers: number of the field; type as in carom.h (d: double, Q: 64 bits, I: 32 bits, B: 8 bits); what an
 * entry belongs to; name of the enumeration, or empty; 1 or 2 for the first or the second contact point of a row; the
 * column without which this one is absent, or empty; whether an absent column is 0 in each row instead of empty.
 */
export type AnswerColumn = readonly [number, 'd' | 'Q' | 'I' | 'B', Level, string, 0 | 1 | 2, string, boolean];

/** What an entry of a column belongs to: an item, an entry, an edge, an item that is not clear, or none of these. */
export type Level = 'item' | 'entry' | 'edge' | 'unclear' | 'list';

/** How a kind of question is written, and its answers are read. */
export interface KindTable {
  readonly number: number; // as in carom.h
  readonly group: number; // the field of Group
  readonly fields: readonly QuestionField[]; // by ascending number
  readonly placed: readonly QuestionField[]; // of the placed shapes
  readonly answer: number; // the field of GroupAnswer
  readonly message: string;
  readonly errors: number; // the field of the errors of items
  readonly columns: Readonly<Record<string, AnswerColumn>>;
  readonly counts: string; // the column of counts, or empty
  readonly rows: string; // the column whose length is the number of entries, or empty
}

/** The fields of a message by their names: number, type, and `repeated`, `optional`, `oneof` or empty. */
export type FieldTable = Readonly<Record<string, readonly [number, FieldType, string]>>;
