// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Starts what a test of the page needs: a caromd of its own, the page, and Chromium.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { servePage } from './viewer_server.mjs';

const here = dirname(fileURLToPath(import.meta.url));
export const root = resolve(here, '../..');
const viewer = join(root, 'client/viewer');
export const load = createRequire(join(viewer, 'package.json'));
export const built = process.env.CAROM_VIEWER_BUILD ?? join(root, 'build/web/viewer');

const caromd = process.env.CAROMD_BINARY ?? join(root, 'build/release/server/caromd');
const carom = process.env.CAROM_BINARY ?? join(root, 'build/release/client/carom');

/** A caromd with scenes in a folder of its own. `args` are added to its command line. */
export class Server {
  static async start(args = [], ports = {}) {
    const server = new Server();
    server.scratch = mkdtempSync(join(tmpdir(), 'carom-viewer-'));
    const grpc = ports.grpc ?? '127.0.0.1:0';
    const http = ports.http ?? '127.0.0.1:0';
    server.process = spawn(
      caromd,
      ['--address', grpc, '--http-address', http, '--admin-address', 'off', '--store', 'sqlite', '--state-dir', server.scratch, '--log-format', 'text', ...args],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    server.output = '';
    server.process.stderr.on('data', (text) => (server.output += text));
    await new Promise((done, fail) => {
      server.process.on('exit', (code) => fail(new Error(`caromd ended with ${code}: ${server.output}`)));
      server.process.stdout.on('data', (text) => {
        server.output += text;
        const grpcLine = /^caromd listening on (\S+)$/m.exec(server.output);
        const httpLine = /^caromd http on (\S+:\d+)/m.exec(server.output);
        if (grpcLine) server.grpc = grpcLine[1];
        if (httpLine) server.http = httpLine[1];
        if (server.grpc && server.http) done();
      });
    });
    return server;
  }

  /** Runs `carom` with the arguments; returns what it prints. */
  carom(args, input = '') {
    return runCarom([...args, '--address', this.grpc], input);
  }

  async stop(signal = 'SIGTERM') {
    this.process.removeAllListeners('exit');
    if (this.process.exitCode === null && this.process.signalCode === null) {
      const ended = new Promise((done) => this.process.once('exit', done));
      this.process.kill(signal);
      await ended;
    }
    rmSync(this.scratch, { recursive: true, force: true });
  }
}

export function runCarom(args, input = '') {
  const made = spawnSync(carom, args, { input, encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (made.status !== 0) throw new Error(`carom ${args.join(' ')}: ${made.stderr}`);
  return made.stdout;
}

/**
 * The page in front of the server: from a server of the tests, or with CAROM_VIEWER_ADDRESS=caromd from caromd itself,
 * which then was built with the page.
 */
export async function page(server) {
  if (process.env.CAROM_VIEWER_ADDRESS === 'caromd') {
    return { address: `http://${server.http}`, close: () => Promise.resolve() };
  }
  return servePage(built, server.http);
}

/** Chromium without a GPU. */
export async function openBrowser() {
  const { chromium } = load('playwright-core');
  return chromium.launch({
    executablePath: process.env.CHROMIUM_BINARY ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--js-flags=--expose-gc',
      '--enable-precise-memory-info',
      // A host that is not this machine, by its name.
      '--host-resolver-rules=MAP carom.test 127.0.0.1',
    ],
  });
}
