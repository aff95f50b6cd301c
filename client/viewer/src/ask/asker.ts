// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// When is which question asked? The page's own core answers as fast as it can, one question at a time; so does the server,
// and its answers are compared with those of the page.
import { CaromError } from '@carom/core/questions';
import { batch, effect } from '@preact/signals';
import { askServer } from '../server/query_calls';
import { serverAnswered, serverFailed } from '../state/scene_session';
import {
  agreement,
  answer,
  answered,
  answerMs,
  coreReady,
  handles,
  options,
  pinned,
  question,
  revision,
  scene,
  tool,
} from '../state/state';
import { askCore } from './core_link';
import { type Answer, type Question, sameAnswer, toText } from './question';
import { optionValue, toolOf } from './tools';

/** Whether the page shows a file, so that there is no server to ask. */
export const offline = { value: false };

/** A question with the answer of the page. */
interface Own {
  asked: Question;
  scene: string;
  answer: Answer;
}

const core = { busy: false, again: false };
const server = { busy: false, again: false };
/** The last answer of the page; null: it has none for this scene. */
let own: Own | null = null;

function current(): Question | null {
  const chosen = toolOf(tool.value);
  const points = chosen && handles.value[chosen.id];
  if (!chosen || !points || !scene.value) return null;
  return chosen.ask(points, (name) => optionValue(chosen, options.value[chosen.id], name));
}

/** Shows an answer, unless the tool or the scene has changed since its question. */
function show(asked: Question, name: string, made: Answer, ms: number): void {
  if (question.peek()?.kind !== asked.kind || scene.peek()?.name !== name) return;
  batch(() => {
    answered.value = asked;
    answer.value = made;
    answerMs.value = ms;
  });
}

/** Asks the page's core: one question at a time, then the newest one. Each answer is newer than the one before it. */
async function ask(): Promise<void> {
  core.again = true;
  if (core.busy) return;
  core.busy = true;
  while (core.again) {
    core.again = false;
    const asked = question.peek();
    const name = scene.peek()?.name;
    if (!asked || !name) break;
    const begin = performance.now();
    const made = await askCore(asked);
    own = made && { asked, scene: name, answer: made };
    if (made) show(asked, name, made, performance.now() - begin);
    void compare();
  }
  core.busy = false;
}

/**
 * Asks the server, one question at a time: what the page answered last, to compare both answers; the question of the
 * moment where the page has no answer.
 */
async function compare(): Promise<void> {
  if (offline.value) return;
  server.again = true;
  if (server.busy) return;
  server.busy = true;
  agreement.value = { ...agreement.value, waiting: true };
  while (server.again) {
    server.again = false;
    const name = scene.peek()?.name;
    const mine = coreReady.peek() === 'ready' && own?.scene === name ? own : null;
    const asked = mine?.asked ?? question.peek();
    if (!asked || !name) break;
    try {
      const begin = performance.now();
      const made = await askServer(name, mine?.answer.version ?? pinned.peek(), asked);
      serverAnswered();
      if (mine) count(sameAnswer(mine.answer, made), asked, mine.answer, made);
      else show(asked, name, made, performance.now() - begin);
    } catch (error) {
      // A version that the server no longer keeps is no disagreement; the next version is asked again.
      if (error instanceof CaromError && error.code === 'OUT_OF_RANGE') continue;
      serverFailed(error);
      break;
    }
  }
  server.busy = false;
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
    void coreReady.value;
    const before = question.peek();
    if (toText(before) !== toText(made)) question.value = made;
    const asked = question.peek();
    if (!asked) {
      answer.value = null;
      return;
    }
    if (before?.kind !== asked.kind) answer.value = null;
    queueMicrotask(() => void ask());
  });
}
