// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What the tests of the page share: a tab with the page of a server, whose faults end the test.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { built, openBrowser, page, root, Server } from './viewer_processes.mjs';
import { servePage } from './viewer_server.mjs';

export const shots = join(root, 'build/web/screenshots');
mkdirSync(shots, { recursive: true });

/** Numbers in [0, 1) from a seed: mulberry32, of public domain (Tommy Ettinger, 2017). */
export function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A server with its page and a browser; `close` ends all of them. `apart`: a server of the tests has the page. */
export class Stage {
  static async open({ args = [], scenes = {}, ports, apart = false } = {}) {
    const stage = new Stage();
    stage.server = await Server.start(args, ports);
    for (const [name, file] of Object.entries(scenes)) stage.server.carom(['scene', 'import', name, file]);
    stage.page = apart ? await servePage(built, stage.server.http) : await page(stage.server);
    stage.browser = await openBrowser();
    stage.faults = [];
    return stage;
  }

  /**
   * Opens the page in a context of its own. `expected`: a pattern of lines on the console that are no fault; `before`:
   * called with the tab before the page is loaded.
   */
  async tab(
    fragment = '',
    { colorScheme = 'light', width = 1280, height = 720, expected = null, hasTouch = false, before = null } = {},
  ) {
    const context = await this.browser.newContext({ viewport: { width, height }, colorScheme, hasTouch });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const tab = await context.newPage();
    const fault = (text) => {
      if (!expected?.test(text)) this.faults.push(text);
    };
    tab.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) fault(message.text());
    });
    tab.on('pageerror', (error) => fault(String(error.stack)));
    tab.on('request', (request) => {
      const url = new URL(request.url());
      if (!['data:', 'blob:'].includes(url.protocol) && url.origin !== this.page.address) fault(`asks ${url}`);
    });
    await tab.addInitScript(() => {
      window.violations = [];
      document.addEventListener('securitypolicyviolation', (event) => window.violations.push(event.violatedDirective));
    });
    await before?.(tab);
    await tab.goto(`${this.page.address}/${fragment}`);
    return tab;
  }

  /** Waits until scene, core and picture are complete. */
  async settled(tab) {
    await tab.waitForFunction(() => window.carom?.isSettled(), null, { timeout: 60000, polling: 50 });
    await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  }

  /** Where a point of the scene is in the window. */
  async at(tab, x, y) {
    const box = await tab.locator('#map').boundingBox();
    const point = await tab.evaluate(([px, py]) => window.carom.toScreen(px, py), [x, y]);
    return { x: point.x + box.x, y: point.y + box.y };
  }

  /** Drags from one point of the scene to another one. */
  async drag(tab, from, to, steps = 6) {
    const [a, b] = [await this.at(tab, ...from), await this.at(tab, ...to)];
    await tab.mouse.move(a.x, a.y);
    await tab.mouse.down();
    await tab.mouse.move(b.x, b.y, { steps });
    await tab.mouse.up();
  }

  /** Fails if a page reported a fault or violated its policy. */
  async check(...tabs) {
    for (const tab of tabs) {
      assert.deepEqual(await tab.evaluate(() => window.violations), [], 'violations of the policy');
    }
    assert.deepEqual(this.faults, [], 'faults of the page');
  }

  async close() {
    // What a test that failed saw, beside the screenshots of the views.
    for (const [i, context] of this.browser.contexts().entries()) {
      for (const tab of context.pages()) await tab.screenshot({ path: join(shots, `last-${i}.png`) }).catch(() => undefined);
    }
    await this.browser.close();
    await this.page.close();
    await this.server.stop('SIGKILL');
  }
}

/** One call by Connect in JSON. */
export async function call(server, path, message, headers = {}) {
  const response = await fetch(`http://${server.http}/carom.v1.${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(message),
  });
  const body = await response.json();
  if (!response.ok) throw new Error(`${path}: ${JSON.stringify(body)}`);
  return body;
}
