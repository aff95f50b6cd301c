// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Copies text to the clipboard, and says so.
import { say } from '../state/state';

export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} copied`);
  } catch {
    // Pages without a secure context have no clipboard; a selection can be copied everywhere.
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'off-screen';
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    say(done ? `${what} copied` : `${what} could not be copied`);
  }
}
