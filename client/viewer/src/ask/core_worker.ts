// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Answers questions by @carom/core, beside the page's thread.
import type { FromCore, ToCore } from './core_messages';

const send = (message: FromCore): void => postMessage(message);

self.onmessage = ({ data }: MessageEvent<ToCore>) => {
  if (data.kind === 'open') send({ kind: 'state', state: 'absent' });
  if (data.kind === 'ask') send({ kind: 'answer', number: data.number, answer: null });
};
