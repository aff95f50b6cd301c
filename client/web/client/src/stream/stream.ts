// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a program keep a server busy? By a stream of frames, sent ahead of their answers: over gRPC in Node.js, over
// a web socket in a browser.

import { CaromError, refuse } from '@carom/core/questions';
import { Frame, type FrameAnswer } from '../codec/frames.js';
import type { ForkLog } from '../scenes/forks.js';
import { asCaromError, type Servers, sleep, type StreamCall, type Transport } from '../transport.js';
import type { StreamLimits } from '../values.js';
import { Flow, type SentFrame, type StreamOptions } from './flow.js';

const MOST_WAITING = 4096; // frames that wait for room

/**
 * A session of frames, which reconnects: `const answer = await stream.ask(frame)`, or `send` and `for await (const
 * answer of stream)`. Frames are answered in their order. Handles of scenes, trackers, forks of the client and body sets
 * with the ticks that they keep are made again on the server that a broken stream reconnects to, and frames without
 * answers are sent again. Ticks of a fork then have no version. The client drops the body sets of a fork that the server
 * does not have.
 */
export class Stream implements AsyncIterable<FrameAnswer> {
  private readonly flow: Flow;
  private call: StreamCall | null = null;
  private blocked = false; // the call takes no message before it is drained
  private keeper: Promise<void> | null = null;
  // Steps that wait for room.
  private readonly senders: { hasRoom: () => boolean; step: () => void }[] = [];
  private readonly answers: FrameAnswer[] = []; // that wait for `receive`
  private readonly receivers: { resolve: (answer: FrameAnswer | null) => void; reject: (error: CaromError) => void }[] =
    [];
  private wake: AbortController = new AbortController();
  private readonly whenEnded: Promise<void>;
  private markEnded: () => void = () => undefined;

  /** Made by `client.stream()`. */
  constructor(
    private readonly transport: Transport,
    servers: Servers,
    private readonly forks: ForkLog,
    options: StreamOptions,
    private readonly forget: (stream: Stream) => void,
  ) {
    this.flow = new Flow(servers, forks, options);
    this.whenEnded = new Promise((resolve) => (this.markEnded = resolve));
  }

  /** The limits of the server, undefined before the first answer. */
  get limits(): StreamLimits | undefined {
    return this.flow.limits;
  }

  /** How often the stream has reconnected. */
  get reconnects(): number {
    return this.flow.reconnects;
  }

  /** Whether no further frame is answered. */
  get isEnded(): boolean {
    return this.flow.ended;
  }

  /** The address of the server. */
  get address(): string {
    return this.transport.addresses[this.flow.address]!;
  }

  /**
   * Sends a frame and returns its answer. Waits while `maxInFlight` frames are unanswered. The arrays of the questions
   * may change after the call. Throws why the stream ended, and RESOURCE_EXHAUSTED while 4,096 frames wait; errors of
   * frames and groups are in the answer.
   */
  ask(frame: Frame): Promise<FrameAnswer> {
    return new Promise((resolve, reject) => {
      this.queue(frame, resolve, reject).catch(reject);
    });
  }

  /**
   * Sends a frame, whose answer `receive` or `for await` returns. Waits while `maxInFlight` frames are unanswered, or so
   * many answers are not received.
   */
  send(frame: Frame): Promise<void> {
    return this.queue(
      frame,
      (answer) => {
        const receiver = this.receivers.shift();
        if (receiver === undefined) this.answers.push(answer);
        else receiver.resolve(answer);
      },
      () => undefined,
      () => this.flow.hasRoom && this.answers.length < this.flow.maxInFlight,
    );
  }

  /** Returns the next answer to a frame of `send`; null after `finish`, when there are no more. */
  receive(): Promise<FrameAnswer | null> {
    const answer = this.answers.shift();
    if (answer !== undefined) {
      this.letNext();
      return Promise.resolve(answer);
    }
    if (this.flow.ended) return this.flow.error === null ? Promise.resolve(null) : Promise.reject(this.flow.error);
    return new Promise((resolve, reject) => this.receivers.push({ resolve, reject }));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<FrameAnswer> {
    for (let answer = await this.receive(); answer !== null; answer = await this.receive()) yield answer;
  }

  /** Ends the stream after all answers; throws why frames were not answered. */
  async finish(): Promise<void> {
    await this.inTurn(() => {
      this.flow.finished = true;
      if (this.keeper === null) this.end(null);
      this.pump();
      this.notify();
    });
    await this.whenEnded;
    if (this.flow.error !== null) throw this.flow.error;
  }

  /** Ends the stream at once: frames without answers fail with CANCELLED. */
  cancel(): void {
    if (this.flow.ended) return;
    this.flow.cancelled = true;
    this.flow.isClosed = true;
    this.call?.cancel();
    if (this.keeper === null) this.end(new CaromError('CANCELLED', '', 'the stream is cancelled'));
    this.letNext();
    this.notify();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cancel();
    await this.whenEnded;
  }

  // --- Sending ------------------------------------------------------------------------------------

  private async queue(
    frame: Frame,
    answered: SentFrame['answered'],
    failed: SentFrame['failed'],
    hasRoom?: () => boolean,
  ): Promise<void> {
    if (!(frame instanceof Frame)) throw refuse('frame', 'is no Frame');
    this.flow.checkSending();
    if (this.senders.length >= MOST_WAITING) {
      throw new CaromError('RESOURCE_EXHAUSTED', 'stream', `has ${MOST_WAITING} frames that wait for answers before them`);
    }
    const prepared = this.flow.prepare(frame);
    await this.inTurn(() => {
      this.flow.checkSending();
      this.flow.unanswered.push({ ...prepared, answered, failed });
      if (this.keeper === null) this.keeper = this.keep().catch((error: unknown) => this.end(asCaromError(error)));
      this.pump();
      this.notify();
    }, hasRoom);
  }

  /** Runs a step when those before have run and a frame has room, or the stream ends. */
  private async inTurn(step: () => void, hasRoom = () => this.flow.hasRoom): Promise<void> {
    if (this.senders.length === 0 && hasRoom()) return step();
    await new Promise<void>((resolve, reject) => {
      const tried = () => {
        try {
          resolve(step());
        } catch (error) {
          reject(error as CaromError);
        }
      };
      this.senders.push({ hasRoom, step: tried });
    });
  }

  /** Lets those go on that wait for room. */
  private letNext(): void {
    const { flow } = this;
    const isOver = () => flow.ended || flow.cancelled;
    while (this.senders.length > 0 && (isOver() || this.senders[0]!.hasRoom())) this.senders.shift()!.step();
  }

  private notify(): void {
    this.wake.abort();
    this.wake = new AbortController();
  }

  // --- Calls --------------------------------------------------------------------------------------

  /** Writes what may be written. */
  private pump(): void {
    const { call, flow } = this;
    if (call === null) return;
    while (!this.blocked) {
      const message = flow.nextMessage();
      if (message === null) break;
      this.blocked = !call.write(message);
    }
    if (!flow.isClosed && flow.halfCloses && !this.blocked) call.finish();
  }

  /** Opens calls, one after the other, until the stream ends. */
  private async keep(): Promise<void> {
    const { flow } = this;
    while (!flow.ended) {
      flow.callOver((await this.restore()) ?? (await this.oneCall()));
      while (!flow.ended) {
        const { signal } = this.wake;
        const pause = flow.wait();
        if (pause === 0) break;
        if (pause !== null) await sleep(pause, signal);
        else await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      }
    }
    this.end(flow.error);
  }

  /** Makes forks again that the server of the next call has lost; returns why that failed. */
  private async restore(): Promise<CaromError | null> {
    if (this.flow.calls === 0 || this.forks.isEmpty) return null;
    try {
      await this.forks.restore(this.transport, this.flow.address, () => this.flow.cancelled);
      return null;
    } catch (error) {
      return asCaromError(error);
    }
  }

  /** Makes a call, and returns why it ended; null: the server closed it. */
  private oneCall(): Promise<CaromError | null> {
    const { flow } = this;
    flow.openCall();
    this.blocked = false;
    return new Promise((resolve) => {
      if (flow.cancelled) return resolve(null);
      const call = this.transport.openStream(flow.address, {
        message: (data) => {
          flow.take(data);
          if (flow.isClosed) call.cancel();
          this.pump();
          this.letNext();
        },
        ended: (error) => {
          this.call = null;
          resolve(error);
        },
        drained: () => {
          this.blocked = false;
          this.pump();
        },
      });
      this.call = call;
      this.pump();
    });
  }

  private end(error: CaromError | null): void {
    this.flow.end(error);
    this.letNext();
    for (const { resolve, reject } of this.receivers.splice(0)) {
      if (this.flow.error === null) resolve(null);
      else reject(this.flow.error);
    }
    this.forget(this);
    this.markEnded();
  }
}
