// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do messages reach a server by gRPC? The channel to each server is made when it is first used, and again when the
// files of TLS have changed.

import { CaromError } from '@carom/core/questions';
import { Client, type ClientOptions, Metadata, type ServiceError } from '@grpc/grpc-js';
import { callError, statusDetails } from '../codec/status.js';
import { asCaromError, type CallOptions, type Service, type StreamCall, type StreamEvents, type Transport } from '../transport.js';
import type { Security } from './security.js';

type Bytes = Uint8Array<ArrayBuffer>;

const serialize = (message: Uint8Array): Buffer => Buffer.from(message.buffer, message.byteOffset, message.length);
const deserialize = (data: Buffer): Uint8Array => data;

/** Returns the error of a call of gRPC. */
function errorOf(error: unknown): CaromError {
  const { code, details, metadata } = error as Partial<ServiceError>;
  if (typeof code !== 'number') return asCaromError(error);
  const [value] = metadata?.get('grpc-status-details-bin') ?? [];
  return callError(code, details ?? '', value instanceof Uint8Array ? statusDetails(value) : []);
}

/** gRPC, to some servers. */
export class GrpcTransport implements Transport {
  private readonly clients = new Map<number, { generation: number; client: Client }>();
  private isClosed = false;

  constructor(
    readonly addresses: readonly string[],
    private readonly security: Security,
    private readonly options: ClientOptions,
  ) {}

  private client(index: number): Client {
    if (this.isClosed) throw new CaromError('FAILED_PRECONDITION', 'client', 'is closed');
    this.security.refresh();
    const { generation, credentials } = this.security;
    const known = this.clients.get(index);
    if (known?.generation === generation) return known.client;
    known?.client.close(); // calls in progress end first
    const client = new Client(this.addresses[index]!, credentials, this.options);
    this.clients.set(index, { generation, client });
    return client;
  }

  private metadata(): Metadata {
    const made = new Metadata();
    const authorization = this.security.authorization();
    if (authorization !== '') made.set('authorization', authorization);
    return made;
  }

  private static deadline({ timeoutMs }: CallOptions): { deadline?: number } {
    return timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs };
  }

  unary(service: Service, method: string, request: Uint8Array, options: CallOptions): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const call = this.client(options.address).makeUnaryRequest(
        `/carom.v1.${service}/${method}`,
        serialize,
        deserialize,
        request,
        this.metadata(),
        GrpcTransport.deadline(options),
        (error, response) => {
          options.signal?.removeEventListener('abort', cancel);
          if (error !== null) reject(errorOf(error));
          else resolve(response!);
        },
      );
      const cancel = () => call.cancel();
      options.signal?.addEventListener('abort', cancel);
      if (options.signal?.aborted) cancel();
    });
  }

  async *serverStream(method: string, request: Uint8Array, options: CallOptions): AsyncGenerator<Uint8Array> {
    const call = this.client(options.address).makeServerStreamRequest(
      `/carom.v1.SceneService/${method}`,
      serialize,
      deserialize,
      request,
      this.metadata(),
      GrpcTransport.deadline(options),
    );
    const cancel = () => call.cancel();
    options.signal?.addEventListener('abort', cancel);
    if (options.signal?.aborted) cancel();
    try {
      for await (const message of call) yield message as Uint8Array;
    } catch (error) {
      throw errorOf(error);
    } finally {
      options.signal?.removeEventListener('abort', cancel);
      call.on('error', () => undefined); // CANCELLED, of a caller that stopped
      call.cancel();
    }
  }

  /** Makes a call with many requests. */
  clientStream(method: string, requests: Iterable<Uint8Array>, options: CallOptions): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      let isOver = false;
      const call = this.client(options.address).makeClientStreamRequest(
        `/carom.v1.SceneService/${method}`,
        serialize,
        deserialize,
        this.metadata(),
        GrpcTransport.deadline(options),
        (error, response) => {
          isOver = true;
          if (error !== null) reject(errorOf(error));
          else resolve(response!);
        },
      );
      options.signal?.addEventListener('abort', () => call.cancel());
      const write = async () => {
        for (const request of requests) {
          if (isOver) return;
          // Waits until gRPC has taken the chunk, so that a large scene is not in memory twice.
          await new Promise<void>((done) => call.write(request, () => done()));
        }
        call.end();
      };
      write().catch((error: unknown) => {
        call.cancel();
        reject(asCaromError(error));
      });
    });
  }

  openStream(address: number, events: StreamEvents): StreamCall {
    const call = this.client(address).makeBidiStreamRequest<Uint8Array, Uint8Array>(
      '/carom.v1.QueryService/Stream',
      serialize,
      deserialize,
      this.metadata(),
    );
    let isFinished = false;
    let isOver = false;
    const over = (error: CaromError | null) => {
      if (isOver) return;
      isOver = true;
      events.ended(error);
    };
    call.on('data', (data: Uint8Array) => {
      if (!isOver) events.message(data);
    });
    call.on('error', (error) => over(errorOf(error)));
    call.on('status', ({ code }) => {
      if (code === 0) over(null);
    });
    call.on('drain', () => events.drained());
    return {
      write: (message: Bytes) => call.write(message),
      finish: () => {
        if (!isFinished) call.end();
        isFinished = true;
      },
      cancel: () => call.cancel(),
    };
  }

  close(): void {
    this.isClosed = true;
    for (const { client } of this.clients.values()) client.close();
    this.clients.clear();
  }
}
