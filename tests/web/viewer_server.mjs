// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Serves the files of the page as caromd does, with the same policy, and passes calls on to a caromd. Tests use it where
// the caromd at hand does not serve the page itself.
import { createServer, request } from 'node:http';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';

export const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; " +
  "connect-src 'self' ws: wss:; worker-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'none'";

const TYPES = {
  html: 'text/html',
  js: 'text/javascript',
  css: 'text/css',
  json: 'application/json',
  wasm: 'application/wasm',
};

/**
 * Serves `folder` and the calls of the server at HOST:PORT `target`; returns the address and a function to close. With
 * the bytes of a bundle in place of a target, serves what `carom view` serves, with its report in JSON.
 */
export function servePage(folder, target, bundle = null, report = '{}') {
  const [host, port] = (target ?? '').split(':');
  const server = createServer(async (incoming, outgoing) => {
    const path = new URL(incoming.url, 'http://page').pathname;
    if (path === '/local/scene.carom' && bundle) {
      outgoing.writeHead(200, { 'Content-Type': 'application/octet-stream' }).end(bundle);
      return;
    }
    if (path === '/local/scene.json' && bundle) {
      outgoing.writeHead(200, { 'Content-Type': 'application/json' }).end(report);
      return;
    }
    if (path.startsWith('/carom.v1.') && target) {
      const headers = { ...incoming.headers, host: target, origin: undefined };
      delete headers.origin;
      const passed = request({ host, port, path: incoming.url, method: incoming.method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode, answer.headers);
        answer.on('error', () => outgoing.destroy());
        answer.pipe(outgoing);
      });
      passed.on('error', () => outgoing.destroy());
      outgoing.on('close', () => passed.destroy());
      incoming.pipe(passed);
      return;
    }
    const name = path === '/' ? 'index.html' : path.slice(1);
    try {
      if (name.includes('/') || name.includes('..')) throw new Error('no file');
      const body = await readFile(join(folder, name));
      const type = TYPES[name.split('.').pop()] ?? 'text/plain';
      outgoing.writeHead(200, {
        'Content-Type': name.endsWith('.wasm') ? type : `${type}; charset=utf-8`,
        'Content-Security-Policy': POLICY,
        'X-Content-Type-Options': 'nosniff',
        'Referrer-Policy': 'no-referrer',
      });
      outgoing.end(body);
    } catch {
      outgoing.writeHead(404).end();
    }
  });
  server.on('upgrade', (incoming, socket, head) => {
    const lines = [`${incoming.method} ${incoming.url} HTTP/1.1`];
    for (let i = 0; i < incoming.rawHeaders.length; i += 2) {
      const name = incoming.rawHeaders[i];
      if (/^(host|origin)$/i.test(name)) continue;
      lines.push(`${name}: ${incoming.rawHeaders[i + 1]}`);
    }
    lines.push(`Host: ${target}`);
    const passed = connect(Number(port), host, () => {
      passed.write(`${lines.join('\r\n')}\r\n\r\n`);
      passed.write(head);
      socket.pipe(passed).pipe(socket);
    });
    passed.on('error', () => socket.destroy());
    socket.on('error', () => passed.destroy());
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = `http://127.0.0.1:${server.address().port}`;
      resolve({ address, close: () => (server.closeAllConnections(), new Promise((done) => server.close(done))) });
    });
  });
}
