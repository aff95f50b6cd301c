// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What a script in the browser's console can do with the page, as its tests do: read what is drawn and ask questions.
import { batch } from '@preact/signals';
import { codeFor, type Language } from '../ask/code';
import { evalLine, groupJson } from '../ask/group_json';
import type { Answer, Value } from '../ask/question';
import { toolOf } from '../ask/tools';
import type { Point } from '../draw/view';
import { toScreen } from '../draw/view';
import { agreement, answer, answered, coreReady, frameStats, handles, labels, loading, options, question, scene, tool, view } from '../state/state';

const WAIT_MS = 10000;

interface Asked {
  kind: string;
  group: unknown;
  line: unknown;
  answer: Answer;
}

/** The next answer that the page shows to the question of the moment. */
function nextAnswer(): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('no answer')), WAIT_MS);
    const stop = answer.subscribe((made) => {
      if (!made || answered.peek() !== question.peek()) return;
      clearTimeout(timer);
      queueMicrotask(() => stop());
      resolve(made);
    });
  });
}

/** Chooses a tool, its points and its options, and returns the question with the answer that the page shows. */
async function ask(id: string, points: Point[], chosen: Record<string, Value> = {}): Promise<Asked> {
  if (!toolOf(id)) throw new Error(`no tool ${id}`);
  batch(() => {
    answer.value = null;
    tool.value = id;
    options.value = { ...options.value, [id]: chosen };
    handles.value = { ...handles.value, [id]: points };
  });
  const made = await nextAnswer();
  const asked = question.value;
  if (!asked) throw new Error('no question');
  return { kind: asked.kind, group: groupJson(asked), line: evalLine(asked), answer: made };
}

export function installHooks(): void {
  Object.assign(window, {
    carom: {
      ask,
      /** The program that asks the question of the moment. */
      code: (language: Language) => {
        const asked = question.peek();
        return asked ? codeFor(language, asked, scene.peek()?.name ?? '', location.origin) : '';
      },
      /** Pictures of the map that were drawn. */
      frames: () => frameStats.peek().frames,
      /** Whether scene, core and picture are complete. */
      isSettled: () =>
        scene.peek() !== null &&
        loading.peek() === null &&
        frameStats.peek().missing === 0 &&
        coreReady.peek() !== 'loading',
      agreement: () => agreement.peek(),
      /** The numbers of edges on the map. */
      labels: () => labels.peek().map(({ text }) => text),
      core: () => coreReady.peek(),
      version: () => scene.peek()?.version ?? 0n,
      /** The pixel of the map at which a point of the scene is drawn. */
      toScreen: (x: number, y: number) => toScreen(view.peek(), x, y),
      setView: (x: number, y: number, scale: number) => {
        view.value = { ...view.peek(), cx: x, cy: y, px: 0, py: 0, scale };
      },
    },
  });
}
