// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a client prove who it is, and make sure of its server? A tenant and a role belong to a token or to a
// certificate (docs/security.md), so a client needs nothing else. Tokens go over TLS, or to a server on the same machine;
// files are read again when they change.

import { readFileSync, statSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { createSecureContext } from 'node:tls';
import { refuse } from '@carom/core/questions';
import { type ChannelCredentials, credentials } from '@grpc/grpc-js';

const REFRESH_MS = 1000; // between two checks of the files of TLS

/** A path, or PEM as bytes. */
export type Pem = string | Uint8Array;

/** How a client makes sure of its server, and proves who it is. Files are read again when they change. */
export interface Tls {
  /** Certificates of the authorities that sign the server's certificate; those of Node.js if absent. */
  ca?: Pem;
  /** Of the client, with `key`, which has no passphrase. */
  certificate?: Pem;
  key?: Pem;
}

/** Returns an address that a client accepts: `host:port` or `unix:PATH`. */
export function checkAddress(address: unknown): string {
  if (typeof address === 'string') {
    if (/^unix:./.test(address)) return address;
    const [, host, port] = /^(.+):(\d{1,5})$/.exec(address) ?? [];
    const isHost = host !== undefined && !host.includes('/') && (/^\[.*\]$/.test(host) || !host.includes(':'));
    if (isHost && Number(port) > 0 && Number(port) < 65536) return address;
  }
  throw refuse('addresses', `has ${String(address)}; host:port or unix:PATH, or several of them, are accepted`);
}

/** Whether calls to an address stay on this machine. */
function isOnThisMachine(address: string): boolean {
  if (/^(unix:|localhost:|\[::1\]:)/.test(address)) return true;
  const host = address.slice(0, address.lastIndexOf(':'));
  return isIPv4(host) && host.startsWith('127.');
}

function readFile(path: string, field: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw refuse(field, `cannot be read: ${(error as Error).message}`);
  }
}

/** What differs when a file has changed. */
function stateOf(path: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return '';
  }
}

function checkToken(text: unknown, field: string): string {
  const token = typeof text === 'string' ? text.trim() : '';
  if (!/^[!-~]+$/.test(token)) throw refuse(field, 'has no token, one word of printable ASCII');
  return token;
}

/** The token and the credentials of the connections of a client. */
export class Security {
  credentials: ChannelCredentials;
  generation = 0; // grows when the credentials change
  private token = '';
  private tokenState = '';
  private checked = performance.now();
  private states: string[];

  constructor(
    addresses: readonly string[],
    token: string | undefined,
    private readonly tokenFile: string | undefined,
    private readonly tls: Tls | undefined,
  ) {
    if (token !== undefined && tokenFile !== undefined) throw refuse('token', 'and tokenFile are both given');
    if (token !== undefined) this.token = checkToken(token, 'token');
    if (tokenFile !== undefined) {
      this.tokenState = stateOf(tokenFile);
      this.token = checkToken(readFile(tokenFile, 'tokenFile').toString('latin1'), 'tokenFile');
    }
    if (this.token !== '' && tls === undefined && !addresses.every(isOnThisMachine)) {
      throw refuse('tls', 'must be given with a token, unless the server is on this machine');
    }
    this.states = this.fileStates();
    this.credentials = tls === undefined ? credentials.createInsecure() : makeCredentials(tls);
  }

  /** The header that each call carries; empty: none. A file that cannot be used leaves the token as it was. */
  authorization(): string {
    if (this.tokenFile !== undefined) {
      const state = stateOf(this.tokenFile);
      if (state !== this.tokenState) {
        this.tokenState = state;
        try {
          this.token = checkToken(readFile(this.tokenFile, 'tokenFile').toString('latin1'), 'tokenFile');
        } catch {
          // The token stays.
        }
      }
    }
    return this.token === '' ? '' : `Bearer ${this.token}`;
  }

  /** Makes other credentials if the files have changed, and can be used; at most once a second. */
  refresh(): void {
    if (this.tls === undefined || performance.now() - this.checked < REFRESH_MS) return;
    this.checked = performance.now();
    const states = this.fileStates();
    if (states.every((state, i) => state === this.states[i])) return;
    this.states = states;
    try {
      this.credentials = makeCredentials(this.tls);
    } catch {
      return;
    }
    ++this.generation;
  }

  private fileStates(): string[] {
    const parts = [this.tls?.ca, this.tls?.certificate, this.tls?.key];
    return parts.filter((part) => typeof part === 'string').map(stateOf);
  }
}

function makeCredentials(tls: Tls): ChannelCredentials {
  if ((tls.certificate === undefined) !== (tls.key === undefined)) {
    const missing = tls.key === undefined ? 'key' : 'certificate';
    throw refuse(`tls.${missing}`, 'must be given: a certificate and its key are one pair');
  }
  const bytes = (name: 'ca' | 'certificate' | 'key') => {
    const part = tls[name];
    if (part === undefined) return null;
    return typeof part === 'string' ? readFile(part, `tls.${name}`) : Buffer.from(part);
  };
  const [ca, certificate, key] = [bytes('ca'), bytes('certificate'), bytes('key')];
  const check = (field: string, what: string, options: object) => {
    try {
      createSecureContext(options);
    } catch {
      throw refuse(field, what);
    }
  };
  if (ca !== null && !ca.includes('-----BEGIN CERTIFICATE-----')) throw refuse('tls.ca', 'has no certificates in PEM');
  if (ca !== null) check('tls.ca', 'has no certificates in PEM', { ca });
  if (key !== null) {
    const what = 'is not the key of tls.certificate, in PEM, without a passphrase';
    check('tls.key', what, { cert: certificate, key });
  }
  return credentials.createSsl(ca, key, certificate);
}
