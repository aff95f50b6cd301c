// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The bar above the map: which scene, whether page and server agree, and the switches of the page.
import { agreement, coreReady, helpOpen, isDark, online, panel, pinned, scene } from '../state/state';
import { toggleTheme } from '../state/theme';
import { offline } from '../ask/asker';
import { copy } from './copy';
import { Icon } from './icons';

function Agreement() {
  const { same, different } = agreement.value;
  const state = coreReady.value;
  const text =
    state === 'ready'
      ? different > 0
        ? `${different} different`
        : `${same.toLocaleString('en')} agree`
      : state === 'loading'
        ? 'core loads'
        : 'server alone';
  const tip =
    state === 'ready'
      ? `Page and server gave the same answer ${same} times, and another one ${different} times`
      : 'The server answers; the page has no core for this scene';
  return (
    <span class={`pill ${different > 0 ? 'bad' : same > 0 ? 'good' : ''}`} id="agreement" data-same={same} data-different={different} data-tip={tip}>
      <span class="pill-mark" aria-hidden="true" />
      <span class="visually-hidden">Page and server: </span>
      {text}
    </span>
  );
}

function Connection() {
  if (offline.value) return <span class="pill">File, no server</span>;
  return (
    <span class={`pill ${online.value ? 'good' : 'bad'}`} id="connection" role="status">
      <span class="pill-mark" aria-hidden="true" />
      {online.value ? 'Connected' : 'No server'}
    </span>
  );
}

export function TopBar() {
  const shown = scene.value;
  return (
    <header class="top-bar">
      <a class="brand" href="#main" aria-label="Carom, to the map">
        <svg viewBox="0 0 24 24" class="brand-mark" aria-hidden="true">
          <path d="M3 20L10 5l6 12 5-9" fill="none" stroke="currentColor" stroke-width="2.4" stroke-linejoin="round" stroke-linecap="round" />
          <circle cx="10" cy="5" r="2.4" fill="currentColor" />
        </svg>
        Carom
      </a>
      {shown && (
        <button type="button" class="scene-name" onClick={() => (panel.value = 'scenes')} data-tip="Scenes (g)">
          <strong id="scene-name">{shown.name}</strong>
          <span class="muted" id="scene-version">
            version {String(shown.version)}
            {pinned.value !== 0n ? ', pinned' : ''}
          </span>
          {shown.base && <span class="badge">fork</span>}
        </button>
      )}
      <span class="spacer" />
      {!offline.value && <Agreement />}
      <Connection />
      <button type="button" class="icon-button" aria-label="Copy a link to what is shown" data-tip="Copy link" onClick={() => void copy(location.href, 'Link')}>
        <Icon name="link" />
      </button>
      <button
        type="button"
        class="icon-button"
        aria-label={isDark.value ? 'Light theme' : 'Dark theme'}
        data-tip="Light or dark (t)"
        id="theme"
        onClick={toggleTheme}
      >
        <Icon name={isDark.value ? 'sun' : 'moon'} />
      </button>
      <button type="button" class="icon-button" aria-label="Keys" data-tip="Keys (?)" onClick={() => (helpOpen.value = true)}>
        <Icon name="help" />
      </button>
    </header>
  );
}
