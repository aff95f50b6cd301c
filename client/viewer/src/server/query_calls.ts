// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which questions does the page ask the server? The same as it asks its own core, with answers in the same columns.
import { CaromError } from '@carom/core/questions';
import { coreQuestion, plainAnswer, refusedAnswer } from '../ask/core_question';
import type { Answer, Question } from '../ask/question';
import { client, LONG_MS } from './connection';

/** Asks a version of a scene, 0n: the current one. Throws a CaromError, but for a question that is refused. */
export async function askServer(scene: string, version: bigint, question: Question): Promise<Answer> {
  try {
    const asked = coreQuestion(question);
    return plainAnswer(await client().scene(scene, { version }).ask(asked, { deadlineMs: LONG_MS }));
  } catch (error) {
    if (error instanceof CaromError && error.code === 'INVALID_ARGUMENT') return refusedAnswer(error);
    throw error;
  }
}
