// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Asks a Carom server from a browser, over its port for HTTP: start with `connect`.

import { refuse } from '@carom/core/questions';
import { Client } from '../client.js';
import { checkOptions, milliseconds } from '../values.js';
import { WebTransport } from './transport.js';

export * from '../api.js';

export interface ClientOptions {
  /** A token that every call carries; over https, or to a server on this machine. */
  token?: string;
  /** Of every call, attempts included; null: none; 30,000 if absent. Streams and watches have none. */
  deadlineMs?: number | null;
}

function checkUrl(address: unknown): URL {
  try {
    const url = new URL(String(address), globalThis.location?.href);
    if (/^https?:$/.test(url.protocol)) return url;
  } catch {
    // It is refused.
  }
  throw refuse('addresses', `has ${String(address)}; URLs with http or https are accepted`);
}

function isOnThisMachine({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

/**
 * Makes a client of one server, or of several that have the same scenes.
 *
 * addresses: the URL of a server, such as `https://carom.example:7422`, or several of them. Throws INVALID_ARGUMENT for a
 * malformed URL and for an option out of range.
 */
export function connect(addresses: string | readonly string[], options: ClientOptions = {}): Client {
  checkOptions(options, ['token', 'deadlineMs']);
  const given: readonly unknown[] = Array.isArray(addresses) ? addresses : [addresses];
  if (given.length === 0) throw refuse('addresses', 'is empty');
  const urls = given.map(checkUrl);
  const { token, deadlineMs = 30_000 } = options;
  if (deadlineMs !== null) milliseconds(deadlineMs, 'deadlineMs', 1);
  if (token !== undefined && !/^[!-~]+$/.test(token)) throw refuse('token', 'is no word of printable ASCII');
  if (token !== undefined && !urls.every((url) => url.protocol === 'https:' || isOnThisMachine(url))) {
    throw refuse('addresses', 'must have https with a token, unless the server is on this machine');
  }
  const listed = urls.map(({ origin, pathname }) => origin + pathname.replace(/\/$/, ''));
  return new Client(new WebTransport(listed, token), deadlineMs);
}
