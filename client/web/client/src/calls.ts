// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// To which server does a call go, and when is it made again?

import { create, type DescMessage, fromBinary, type MessageInitShape, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { CaromError } from '@carom/core/questions';
import { asCaromError, type CallOptions, type Servers, type Service, sleep, type Transport } from './transport.js';
import { milliseconds } from './values.js';

// Pauses between attempts of a call: each is twice the one before, of which a random part of up to half is left out.
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 3200;
const MOST_ATTEMPTS = 7; // of one address

/** Of one call. */
export interface Deadline {
  /** Of the call, attempts included, in place of that of the client; null: none. */
  deadlineMs?: number | null;
  /** Cancels the call. */
  signal?: AbortSignal;
}

/** Makes calls of a client. */
export class Caller {
  constructor(
    readonly transport: Transport,
    readonly servers: Servers,
    private readonly deadlineMs: number | null,
  ) {}

  /** Makes attempts of a call until one succeeds, or no other one may. */
  async attempt<T>(given: Deadline, mayRepeat: () => boolean, make: (options: CallOptions) => Promise<T>): Promise<T> {
    const { signal } = given;
    const deadlineMs = given.deadlineMs === undefined ? this.deadlineMs : given.deadlineMs;
    if (deadlineMs !== null) milliseconds(deadlineMs, 'deadlineMs');
    const end = deadlineMs === null ? Infinity : performance.now() + deadlineMs;
    for (let failed = 1; ; ++failed) {
      if (signal?.aborted) throw new CaromError('CANCELLED', '', 'the call is cancelled');
      const left = end - performance.now();
      if (left <= 0) throw new CaromError('DEADLINE_EXCEEDED', '', 'the deadline passed before the call began');
      const address = this.servers.current;
      try {
        return await make({ address, timeoutMs: left === Infinity ? undefined : left, signal });
      } catch (error) {
        const why = asCaromError(error);
        if (why.code !== 'UNAVAILABLE') throw why;
        this.servers.failOver(address);
        const pause = pauseAfter(failed, this.servers.count, why);
        if (!mayRepeat() || failed >= MOST_ATTEMPTS * this.servers.count || performance.now() + pause >= end) throw why;
        await sleep(pause, signal);
      }
    }
  }

  /** Makes a call of small messages. answered: takes the server that answered */
  async call<I extends DescMessage, O extends DescMessage>(
    method: string,
    [input, output]: readonly [I, O],
    request: MessageInitShape<I>,
    deadline: Deadline,
    repeats: boolean,
    service: Service = 'SceneService',
    answered: (address: number) => void = () => undefined,
  ): Promise<MessageShape<O>> {
    const data = toBinary(input, create(input, request));
    const response = await this.attempt(
      deadline,
      () => repeats,
      async (options) => {
        const made = await this.transport.unary(service, method, data, options);
        answered(options.address);
        return made;
      },
    );
    return parse(output, response);
  }
}

/** Reads a message. */
export function parse<O extends DescMessage>(schema: O, data: Uint8Array): MessageShape<O> {
  try {
    return fromBinary(schema, data);
  } catch (cause) {
    throw new CaromError('INTERNAL', '', 'the server sent a malformed message', { cause });
  }
}

function pauseAfter(failed: number, servers: number, error: CaromError): number {
  let pause = 0;
  if (failed >= servers) {
    const doubled = FIRST_PAUSE_MS * 2 ** Math.floor((failed - servers) / servers);
    pause = Math.min(doubled, LAST_PAUSE_MS) * (0.5 + Math.random() / 2);
  }
  return Math.max(pause, (error.retryAfter ?? 0) * 1000);
}
