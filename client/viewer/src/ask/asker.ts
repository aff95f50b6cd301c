// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// When is which question asked? The page's own core answers each change of a question at once; the server answers the
// same question as fast as it can, one at a time, and both answers are compared.
import { CaromError } from '@carom/core/questions';
import { effect } from '@preact/signals';
import { askServer } from '../server/query_calls';
import { troubleOf } from '../state/scene_session';
import {
  agreement,
  answer,
  answerMs,
  handles,
  online,
  options,
  pinned,
  question,
  revision,
  scene,
  tool,
  trouble,
} from '../state/state';
import { askCore } from './core_link';
import { type Answer, type Question, sameAnswer, toText } from './question';
import { optionValue, toolOf } from './tools';

/** Whether the page shows a file, so that there is no server to ask. */
export const offline = { value: false };

let serial = 0;
let serverBusy = false;
let again = false;
let coreAnswer: { text: string; answer: Answer } | null = null;

function current(): Question | null {
  const chosen = toolOf(tool.value);
  const points = chosen && handles.value[chosen.id];
  if (!chosen || !points || !scene.value) return null;
  return chosen.ask(points, (name) => optionValue(chosen, options.value[chosen.id], name));
}

async function ask(asked: Question): Promise<void> {
  serial += 1;
  const mine = serial;
  const begin = performance.now();
  const made = await askCore(asked);
  if (mine !== serial) return;
  if (made) {
    answer.value = made;
    answerMs.value = performance.now() - begin;
    coreAnswer = { text: toText(asked), answer: made };
  } else {
    coreAnswer = null;
  }
  void compare();
}

/** Asks the server the question of the moment, and compares its answer with that of the page. */
async function compare(): Promise<void> {
  if (offline.value) return;
  again = true;
  if (serverBusy) return;
  serverBusy = true;
  agreement.value = { ...agreement.value, waiting: true };
  while (again) {
    again = false;
    const asked = question.peek();
    const name = scene.peek()?.name;
    if (!asked || !name) break;
    const own = coreAnswer;
    try {
      const begin = performance.now();
      const version = own?.answer.version ?? pinned.peek();
      const made = await askServer(name, version, asked);
      online.value = true;
      if (question.peek() !== asked) continue;
      if (!own) {
        answer.value = made;
        answerMs.value = performance.now() - begin;
      } else if (own.text === toText(asked)) {
        count(sameAnswer(own.answer, made), asked, own.answer, made);
      }
    } catch (error) {
      // A version that the server no longer keeps is no disagreement; the next version is asked again.
      if (error instanceof CaromError && error.code === 'OUT_OF_RANGE') continue;
      const found = troubleOf(error);
      if (found.kind !== 'no_server' && found.kind !== 'stalled') trouble.value = found;
      break;
    }
  }
  serverBusy = false;
  agreement.value = { ...agreement.value, waiting: false };
}

function count(same: boolean, asked: Question, own: Answer, other: Answer): void {
  const { same: equal, different } = agreement.value;
  agreement.value = {
    same: equal + (same ? 1 : 0),
    different: different + (same ? 0 : 1),
    waiting: agreement.value.waiting,
  };
  if (!same) console.warn('different answers', toText(asked), toText(own), toText(other));
}

/** Keeps question and answer as tool, points and options ask for them. */
export function startAsking(): void {
  effect(() => {
    const made = current();
    void revision.value;
    const before = question.peek();
    if (toText(before) !== toText(made)) question.value = made;
    const asked = question.peek();
    if (!asked) {
      serial += 1;
      answer.value = null;
      return;
    }
    if (before?.kind !== asked.kind) answer.value = null;
    queueMicrotask(() => void ask(asked));
  });
}
