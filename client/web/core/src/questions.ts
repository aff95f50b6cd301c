// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Questions, answers, polygons and shapes: what a scene of this program and one of a server have in common. Nothing
 * here needs WebAssembly.
 *
 *     import { segments } from '@carom/core/questions';
 *
 *     const question = segments({ ax: [-2], ay: [1], bx: [6], by: [1], mode: 'closest' });
 *     const answers = await scene.ask(question);
 *     answers.hit(0)?.fraction;
 */

export * from './answers.js';
export {
  type Column,
  type ElementType,
  type Flags,
  type Integers,
  type Longs,
  type Numbers,
  type TypedArray,
  checkAttached,
} from './columns.js';
export * from './errors.js';
export * from './generated/answers.js';
export * from './generated/asking.js';
export * from './generated/questions.js';
export * from './polygons.js';
export { type ColumnSpec, type Kind, type Layout, type OptionSpec, Question, type QuestionColumn } from './question.js';
export * from './shapes.js';
