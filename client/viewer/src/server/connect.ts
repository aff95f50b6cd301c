// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a message reach the server? By the Connect protocol in JSON, from the page's own origin.
//
// docs/http.md describes calls, streams and errors. Nothing is sent to another host.

/** What the server answered in place of a message. `code` is as in Connect, such as `not_found`. */
export class ServerError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly violations: { field: string; description: string }[] = [],
  ) {
    super(message);
  }
}

export type Json = Record<string, unknown>;

/** The token that each call sends; kept in the memory of the page alone. */
let token = '';

export function useToken(text: string): void {
  token = text.trim();
}

/** Milliseconds without an answer after which a call fails as `deadline_exceeded`. */
const CALL_MS = 15000;

interface ErrorBody {
  code?: string;
  message?: string;
  details?: { type?: string; debug?: { fieldViolations?: { field: string; description: string }[] } }[];
}

function errorOf(body: ErrorBody): ServerError {
  const violations = (body.details ?? []).flatMap((detail) => detail.debug?.fieldViolations ?? []);
  return new ServerError(body.code ?? 'unknown', body.message ?? '', violations);
}

async function post(path: string, type: string, body: BodyInit, signal: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = { 'Content-Type': type, 'Connect-Protocol-Version': '1' };
  if (token) headers.Authorization = `Bearer ${token}`;
  try {
    return await fetch(`/carom.v1.${path}`, { method: 'POST', headers, body, signal, cache: 'no-store' });
  } catch (error) {
    if (signal.aborted) {
      const late = (signal.reason as { name?: string })?.name === 'TimeoutError';
      throw new ServerError(late ? 'deadline_exceeded' : 'canceled', late ? 'the server does not answer' : 'canceled');
    }
    throw new ServerError('unavailable', `no server answers (${String(error)})`);
  }
}

/** One call with one answer. */
export async function call(path: string, message: Json, signal?: AbortSignal): Promise<Json> {
  const limit = AbortSignal.timeout(CALL_MS);
  const both = signal ? AbortSignal.any([signal, limit]) : limit;
  const response = await post(path, 'application/json', JSON.stringify(message), both);
  let body: unknown;
  try {
    body = await response.json();
  } catch {
    throw new ServerError(response.ok ? 'internal' : 'unavailable', `status ${response.status} without JSON`);
  }
  if (!response.ok) throw errorOf(body as ErrorBody);
  return body as Json;
}

function envelope(text: string): Uint8Array<ArrayBuffer> {
  const data = new TextEncoder().encode(text);
  const framed = new Uint8Array(data.length + 5);
  new DataView(framed.buffer).setUint32(1, data.length);
  framed.set(data, 5);
  return framed;
}

/** Bytes that arrive in pieces, taken off in messages. */
class Envelopes {
  private bytes = new Uint8Array(0);
  private used = 0;

  add(piece: Uint8Array): void {
    const rest = this.bytes.subarray(this.used);
    const joined = new Uint8Array(rest.length + piece.length);
    joined.set(rest);
    joined.set(piece, rest.length);
    this.bytes = joined;
    this.used = 0;
  }

  next(): { flags: number; text: string } | null {
    const left = this.bytes.length - this.used;
    if (left < 5) return null;
    const at = this.bytes.byteOffset + this.used;
    const length = new DataView(this.bytes.buffer, at, 5).getUint32(1);
    if (left < 5 + length) return null;
    const text = new TextDecoder().decode(this.bytes.subarray(this.used + 5, this.used + 5 + length));
    const flags = this.bytes[this.used];
    this.used += 5 + length;
    return { flags, text };
  }
}

const END = 2;

/** One call with many answers, until the server ends it or `signal` is aborted. */
export async function* stream(path: string, message: Json, signal: AbortSignal): AsyncGenerator<Json> {
  const response = await post(path, 'application/connect+json', envelope(JSON.stringify(message)), signal);
  if (!response.ok || !response.body) throw new ServerError('unavailable', `status ${response.status}`);
  const reader = response.body.getReader();
  const envelopes = new Envelopes();
  try {
    for (;;) {
      let piece;
      try {
        piece = await reader.read();
      } catch (error) {
        if (signal.aborted) throw new ServerError('canceled', 'canceled');
        throw new ServerError('unavailable', `the connection is lost (${String(error)})`);
      }
      if (piece.done) throw new ServerError('unavailable', 'the connection is lost');
      envelopes.add(piece.value);
      for (let next = envelopes.next(); next; next = envelopes.next()) {
        const body = JSON.parse(next.text) as Json;
        if ((next.flags & END) === 0) {
          yield body;
        } else if (body.error) {
          throw errorOf(body.error as ErrorBody);
        } else {
          return;
        }
      }
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}
