// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The server of the page: its own origin, by @carom/client. Nothing is sent to another host.
import { type Client, connect } from '@carom/client';
import { CaromError } from '@carom/core/questions';

/** Milliseconds within which the server answers small calls, else it counts as stalled. */
export const SHORT_MS = 4000;
/** The same of calls that may take long. */
export const LONG_MS = 20000;

/** The token that each call sends; kept in the memory of the page alone. */
let token = '';
let made: Client | null = null;

export function useToken(text: string): void {
  token = text.trim();
  made?.close();
  made = null;
}

/** Throws a CaromError if the token must not be sent over this connection. */
export function client(): Client {
  made ??= connect(location.origin, { ...(token ? { token } : {}), deadlineMs: LONG_MS });
  return made;
}

export type Json = Record<string, unknown>;

/**
 * One call of the Connect protocol in JSON, for the calls that @carom/client does not have. Throws a CaromError, also if
 * the token must not be sent over this connection.
 */
export async function callJson(path: string, message: Json): Promise<Json> {
  const headers: Record<string, string> = { 'Content-Type': 'application/json', 'Connect-Protocol-Version': '1' };
  if (token) client(); // throws where @carom/client does not send the token
  if (token) headers.Authorization = `Bearer ${token}`;
  const signal = AbortSignal.timeout(LONG_MS);
  let response: Response;
  try {
    response = await fetch(`/carom.v1.${path}`, { method: 'POST', headers, body: JSON.stringify(message), signal });
  } catch (cause) {
    if (signal.aborted) throw new CaromError('DEADLINE_EXCEEDED', '', 'the server does not answer', { cause });
    throw new CaromError('UNAVAILABLE', '', 'no server answers', { cause });
  }
  const body = (await response.json().catch(() => null)) as { code?: string; message?: string } | null;
  if (response.ok && body) return body as Json;
  const code = (body?.code ?? (response.status === 404 ? 'unimplemented' : 'unavailable')).toUpperCase();
  throw new CaromError(code as CaromError['code'], '', body?.message ?? `status ${response.status}`);
}

/** The bytes at a path of the page's origin. Throws a CaromError. */
export async function fetchBytes(path: string): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(path).catch(() => null);
  if (!response) throw new CaromError('UNAVAILABLE', '', 'no server answers');
  if (!response.ok) throw new CaromError('NOT_FOUND', '', `${path}: status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}
