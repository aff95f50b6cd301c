// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The sheet with all keys.
import { useEffect, useRef } from 'preact/hooks';
import { helpOpen } from '../state/state';
import { Icon } from './icons';
import { MAP_KEYS, SHORTCUTS } from './keyboard';

export function HelpSheet() {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = helpOpen.value;
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  return (
    <dialog ref={dialog} class="sheet" aria-labelledby="help-title" onClose={() => (helpOpen.value = false)}>
      <header>
        <h2 id="help-title">Keys</h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={() => (helpOpen.value = false)}>
          <Icon name="close" />
        </button>
      </header>
      <div class="sheet-columns">
        {SHORTCUTS.map(({ title, keys }) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {keys.map(({ key, label }) => (
                <div key={label}>
                  <dt>
                    <kbd>{key === ' ' ? 'Space' : key}</kbd>
                  </dt>
                  <dd>{label}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <section>
          <h3>On the map</h3>
          <dl>
            {MAP_KEYS.map(([key, label]) => (
              <div key={label}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{label}</dd>
              </div>
            ))}
          </dl>
          <p class="muted">Mouse: drag to move, wheel to zoom, click to choose a polygon. Two fingers move and zoom.</p>
          <p>
            <a href="licenses.json">Licences of what this page contains</a>
          </p>
        </section>
      </div>
    </dialog>
  );
}
