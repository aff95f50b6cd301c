// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The versions of the scene: a slider, differences in colours, rolling back, and forks.
import { useEffect, useState } from 'preact/hooks';
import { offline } from '../ask/asker';
import { difference, type Difference, hideDifference, historyError, refreshHistory, showDifference, versions } from '../history/history';
import { forkScene, rollbackScene, type VersionInfo } from '../server/scene_calls';
import { openScene, refreshScenes } from '../state/scene_session';
import { highlighted, pinned, say, scene } from '../state/state';

const MOST_CHANGES = 200;
const time = (date: Date): string => date.toISOString().replace('T', ' ').slice(0, 19);

async function attempt(act: () => Promise<void>): Promise<void> {
  try {
    await act();
    historyError.value = '';
  } catch (error) {
    historyError.value = error instanceof Error ? error.message : String(error);
  }
}

function rollBack(name: string, version: bigint, current: bigint): Promise<void> {
  return attempt(async () => {
    const made = await rollbackScene(name, version, current);
    say(`Version ${made.version} has the polygons of version ${version}`);
    await openScene(name, 0n, false);
  });
}

function ForkForm({ name, version }: { name: string; version: bigint }) {
  const [fork, setFork] = useState('');
  const [minutes, setMinutes] = useState(60);
  const send = (event: Event): void => {
    event.preventDefault();
    const wanted = fork.trim().startsWith('scenes/') ? fork.trim() : `scenes/${fork.trim()}`;
    void attempt(async () => {
      const made = await forkScene(name, version, wanted, Math.max(1, Math.round(minutes * 60)));
      say(`${made.name} is made`);
      await refreshScenes();
      void openScene(made.name, 0n, false);
    });
  };
  return (
    <form onSubmit={send}>
      <h3>Fork</h3>
      <p class="muted">A copy of version {String(version)} to try things on. It ends when nobody uses it.</p>
      <div class="field">
        <label for="fork-name">Name</label>
        <input id="fork-name" required value={fork} placeholder="scenes/…" onInput={(event) => setFork(event.currentTarget.value)} />
      </div>
      <div class="field">
        <label for="fork-lease">Minutes without use</label>
        <input
          id="fork-lease"
          type="number"
          min={1}
          value={minutes}
          onChange={(event) => setMinutes(event.currentTarget.valueAsNumber || 60)}
        />
      </div>
      <div class="buttons">
        <button type="submit" id="fork">
          Fork
        </button>
      </div>
    </form>
  );
}

function Changes() {
  const shown = difference.value;
  if (!shown) return null;
  const count = (test: (change: Difference['changes'][0]) => boolean): number => shown.changes.filter(test).length;
  return (
    <section id="difference">
      <h3>
        From {String(shown.from)} to {String(shown.to)}
      </h3>
      <p>
        <span class="good-text">{count(({ before }) => before === null)} added</span>,{' '}
        {count(({ before, after }) => before !== null && after !== null)} changed,{' '}
        <span class="bad-text">{count(({ after }) => after === null)} removed</span>
      </p>
      <ul class="answer-rows">
        {shown.changes.slice(0, MOST_CHANGES).map(({ id, before, after }) => (
          <li
            key={String(id)}
            tabIndex={0}
            onMouseEnter={() => (highlighted.value = { ids: [id], edges: [] })}
            onMouseLeave={() => (highlighted.value = { ids: [], edges: [] })}
          >
            polygon {String(id)} {before === null ? 'added' : after === null ? 'removed' : 'changed'}
          </li>
        ))}
      </ul>
    </section>
  );
}

export function HistoryPanel() {
  const shown = scene.value;
  const name = shown?.name ?? '';
  const version = shown?.version ?? 0n;
  useEffect(() => {
    if (!offline.value) void refreshHistory();
    return hideDifference;
  }, [name]);
  useEffect(() => {
    if (!offline.value && pinned.value === 0n) void refreshHistory();
  }, [version]);
  if (!shown) return <p class="hint">Open a scene first.</p>;
  if (offline.value) return <p class="hint">A file has one version.</p>;
  const list = versions.value;
  const at = Math.max(0, list.findIndex(({ summary }) => summary.version === version));
  const chosen: VersionInfo | undefined = list[at];
  const last = list[list.length - 1]?.summary.version ?? version;
  const go = (index: number): void => {
    const wanted = list[index]?.summary.version;
    if (wanted === undefined) return;
    const isLast = index === list.length - 1;
    void openScene(name, isLast ? 0n : wanted, false);
    if (index > 0) void showDifference(list[index - 1].summary.version, wanted);
    else hideDifference();
  };
  return (
    <>
      <h2 class="panel-title">History</h2>
      <p class="muted" role="status">
        {list.length} version{list.length === 1 ? '' : 's'} kept
      </p>
      <div class="slider">
        <button type="button" aria-label="Version before" disabled={at === 0} onClick={() => go(at - 1)}>
          ‹
        </button>
        <input
          type="range"
          id="versions"
          aria-label="Version"
          aria-valuetext={`version ${version}`}
          min={0}
          max={Math.max(0, list.length - 1)}
          value={at}
          onChange={(event) => go(event.currentTarget.valueAsNumber)}
        />
        <button type="button" aria-label="Version after" disabled={at >= list.length - 1} onClick={() => go(at + 1)}>
          ›
        </button>
      </div>
      {historyError.value && (
        <p class="card bad-text" role="alert">
          {historyError.value}
        </p>
      )}
      {chosen && (
        <dl class="facts">
          <dt>Version</dt>
          <dd>
            {String(chosen.summary.version)}
            {version === last ? ' (current)' : ''}
          </dd>
          <dt>Made</dt>
          <dd>{time(chosen.created)}</dd>
          <dt>Polygons</dt>
          <dd>{chosen.summary.polygonCount.toLocaleString('en')}</dd>
          <dt>Edit id</dt>
          <dd class="data">{chosen.editId || 'none'}</dd>
        </dl>
      )}
      <div class="buttons">
        {version !== last && (
          <>
            <button type="button" onClick={() => go(list.length - 1)}>
              Show the current version
            </button>
            <button type="button" onClick={() => void showDifference(version, last)}>
              Compare with it
            </button>
            <button type="button" class="danger" id="roll-back" onClick={() => void rollBack(name, version, last)}>
              Roll back to this version
            </button>
          </>
        )}
        {difference.value && (
          <button type="button" onClick={hideDifference}>
            Hide the difference
          </button>
        )}
      </div>
      <Changes />
      <ForkForm name={name} version={version} />
    </>
  );
}
