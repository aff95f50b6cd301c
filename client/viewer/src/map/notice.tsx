// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What keeps the page from its work, and what one can do about it.
import { useState } from 'preact/hooks';
import { offline } from '../ask/asker';
import { noMap } from '../record/player';
import { LONG_MS, SHORT_MS, useToken } from '../server/connection';
import { openAgain, openScene, refreshScenes } from '../state/scene_session';
import { loading, panel, scene, scenes, scenesLoaded, stored, trouble } from '../state/state';

const TITLES = {
  no_server: 'No server',
  stalled: 'The server does not answer',
  no_right: 'No right',
  gone: 'The scene is gone',
  other: 'The server refused',
};

const ADVICE = {
  no_server: 'The page tries again by itself. What is shown is the last state that arrived.',
  stalled: `A small call had no answer in ${SHORT_MS / 1000} seconds, or a large one in ${LONG_MS / 1000}. The page tries again by itself.`,
  no_right: 'The server wants a token with the right to this. The token stays in the memory of this page.',
  gone: 'It was deleted, its lease is over, or this version is no longer kept.',
  other: '',
};

function TokenForm() {
  const [token, setToken] = useState('');
  const send = (event: Event): void => {
    event.preventDefault();
    useToken(token);
    trouble.value = null;
    void refreshScenes();
    openAgain();
  };
  return (
    <form onSubmit={send} class="token-form">
      <label for="token">Token</label>
      <input
        id="token"
        type="password"
        autocomplete="off"
        value={token}
        onInput={(event) => setToken(event.currentTarget.value)}
      />
      <button type="submit" class="primary">
        Use the token
      </button>
    </form>
  );
}

export function Notice() {
  const found = trouble.value;
  if (found) {
    const lost = found.kind === 'gone' && found.version ? (found.scene ?? '') : '';
    return (
      <div class={`notice ${scene.value ? 'corner' : ''}`} role="alert" id="notice" data-kind={found.kind}>
        <h2>{lost ? 'The version is gone' : offline.value && found.kind === 'other' ? 'The file is not shown' : TITLES[found.kind]}</h2>
        <p>{found.message}</p>
        <p class="muted">{ADVICE[found.kind]}</p>
        {found.kind === 'no_right' && <TokenForm />}
        {lost && (
          <button type="button" class="primary" onClick={() => void openScene(lost, 0n, false)}>
            Show the current version
          </button>
        )}
        {found.kind === 'gone' && !lost && (
          <button type="button" class="primary" onClick={() => ((trouble.value = null), (panel.value = 'scenes'))}>
            Choose a scene
          </button>
        )}
        {(found.kind === 'other' || (lost && scene.value)) && (
          <button type="button" onClick={() => (trouble.value = null)}>
            Close
          </button>
        )}
      </div>
    );
  }
  if (noMap.value) {
    return (
      <div class="notice corner" role="alert" id="no-map">
        <h2>No map</h2>
        <p>{noMap.value}</p>
        <p class="muted">What the tick has is drawn without it.</p>
      </div>
    );
  }
  if (!scene.value && scenesLoaded.value && !loading.value) {
    const none = scenes.value.length === 0;
    return (
      <div class="notice" id="empty">
        <h2>{none ? 'This server has no scene' : 'No scene is open'}</h2>
        {none ? (
          <p>
            Import one: <code>carom scene import scenes/arena arena.json</code>
          </p>
        ) : (
          <p>Choose one of the list at the right.</p>
        )}
      </div>
    );
  }
  if (scene.value && !loading.value && stored.scene?.polygonCount === 0) {
    return (
      <div class="notice corner" id="empty">
        <h2>No polygons</h2>
        <p>This version of the scene is empty.</p>
      </div>
    );
  }
  return null;
}
