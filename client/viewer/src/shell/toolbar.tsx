// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The column of tools at the left of the map.
import { TOOLS } from '../ask/tools';
import { chooseTool, PANEL_TOOLS } from '../state/choose_tool';
import { tool } from '../state/state';
import { Icon } from './icons';

const ASKING = TOOLS.filter(({ id }) => !PANEL_TOOLS.includes(id));
const FURTHER = [
  { id: 'tracker', label: 'Tracker', key: 'k' },
  { id: 'lint', label: 'Findings', key: 'l' },
  { id: 'edit', label: 'Edit polygons', key: 'x' },
];

function ToolButton({ id, label, keyName }: { id: string; label: string; keyName: string }) {
  const chosen = tool.value === id;
  return (
    <button
      type="button"
      class="tool"
      aria-pressed={chosen}
      aria-label={label}
      data-tip={`${label} (${keyName})`}
      data-tool={id}
      onClick={() => chooseTool(id)}
    >
      <Icon name={id} />
    </button>
  );
}

export function Toolbar() {
  return (
    <nav class="toolbar" aria-label="Tools">
      <ToolButton id="pan" label="Move the map" keyName="Esc" />
      <hr />
      {ASKING.map(({ id, label, key }) => (
        <ToolButton key={id} id={id} label={label} keyName={key} />
      ))}
      <hr />
      {FURTHER.map(({ id, label, key }) => (
        <ToolButton key={id} id={id} label={label} keyName={key} />
      ))}
    </nav>
  );
}
