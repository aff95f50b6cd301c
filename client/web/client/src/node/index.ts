// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Asks a Carom server from Node.js, by gRPC: start with `connect`.

import { refuse } from '@carom/core/questions';
import { checkOptions, integer, milliseconds } from '../values.js';
import { NodeClient } from './client.js';
import { checkAddress, Security, type Tls } from './security.js';
import { GrpcTransport } from './transport.js';

export * from '../api.js';
export type { NodeClient as Client } from './client.js';
export type { Pem, Tls } from './security.js';

const LEAST_KEEPALIVE_MS = 10_000; // below which a server closes connections
const MOST_BYTES = 2 ** 31 - 1;

export interface ClientOptions {
  /** A token that every call carries; over TLS, or to a server on this machine. */
  token?: string;
  /** The path of a file with a token, which is read again when it changes. */
  tokenFile?: string;
  /** true: for the authorities of Node.js; absent: plain text. */
  tls?: Tls | true;
  /** Of every call, attempts included; null: none; 30,000 if absent. Streams and watches have none. */
  deadlineMs?: number | null;
  /** Without data, after which the server is pinged, at least 10,000; 0: never; 60,000 if absent. */
  keepaliveMs?: number;
  /** Of one message; 64 MiB if absent. */
  maxReceiveBytes?: number;
}

/**
 * Makes a client of one server, or of several that have the same scenes.
 *
 * addresses: `host:port` or `unix:PATH`, several as a list or with commas. The network connection is made by the first
 * call. Throws INVALID_ARGUMENT for a malformed address, an option out of range, and files that cannot be used.
 */
export function connect(addresses: string | readonly string[], options: ClientOptions = {}): NodeClient {
  checkOptions(options, ['token', 'tokenFile', 'tls', 'deadlineMs', 'keepaliveMs', 'maxReceiveBytes']);
  const given: unknown = typeof addresses === 'string' ? addresses.split(',') : addresses;
  if (!Array.isArray(given) || given.length === 0) throw refuse('addresses', 'is no list of addresses');
  const listed = given.map(checkAddress);
  const { token, tokenFile, deadlineMs = 30_000, keepaliveMs = 60_000, maxReceiveBytes = 2 ** 26 } = options;
  if (deadlineMs !== null) milliseconds(deadlineMs, 'deadlineMs', 1);
  if (keepaliveMs !== 0) milliseconds(keepaliveMs, 'keepaliveMs', LEAST_KEEPALIVE_MS, 86_400_000);
  integer(maxReceiveBytes, 'maxReceiveBytes', 1024, MOST_BYTES);
  const tls = options.tls === true ? {} : options.tls;
  const security = new Security(listed, token, tokenFile, tls);
  const transport = new GrpcTransport(listed, security, {
    'grpc.max_receive_message_length': maxReceiveBytes,
    'grpc.max_send_message_length': -1,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 2000,
    'grpc.use_local_subchannel_pool': 1,
    ...(keepaliveMs > 0
      ? { 'grpc.keepalive_time_ms': keepaliveMs, 'grpc.keepalive_timeout_ms': Math.min(keepaliveMs, 20_000) }
      : {}),
    // A proxy of the environment does not get a token in plain text.
    ...(security.authorization() !== '' && tls === undefined ? { 'grpc.enable_http_proxy': 0 } : {}),
  });
  return new NodeClient(transport, deadlineMs);
}
