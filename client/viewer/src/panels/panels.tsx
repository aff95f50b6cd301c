// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The column at the right: one panel at a time, chosen by tabs.
import type { ComponentChildren } from 'preact';
import { panel, type Panel } from '../state/state';
import { AskPanel } from './ask_panel';
import { EditPanel } from './edit_panel';
import { FindingsPanel } from './findings_panel';
import { HistoryPanel } from './history_panel';
import { RecordPanel } from './record_panel';
import { ScenesPanel } from './scenes_panel';
import { ServerPanel } from './server_panel';
import { WhyPanel } from './why_panel';

const TABS: { id: Panel; label: string; body: () => ComponentChildren }[] = [
  { id: 'scenes', label: 'Scenes', body: () => <ScenesPanel /> },
  { id: 'ask', label: 'Ask', body: () => <AskPanel /> },
  { id: 'why', label: 'Why', body: () => <WhyPanel /> },
  { id: 'findings', label: 'Findings', body: () => <FindingsPanel /> },
  { id: 'edit', label: 'Edit', body: () => <EditPanel /> },
  { id: 'history', label: 'History', body: () => <HistoryPanel /> },
  { id: 'record', label: 'Record', body: () => <RecordPanel /> },
  { id: 'server', label: 'Server', body: () => <ServerPanel /> },
];

function move(event: KeyboardEvent): void {
  const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 };
  const step = steps[event.key];
  if (!step) return;
  const at = TABS.findIndex(({ id }) => id === panel.value);
  const next = TABS[(at + step + TABS.length) % TABS.length];
  panel.value = next.id;
  document.getElementById(`tab-${next.id}`)?.focus();
  event.preventDefault();
}

export function Panels() {
  const chosen = TABS.find(({ id }) => id === panel.value) ?? TABS[0];
  return (
    <aside class="panels" aria-label="Panels">
      <div class="tabs" role="tablist" aria-label="Panels" onKeyDown={move}>
        {TABS.map(({ id, label }) => (
          <button
            type="button"
            role="tab"
            key={id}
            id={`tab-${id}`}
            aria-selected={id === chosen.id}
            aria-controls="panel"
            tabIndex={id === chosen.id ? 0 : -1}
            onClick={() => (panel.value = id)}
          >
            {label}
          </button>
        ))}
      </div>
      <div class="panel" id="panel" role="tabpanel" aria-labelledby={`tab-${chosen.id}`} tabIndex={0}>
        {chosen.body()}
      </div>
    </aside>
  );
}
