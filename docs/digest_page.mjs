// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The script of digest.html. The files of @carom/core are where `./dev web` puts them.

import * as carom from '../client/web/core/dist/index.js';
import { digestLines } from './digest.mjs';

const ITEMS = 512;
const element = (id) => document.getElementById(id);

/** Lets the browser draw. */
const rest = () => new Promise((done) => setTimeout(done));

async function run(simd, place) {
  const core = await carom.Core.load({ simd });
  return digestLines(carom, core, ITEMS, (line) => {
    place.textContent += `${line}\n`;
    return rest();
  });
}

const expected = element('expected').textContent.trim();
try {
  const [first, second] = [await run(true, element('simd')), await run(false, element('plain'))];
  const isSame = [first, second].every((lines) => lines.join('\n') === expected);
  element('verdict').textContent = isSame ? 'Yes: all answers are the same.' : 'No: the lines differ.';
} catch (error) {
  element('verdict').textContent = `The questions were not answered: ${error.message}`;
}
document.documentElement.dataset.done = 'yes';
