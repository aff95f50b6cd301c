// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which colour has which category? A strip below the map; each category can be hidden.
import { useState } from 'preact/hooks';
import { hue } from '../draw/palette';
import { classes, isDark } from '../state/state';

const MOST = 24;

function toggle(category: bigint): void {
  classes.value = classes.value.map((entry) =>
    entry.category === category ? { ...entry, hidden: !entry.hidden } : entry,
  );
}

function Categories() {
  const list = classes.value;
  return (
    <ul>
      {list.slice(0, MOST).map(({ category, index, count, hidden }) => {
        const { fill, line } = hue(index, isDark.value);
        return (
          <li key={String(category)}>
            <label class={hidden ? 'hidden' : ''}>
              <input type="checkbox" checked={!hidden} onChange={() => toggle(category)} />
              <span class="swatch" style={{ background: fill, borderColor: line }} />
              <span class="legend-name">{category > 0xffffn ? `0x${category.toString(16)}` : String(category)}</span>
              <span class="muted">{count.toLocaleString('en')}</span>
            </label>
          </li>
        );
      })}
      {list.length > MOST && <li class="muted">{list.length - MOST} further categories</li>}
      <li class="legend-kinds muted">
        <span class="kind-solid" /> solid <span class="kind-hollow" /> hollow <span class="kind-open" /> open chain
      </li>
    </ul>
  );
}

export function Legend() {
  const [open, setOpen] = useState(true);
  return (
    <div class="legend" role="group" aria-label="Categories">
      <button type="button" class="legend-title" aria-expanded={open} onClick={() => setOpen(!open)}>
        Categories
      </button>
      {open && <Categories />}
    </div>
  );
}
