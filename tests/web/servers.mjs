// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Servers that a test kills, starts again at the same port, or gives certificates and tokens.
//
// Environment: CAROMD_BINARY names the program.

import assert from 'node:assert/strict';
import { spawn, execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CaromError } from '@carom/core/questions';

const START_MS = 20_000;

/** A folder that is removed after the test. */
export function folderOf(t) {
  const folder = mkdtempSync(join(tmpdir(), 'carom-web-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A `caromd` at loopback ports, in a folder of its own. */
export class Caromd {
  constructor(folder, options) {
    mkdirSync(folder, { recursive: true });
    this.folder = folder;
    this.options = options;
    this.ports = [0, 0];
  }

  get address() {
    return `127.0.0.1:${this.ports[0]}`;
  }

  get url() {
    return `${this.scheme ?? 'http'}://127.0.0.1:${this.ports[1]}`;
  }

  /** Starts the server, again at the ports that it had. */
  async start() {
    const [out, err] = ['out', 'err'].map((name) => openSync(join(this.folder, name), 'w'));
    const [port, http] = this.ports;
    this.process = spawn(
      process.env.CAROMD_BINARY,
      [
        '--address',
        `127.0.0.1:${port}`,
        '--http-address',
        `127.0.0.1:${http}`,
        '--admin-address=off',
        '--store=memory',
        `--state-dir=${this.folder}`,
        ...this.options,
      ],
      { stdio: ['ignore', out, err] },
    );
    this.exited = new Promise((resolve) => this.process.once('exit', resolve));
    closeSync(out);
    closeSync(err);
    for (const end = Date.now() + START_MS; ; await sleep(10)) {
      const text = readFileSync(join(this.folder, 'out'), 'utf8');
      const grpc = /listening on \S*?:(\d+)\n/.exec(text);
      const web = /http on \S*?:(\d+)\n/.exec(text);
      if (grpc && web) {
        this.ports = [Number(grpc[1]), Number(web[1])];
        return this;
      }
      if (this.process.exitCode !== null || Date.now() > end) {
        this.process.kill('SIGKILL');
        throw new Error(`caromd does not listen: ${text} ${readFileSync(join(this.folder, 'err'), 'utf8').slice(-2000)}`);
      }
    }
  }

  /** Ends the server, by SIGKILL as a crash does, or by SIGTERM as a deployment does. */
  async kill(signal = 'SIGKILL') {
    if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill(signal);
    await this.exited;
  }
}

/** Starts a server that ends with the test. */
export async function caromd(t, ...options) {
  const made = new Caromd(folderOf(t), options);
  t.after(() => made.process?.kill('SIGKILL'));
  return made.start();
}

/** Passes connections on to a server, and cuts each after a number of bytes in both directions; `cutAll` cuts all. */
export async function cutProxy(t, port, sizes) {
  const open = new Set();
  const proxy = { cuts: 0, address: '', cutAll: () => open.forEach((socket) => socket.destroy()) };
  const listener = createServer((near) => {
    const far = createConnection(port, '127.0.0.1');
    let left = sizes.shift() ?? Infinity;
    for (const [source, target] of [
      [near, far],
      [far, near],
    ]) {
      source.on('data', (data) => {
        target.write(data.subarray(0, Math.max(left, 0)));
        left -= data.length;
        if (left > 0) return;
        ++proxy.cuts;
        near.destroy();
        far.destroy();
      });
      open.add(source);
      source.on('error', () => undefined);
      source.on('close', () => {
        open.delete(source);
        target.destroy();
      });
    }
  });
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
  t.after(() => listener.close());
  proxy.address = `127.0.0.1:${listener.address().port}`;
  return proxy;
}

/** Makes ca.pem and, signed by it, server.pem and client.pem with server.key and client.key. */
export function certificates(folder) {
  const openssl = (...args) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...curve, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=test ca');
  for (const name of ['server', 'client']) {
    openssl('req', ...curve, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`,
      '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'); // prettier-ignore
    openssl('x509', '-req', '-in', `${name}.csr`, '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-out',
      `${name}.pem`, '-days', '2', '-copy_extensions', 'copy'); // prettier-ignore
  }
}

/** Asserts that a promise is rejected by a CaromError with a code, null: any, and with a field if it is given. */
export async function fails(promise, code, field) {
  let error;
  try {
    await promise;
  } catch (thrown) {
    error = thrown;
  }
  assert.ok(error instanceof CaromError, error === undefined ? `${code} is expected` : error.stack);
  if (code !== null) assert.equal(error.code, code, error.stack);
  if (field !== undefined) assert.equal(error.field, field, error.stack);
}

/** A loopback port that nothing listens on. */
export async function unusedPort() {
  const listener = createServer();
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address();
  await new Promise((resolve) => listener.close(resolve));
  return port;
}
