// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do messages reach a server from a browser? Calls go by the Connect protocol, streams of frames over a web socket.

import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { CaromError, codeName } from '@carom/core/questions';
import { ConnectError, type Transport as ConnectTransport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';
import { callError } from '../codec/status.js';
import { DeleteSceneResponseSchema as EmptySchema } from '../generated/carom/v1/scene_service_pb.js';
import type { CallOptions, Service, StreamCall, StreamEvents, Transport } from '../transport.js';

const MOST_BUFFERED_BYTES = 2 ** 20; // of a web socket, above which it takes no further message
const DRAIN_MS = 4; // between two looks at what is buffered
const NORMAL = 1000;
const TOO_LARGE = 1009;
const FIRST_CODE = 4000; // close codes of caromd: this plus the code of gRPC

/**
 * A method whose messages are bytes: a message without fields has them all as unknown fields, which protobuf-es keeps
 * as they are, in their order.
 */
function methodOf<K extends 'unary' | 'server_streaming'>(service: Service, name: string, methodKind: K) {
  return {
    kind: 'rpc',
    methodKind,
    name,
    localName: name,
    parent: { typeName: `carom.v1.${service}` },
    input: EmptySchema,
    output: EmptySchema,
    idempotency: 0,
  } as const;
}

function errorOf(error: unknown): CaromError {
  if (error instanceof CaromError) return error;
  const { code, rawMessage, details } = ConnectError.from(error);
  const known = details.flatMap((detail) => ('value' in detail && detail.value instanceof Uint8Array ? [detail] : []));
  return callError(code, rawMessage, known as { type: string; value: Uint8Array }[]);
}

/** Connect and web sockets, to some servers. */
export class WebTransport implements Transport {
  private readonly transports: ConnectTransport[];
  private readonly sockets = new Set<StreamCall>();
  private readonly closing = new AbortController();

  /** addresses: base URLs */
  constructor(
    readonly addresses: readonly string[],
    private readonly token: string | undefined,
  ) {
    this.transports = addresses.map((baseUrl) => createConnectTransport({ baseUrl, useBinaryFormat: true }));
  }

  private header(): Headers {
    return new Headers(this.token === undefined ? {} : { authorization: `Bearer ${this.token}` });
  }

  /** A signal that is aborted with that of the caller, by `close`, and by `stop`, after which nothing listens. */
  private begin({ signal }: CallOptions): { signal: AbortSignal; stop: () => void } {
    if (this.closing.signal.aborted) throw new CaromError('FAILED_PRECONDITION', 'client', 'is closed');
    const made = new AbortController();
    const sources = signal === undefined ? [this.closing.signal] : [signal, this.closing.signal];
    const stop = () => {
      for (const source of sources) source.removeEventListener('abort', stop);
      made.abort();
    };
    for (const source of sources) source.addEventListener('abort', stop);
    if (signal?.aborted) stop();
    return { signal: made.signal, stop };
  }

  async unary(service: Service, method: string, request: Uint8Array, options: CallOptions): Promise<Uint8Array> {
    const { signal, stop } = this.begin(options);
    const message = fromBinary(EmptySchema, request);
    try {
      const timeout = options.timeoutMs === undefined ? undefined : Math.ceil(options.timeoutMs);
      const rpc = methodOf(service, method, 'unary') as never;
      const response = await this.transports[options.address]!.unary(rpc, signal, timeout, this.header(), message);
      return toBinary(EmptySchema, response.message as never);
    } catch (error) {
      throw errorOf(error);
    } finally {
      stop();
    }
  }

  async *serverStream(method: string, request: Uint8Array, options: CallOptions): AsyncGenerator<Uint8Array> {
    const { signal, stop } = this.begin(options);
    const message = fromBinary(EmptySchema, request);
    const requests = (async function* () {
      yield message;
    })();
    try {
      const timeout = options.timeoutMs === undefined ? undefined : Math.ceil(options.timeoutMs);
      const rpc = methodOf('SceneService', method, 'server_streaming') as never;
      const transport = this.transports[options.address]!;
      const response = await transport.stream(rpc, signal, timeout, this.header(), requests as never);
      for await (const each of response.message) yield toBinary(EmptySchema, each as never);
    } catch (error) {
      throw errorOf(error);
    } finally {
      stop();
    }
  }

  openStream(address: number, events: StreamEvents): StreamCall {
    if (this.closing.signal.aborted) throw new CaromError('FAILED_PRECONDITION', 'client', 'is closed');
    const call = new SocketCall(this.addresses[address]!, this.token, {
      ...events,
      ended: (error) => {
        this.sockets.delete(call);
        events.ended(error);
      },
    });
    this.sockets.add(call);
    return call;
  }

  close(): void {
    this.closing.abort();
    for (const call of this.sockets) call.cancel();
  }
}

/** The call of a stream over a web socket. */
class SocketCall implements StreamCall {
  private readonly socket: WebSocket;
  private readonly waiting: Uint8Array<ArrayBuffer>[] = []; // until the socket is open
  private written = 0;
  private received = 0;
  private isFinished = false;
  private isOver = false;

  constructor(
    url: string,
    token: string | undefined,
    private readonly events: StreamEvents,
  ) {
    this.socket = new WebSocket(`${url.replace(/^http/, 'ws')}/carom.v1.QueryService/Stream`, 'carom.v1');
    this.socket.binaryType = 'arraybuffer';
    this.socket.addEventListener('open', () => {
      if (token !== undefined) this.socket.send(JSON.stringify({ authorization: `Bearer ${token}` }));
      for (const message of this.waiting.splice(0)) this.socket.send(message);
      this.closeIfDone();
    });
    this.socket.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
      if (this.isOver || !(data instanceof ArrayBuffer)) return;
      ++this.received;
      events.message(new Uint8Array(data));
      this.closeIfDone();
    });
    // A connection that fails has no close code of its own; some implementations report the error alone.
    this.socket.addEventListener('error', () => this.over(closeError(0, '')));
    this.socket.addEventListener('close', ({ code, reason }) => this.over(closeError(code, reason)));
  }

  private over(error: CaromError | null): void {
    if (this.isOver) return;
    this.isOver = true;
    this.events.ended(error);
  }

  /** A web socket has no half-close, so it is closed after the last answer. */
  private closeIfDone(): void {
    if (this.isFinished && this.received === this.written) this.socket.close(NORMAL);
  }

  write(message: Uint8Array<ArrayBuffer>): boolean {
    ++this.written;
    if (this.socket.readyState === WebSocket.CONNECTING) this.waiting.push(message);
    else this.socket.send(message);
    if (this.socket.bufferedAmount < MOST_BUFFERED_BYTES) return true;
    this.drain();
    return false;
  }

  private drain(): void {
    setTimeout(() => {
      if (this.isOver) return;
      if (this.socket.bufferedAmount < MOST_BUFFERED_BYTES) this.events.drained();
      else this.drain();
    }, DRAIN_MS);
  }

  finish(): void {
    this.isFinished = true;
    this.closeIfDone();
  }

  cancel(): void {
    this.socket.close(NORMAL);
    this.over(new CaromError('CANCELLED', '', 'the call is cancelled'));
  }
}

/** Why a web socket was closed; null: without an error. */
function closeError(code: number, reason: string): CaromError | null {
  if (code === NORMAL) return null;
  if (code > FIRST_CODE && code < FIRST_CODE + 17) return new CaromError(codeName(code - FIRST_CODE), '', reason);
  if (code === TOO_LARGE) return new CaromError('RESOURCE_EXHAUSTED', '', 'a message is too large');
  const how = code === 0 ? 'failed' : `was closed with the code ${code}`;
  return new CaromError('UNAVAILABLE', '', `the web socket ${how}`);
}
