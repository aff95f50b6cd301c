// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a question of the page become one of @carom/core, which the core and a server answer alike, and how do the
// answers become plain columns?
import * as questions from '@carom/core/questions';
import type { Answer, Column, Question, ShapeSpec } from './question';

type Make = (given: object) => questions.Question;

function shapesOf(shape: ShapeSpec): questions.Shapes {
  if (shape.kind === 'polygon') return new questions.Shapes([[shape.points]]);
  const { ax, ay, bx, by, radius } = shape;
  return new questions.Shapes([], { ax: [ax], ay: [ay], bx: [bx], by: [by], radius: [radius] });
}

/** Throws a CaromError for an argument that is not accepted. */
export function coreQuestion({ kind, given, shape }: Question): questions.Question {
  const make = questions[kind] as unknown as Make;
  return make(shape ? { ...given, shapes: shapesOf(shape) } : given);
}

/** Columns that say why items have no answer. */
const ERRORS = /^error(Index|Column|Fault)$/;

export function plainAnswer(answers: questions.Answers): Answer {
  const { specs } = answers as unknown as { specs: readonly questions.ColumnSpec[] };
  const named = answers as unknown as Record<string, ArrayLike<number> | ArrayLike<bigint>>;
  const columns: Record<string, Column> = {};
  for (const { name } of specs) {
    if (!ERRORS.test(name)) columns[name] = Array.from(named[name] as ArrayLike<number>);
  }
  const failed = answers.error(0);
  return {
    version: answers.version,
    columns,
    error: failed ? { field: failed.field, message: failed.detail } : null,
  };
}

/** The answer to a question that is refused as a whole. */
export function refusedAnswer(error: questions.CaromError): Answer {
  return { version: 0n, columns: {}, error: { field: error.field, message: error.detail } };
}
