// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which colour has which category? Each can be hidden.
import { hue } from '../draw/palette';
import { classes, isDark } from '../state/state';

const MOST = 12;

function toggle(category: bigint): void {
  classes.value = classes.value.map((entry) =>
    entry.category === category ? { ...entry, hidden: !entry.hidden } : entry,
  );
}

export function Legend() {
  const list = classes.value;
  return (
    <details class="legend" open={list.length > 1}>
      <summary>Categories</summary>
      <ul>
        {list.slice(0, MOST).map(({ category, index, count, hidden }) => {
          const { fill, line } = hue(index, isDark.value);
          return (
            <li key={String(category)}>
              <label>
                <input type="checkbox" checked={!hidden} onChange={() => toggle(category)} />
                <span class="swatch" style={{ background: fill, borderColor: line }} />
                <span class="legend-name">{category > 0xffffn ? `0x${category.toString(16)}` : String(category)}</span>
                <span class="muted">{count.toLocaleString('en')}</span>
              </label>
            </li>
          );
        })}
        {list.length > MOST && <li class="muted">{list.length - MOST} further categories</li>}
      </ul>
      <p class="legend-kinds muted">
        <span class="kind-solid" /> solid <span class="kind-hollow" /> hollow <span class="kind-open" /> open chain
      </p>
    </details>
  );
}
