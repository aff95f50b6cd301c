// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do messages reach a server? Node.js has gRPC, browsers have Connect and web sockets; all else of the client is the
// same for both.

import { CaromError } from '@carom/core/questions';

export type Service = 'SceneService' | 'QueryService';

export interface CallOptions {
  /** The index of the server. */
  address: number;
  /** Absent: no deadline. */
  timeoutMs?: number | undefined;
  /** Cancels the call. */
  signal?: AbortSignal | undefined;
}

/** Calls of one server each, without repetition. Failures are CaromErrors. */
export interface Calls {
  unary(service: Service, method: string, request: Uint8Array, options: CallOptions): Promise<Uint8Array>;
}

/** What the call of a stream reports. After `ended` it reports nothing. */
export interface StreamEvents {
  message(data: Uint8Array): void;
  /** null: the server closed the call without an error. */
  ended(error: CaromError | null): void;
  /** A message may be written again. */
  drained(): void;
}

/** The call of a stream. */
export interface StreamCall {
  /** Writes a message; false: no further one may be written before `drained`. */
  write(message: Uint8Array<ArrayBuffer>): boolean;
  /** Ends the stream when all answers have arrived; nothing is written afterwards. */
  finish(): void;
  /** Ends the call at once. */
  cancel(): void;
}

/** All that a client needs of gRPC, or of Connect and web sockets. */
export interface Transport extends Calls {
  readonly addresses: readonly string[];
  /** Makes a call with many answers. Ends when the caller stops iterating. */
  serverStream(method: string, request: Uint8Array, options: CallOptions): AsyncIterable<Uint8Array>;
  /** Opens the call of a stream of frames. */
  openStream(address: number, events: StreamEvents): StreamCall;
  close(): void;
}

/** The servers of a client, and the one to which calls go. */
export class Servers {
  current = 0;

  constructor(readonly count: number) {}

  /** Makes the server after `index` the current one, unless a call has already done so. */
  failOver(index: number): void {
    if (this.current === index) this.current = (index + 1) % this.count;
  }
}

/** Waits; less if the signal is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
  });
}

/** Returns a CaromError as it is; others as INTERNAL. */
export function asCaromError(error: unknown): CaromError {
  if (error instanceof CaromError) return error;
  return new CaromError('INTERNAL', '', `a fault of the client: ${String(error)}`, { cause: error });
}
