// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a stream of frames send next, and what happens when its call breaks? `Flow` has the state of a stream and does
// no input or output: stream.ts makes its calls. A stream has at most one call at a time. Frames wait in `unanswered`
// until their answers arrive; the first `sent` of them were written to the call. When a call breaks, another one replays
// the session, the handles, body sets and trackers that answered frames defined, and then sends the unanswered frames
// again, in their order. An answer depends on earlier frames by what they defined alone, so the caller gets the answers of
// a stream that never broke, each once.

import { CaromError } from '@carom/core/questions';
import { type Asked, ask, type Frame, FrameAnswer } from '../codec/frames.js';
import { read, readNumbers } from '../codec/messages.js';
import type { ForkLog } from '../scenes/forks.js';
import type { Servers } from '../transport.js';
import { integer, milliseconds, type StreamLimits } from '../values.js';
import { MOST_BINDINGS, type Replayed, Session } from './session.js';

const DEFAULT_FRAMES_IN_FLIGHT = 16; // of a server that states no limit
const MOST_IN_FLIGHT = 1024;
// Between calls that fail one after the other.
const FIRST_PAUSE_MS = 20;
const LAST_PAUSE_MS = 2000;
const RETRYABLE = new Set(['UNAVAILABLE', 'ABORTED', 'CANCELLED', 'INTERNAL', 'UNKNOWN']);

/** What a frame of the replay asks: nothing, with the seq 0. */
const NONE: readonly never[] = [];
const REPLAYED: Asked = {
  seq: 0n,
  groups: NONE,
  definitions: NONE,
  removed: NONE,
  bodySets: NONE,
  ticks: NONE,
  removedSets: NONE,
  data: new Uint8Array(0),
};

/** A frame that waits for its answer. */
export interface SentFrame {
  readonly asked: Asked;
  /** Of scenes to handles, which the frame makes. */
  readonly bindings: ReadonlyMap<string, number>;
  readonly answered: (answer: FrameAnswer) => void;
  readonly failed: (error: CaromError) => void;
}

/** Whether another call may succeed after a call that ended with an error. */
export function isRetryable(error: CaromError): boolean {
  return RETRYABLE.has(error.code) || error.retryAfter !== undefined;
}

export interface StreamOptions {
  /** `send` waits while so many frames have no answer; 8 if absent. */
  maxInFlight?: number;
  /** For which a broken stream tries to get a frame answered, by any of the servers; 30,000 if absent. */
  reconnectTimeoutMs?: number;
}

/** The state of a stream. */
export class Flow {
  // The stream.
  readonly unanswered: SentFrame[] = [];
  limits: StreamLimits | undefined; // the last ones that a server sent
  reconnects = 0;
  finished = false; // no further frame is sent
  cancelled = false;
  ended = false;
  error: CaromError | null = null; // why the stream ended; null: all frames are answered
  readonly maxInFlight: number;
  private readonly timeoutMs: number;
  private session = new Session();
  private readonly handles = new Map<string, number>();
  private seq = 0n;
  // The call.
  calls = 0; // that were opened
  address: number;
  isClosed = true; // nothing is written to the call, and its answers are dropped
  private answered = false; // whether the call has got an answer, which brings the limits
  private replay: Iterator<Replayed> | null = null;
  // Of each message of the replay that is not answered, the fork whose body sets it has, or an empty name.
  private replayedForks: string[] = [];
  private outstanding = 0; // messages that were written and are not answered
  private sent = 0;
  private refusal: CaromError | null = null; // of a frame of the replay
  // Calls that broke.
  private fault: CaromError | null = null; // an answer that breaks the protocol
  private failures = 0; // calls since the last answer to a frame
  private nextAttempt = 0;
  private giveUp: number | null = null;
  private last: CaromError | null = null;

  constructor(
    private readonly servers: Servers,
    private readonly forks: ForkLog,
    options: StreamOptions,
  ) {
    this.maxInFlight = integer(options.maxInFlight ?? 8, 'maxInFlight', 1, MOST_IN_FLIGHT);
    this.timeoutMs = milliseconds(options.reconnectTimeoutMs ?? 30_000, 'reconnectTimeoutMs');
    this.address = servers.current;
  }

  // --- Sending ------------------------------------------------------------------------------------

  /** Whether a frame may be queued without waiting. */
  get hasRoom(): boolean {
    return this.unanswered.length < this.maxInFlight;
  }

  /** Throws why no frame can be sent. */
  checkSending(): void {
    if (this.finished) throw new CaromError('FAILED_PRECONDITION', 'stream', 'is finished');
    if (this.ended || this.cancelled) throw this.why('CANCELLED', 'the stream is cancelled');
  }

  /** Numbers a frame and encodes it. Scenes get handles, which frames bind until an answer confirms them. */
  prepare(frame: Frame): Pick<SentFrame, 'asked' | 'bindings'> {
    const bindings = new Map<string, number>();
    for (const { scene } of frame.groups) {
      if (this.session.scenes.has(scene)) continue;
      let handle = this.handles.get(scene);
      if (handle === undefined && this.handles.size < MOST_BINDINGS) {
        handle = this.handles.size + 1;
        this.handles.set(scene, handle);
      }
      if (handle !== undefined) bindings.set(scene, handle);
    }
    const asked = ask(frame, this.seq + 1n, this.session.scenes, bindings);
    if (frame.options.seq === undefined) this.seq += 1n;
    return { asked, bindings };
  }

  /** Returns what is written to the call, or null if nothing may be written yet. */
  nextMessage(): Uint8Array<ArrayBuffer> | null {
    if (this.isClosed || !this.mayWrite()) return null;
    if (this.replay !== null) {
      const { value, done } = this.replay.next();
      if (done !== true) {
        const { data, fork } = value as Replayed;
        this.replayedForks.push(fork);
        ++this.outstanding;
        return data;
      }
      this.replay = null;
    }
    const frame = this.unanswered[this.sent];
    if (frame === undefined) return null;
    ++this.sent;
    ++this.outstanding;
    return frame.asked.data;
  }

  /** Whether the server takes another message. The first answer brings its limits: before, it gets one message. */
  private mayWrite(): boolean {
    if (this.outstanding === 0) return true;
    return this.answered && this.outstanding < (this.limits?.maxFramesInFlight || DEFAULT_FRAMES_IN_FLIGHT);
  }

  /** Whether the call has written everything. */
  get halfCloses(): boolean {
    return this.finished && this.replay === null && this.sent === this.unanswered.length;
  }

  // --- Answers ------------------------------------------------------------------------------------

  /** Takes a message of the call. Sets `isClosed` if the call is of no further use. */
  take(data: Uint8Array): void {
    if (this.isClosed) return; // another call may send the frames again: no frame gets two answers
    try {
      this.read(data);
    } catch (error) {
      if (!(error instanceof CaromError)) throw error;
      this.fault = error;
    }
    if (this.fault !== null || this.refusal !== null) this.isClosed = true;
  }

  private read(data: Uint8Array): void {
    const found = read('StreamResponse', data);
    if (found.has(2)) this.limits = readNumbers('StreamLimits', found.bytes(2)) as unknown as StreamLimits;
    if (!this.answered && this.calls > 1) ++this.reconnects;
    this.answered = true;
    const answer = found.bytes(1);
    const fork = this.replayedForks.shift();
    if (fork !== undefined) {
      this.takeReplayed(fork, new FrameAnswer(REPLAYED, answer).error);
    } else {
      const frame = this.unanswered[0];
      if (this.sent === 0 || frame === undefined) {
        throw new CaromError('INTERNAL', '', 'the server answered a frame that was not sent');
      }
      this.accept(frame, new FrameAnswer(frame.asked, answer));
      --this.sent;
    }
    --this.outstanding;
  }

  /**
   * Takes the answer to a message of the replay. An error after which another call may succeed breaks the call. The
   * server refuses the body sets of a fork that has other sets: the client drops these sets. It keeps those of a fork that
   * does not exist until it does.
   */
  private takeReplayed(fork: string, error: CaromError | null): void {
    if (error === null) return;
    if (isRetryable(error)) this.refusal = error;
    else if (fork !== '') this.session.bodySets.dropFork(fork);
    else throw error;
  }

  private accept(frame: SentFrame, answer: FrameAnswer): void {
    this.unanswered.shift();
    this.failures = 0;
    this.giveUp = null;
    const { groups } = frame.asked;
    if (answer.error === null) this.session.apply(frame.bindings, frame.asked);
    recordEdits(this.forks, groups, answer, this.address);
    removeMissing(this.forks, groups, answer, this.address);
    frame.answered(answer);
  }

  /** Returns the error with which the stream ended, or another one. */
  why(code: ConstructorParameters<typeof CaromError>[0], detail: string): CaromError {
    return this.error ?? new CaromError(code, '', detail);
  }

  // --- Calls --------------------------------------------------------------------------------------

  /** Begins a call, which sends all unanswered frames. */
  openCall(): void {
    if (this.calls === 0) this.address = this.servers.current;
    ++this.calls;
    this.answered = false;
    this.refusal = null;
    this.outstanding = this.sent = 0;
    this.replayedForks = [];
    this.replay = this.session.replay(this.limits);
    this.isClosed = this.cancelled;
  }

  /** Takes the end of a call, or an error that no call could begin with. Sets `ended`, or another call follows. */
  callOver(reason: CaromError | null): void {
    this.isClosed = true;
    const error = this.refusal ?? reason;
    this.refusal = null;
    const allAnswered = this.finished && this.unanswered.length === 0;
    if (this.fault !== null) return this.end(this.fault);
    if (allAnswered && (error === null || (!this.cancelled && isRetryable(error)))) return this.end(null);
    if (this.cancelled) return this.end(new CaromError('CANCELLED', '', 'the stream is cancelled'));
    const why =
      error ?? new CaromError('UNAVAILABLE', '', 'the server closed the stream before every frame was answered');
    const givesUp = this.giveUp !== null && performance.now() >= this.giveUp;
    if (!isRetryable(why) || givesUp || this.timeoutMs <= 0) return this.end(why);
    this.last = why;
    this.backOff(why);
  }

  private backOff(error: CaromError): void {
    // A server ends an idle stream, which is no reason to leave the server.
    if (error.code !== 'ABORTED') this.servers.failOver(this.address);
    this.address = this.servers.current;
    let pause = 0;
    if (this.failures > 0) {
      const doubled = FIRST_PAUSE_MS * 2 ** Math.min(this.failures - 1, 7);
      pause = Math.min(doubled, LAST_PAUSE_MS) * (0.5 + Math.random() / 2);
    }
    ++this.failures;
    this.nextAttempt = performance.now() + Math.max(pause, (error.retryAfter ?? 0) * 1000);
  }

  /** Returns the milliseconds until the next call begins; null: until a frame is sent. May set `ended`. */
  wait(): number | null {
    if (this.cancelled) {
      this.end(new CaromError('CANCELLED', '', 'the stream is cancelled'));
      return 0;
    }
    if (this.unanswered.length === 0) {
      if (!this.finished) return null;
      this.end(null);
      return 0;
    }
    const now = performance.now();
    this.giveUp ??= now + this.timeoutMs;
    if (this.nextAttempt >= this.giveUp) {
      this.end(this.last);
      return 0;
    }
    return Math.max(this.nextAttempt - now, 0);
  }

  /** Ends the stream; frames without answers fail. */
  end(error: CaromError | null): void {
    if (this.ended) return;
    this.ended = true;
    this.error = error;
    this.session = new Session();
    const why = this.why('CANCELLED', 'the stream has ended');
    for (const frame of this.unanswered.splice(0)) frame.failed(why);
  }
}

/** Records edits of forks on a server. */
export function recordEdits(forks: ForkLog, groups: Asked['groups'], answer: FrameAnswer, address: number): void {
  if (forks.isEmpty) return;
  answer.groups.forEach(({ editedVersion }, i) => {
    if (editedVersion > 0n) forks.record(groups[i]!.scene, groups[i]!.edits, editedVersion, address);
  });
}

/**
 * Forgets the forks that an answer reports as missing. It is for streams, which restore lost forks before they send
 * frames: what is missing then cannot be restored.
 */
function removeMissing(forks: ForkLog, groups: Asked['groups'], answer: FrameAnswer, address: number): void {
  if (forks.isEmpty) return;
  answer.groups.forEach(({ error }, i) => {
    if (error?.code !== 'NOT_FOUND' || !error.field.startsWith('scene')) return;
    forks.removeMissing(groups[i]!.scene, address);
  });
}
