// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The findings of lint: gaps and pockets for a disc, crossings and other mistakes, and repairs.
import { offline } from '../ask/asker';
import { short } from '../ask/figures';
import { beginStep, change } from '../edit/draft';
import { type Finding, findings, hiddenKinds, KINDS, listed, mover, show, shownFinding } from '../findings/findings';
import { propose } from '../findings/proposals';
import { moveHandle } from '../map/pointer';
import { chooseTool } from '../state/choose_tool';
import { handles, panel, pinned, say, scene, selected, tool } from '../state/state';

const MOST = 400;
const label = (kind: string): string => KINDS.find(({ id }) => id === kind)?.label ?? kind;

function toggle(kind: string): void {
  const next = new Set(hiddenKinds.value);
  if (!next.delete(kind)) next.add(kind);
  hiddenKinds.value = next;
  shownFinding.value = -1;
}

/** Puts the repair of a finding into the draft of edits, as one step. Returns whether there is one. */
function repair(found: Finding): boolean {
  const made = propose(found);
  if ('why' in made) return false;
  beginStep();
  for (const [id, shape] of made.changes) change(id, shape, false);
  selected.value = found.id;
  return true;
}

function Shown({ found }: { found: Finding }) {
  const made = propose(found);
  const canRepair = !('why' in made) && pinned.value === 0n;
  return (
    <section class="card" id="finding">
      <h3>{label(found.kind)}</h3>
      <dl class="facts">
        <dt>Where</dt>
        <dd>
          {short(found.at.x)}, {short(found.at.y)}
        </dd>
        <dt>Polygon</dt>
        <dd>
          {String(found.id)}, ring {found.ring}, edge {found.edge}
        </dd>
        {found.otherId !== found.id && (
          <>
            <dt>And</dt>
            <dd>
              {String(found.otherId)}, ring {found.otherRing}, edge {found.otherEdge}
            </dd>
          </>
        )}
        {found.measure !== 0 && (
          <>
            <dt>{found.kind === 'POCKET' ? 'Area' : 'Length'}</dt>
            <dd>{found.measure}</dd>
          </>
        )}
      </dl>
      {found.advice && <p class="muted">{found.advice}</p>}
      {pinned.value !== 0n ? (
        <p class="muted" id="no-repair">
          No repair is proposed: edits are made to the current version.
        </p>
      ) : (
        'why' in made && (
          <p class="muted" id="no-repair">
            {made.why}
          </p>
        )
      )}
      <div class="buttons">
        <button
          type="button"
          id="repair"
          disabled={!canRepair}
          aria-describedby={canRepair ? undefined : 'no-repair'}
          onClick={() => {
            if (repair(found)) say('The repair is an edit, not committed yet');
            panel.value = 'edit';
          }}
        >
          Propose a repair
        </button>
      </div>
    </section>
  );
}

function Disc() {
  const disc = mover();
  if (tool.value !== 'lint' || !disc) {
    return (
      <div class="buttons">
        <button type="button" class="primary" id="lint-disc" onClick={() => chooseTool('lint')}>
          Search gaps and pockets with a disc
        </button>
      </div>
    );
  }
  return (
    <>
      <p class="muted">Drag the disc to where it starts, and its rim. Gaps narrower than the disc are red; places that it cannot reach are shaded.</p>
      <div class="field">
        <label for="radius">Radius</label>
        <input
          id="radius"
          type="number"
          min={0}
          step="any"
          value={disc.radius}
          onChange={(event) => {
            const radius = event.currentTarget.valueAsNumber;
            const [from] = handles.value.lint ?? [];
            if (radius >= 0 && from) moveHandle(1, from.x + radius, from.y);
          }}
        />
      </div>
    </>
  );
}

export function FindingsPanel() {
  const made = findings.value;
  if (!scene.value) return <p class="hint">Open a scene first.</p>;
  if (offline.value) return <p class="hint">A file has no server to check it; `carom lint` does.</p>;
  const list = listed.value;
  const at = shownFinding.value;
  return (
    <>
      <h2 class="panel-title">Findings</h2>
      {made.state === 'none' && (
        <p class="card">This server searches no mistakes (LintScene is not implemented in its release).</p>
      )}
      {made.state === 'failed' && <p class="card bad-text">{made.reason}</p>}
      {made.state === 'waiting' && <p class="muted">Searching</p>}
      {made.state !== 'none' && <Disc />}
      {made.state === 'ready' && (
        <>
          <fieldset class="kinds">
            <legend class="visually-hidden">Kinds</legend>
            {KINDS.filter(({ id }) => made.counts.has(id)).map(({ id, label: text }) => (
              <label key={id} class="check">
                <input type="checkbox" checked={!hiddenKinds.value.has(id)} onChange={() => toggle(id)} />
                {text}
                <span class="muted">{made.counts.get(id)}</span>
              </label>
            ))}
          </fieldset>
          {list.length === 0 ? (
            <p class="card good-text">No findings</p>
          ) : (
            <div class="buttons">
              <button type="button" id="finding-before" onClick={() => show(at - 1)}>
                Before
              </button>
              <button type="button" class="primary" id="finding-next" onClick={() => show(at + 1)}>
                Next
              </button>
              <span class="muted" role="status">
                {at >= 0 ? `${at + 1} of ` : ''}
                {list.length.toLocaleString('en')}
                {made.truncated ? ' and more' : ''}
              </span>
            </div>
          )}
          {list[at] && <Shown found={list[at]} />}
          <ul class="answer-rows" id="findings">
            {list.slice(0, MOST).map((found, i) => (
              <li key={i}>
                <button type="button" class="row" aria-current={i === at} onClick={() => show(i)}>
                  {label(found.kind)}, polygon {String(found.id)}
                  {found.measure !== 0 ? `, ${short(found.measure)}` : ''}
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
