// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Light or dark? As the system has it, until the reader chooses.
import { effect } from '@preact/signals';
import { theme, type Theme } from './state';

const KEY = 'carom-theme';

function stored(): Theme | null {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : null;
  } catch {
    return null;
  }
}

/** Applies the theme to the page, and follows the system unless the reader has chosen. */
export function startTheme(): void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  theme.value = stored() ?? (system.matches ? 'dark' : 'light');
  system.addEventListener('change', () => {
    if (!stored()) theme.value = system.matches ? 'dark' : 'light';
  });
  effect(() => {
    document.documentElement.dataset.theme = theme.value;
  });
}

export function toggleTheme(): void {
  theme.value = theme.value === 'dark' ? 'light' : 'dark';
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // A page without storage forgets the choice.
  }
}
