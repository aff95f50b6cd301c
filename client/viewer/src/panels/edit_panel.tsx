// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Edits that are not committed, and their commit. A conflict shows both sides.
import { CaromError } from '@carom/core/questions';
import { signal } from '@preact/signals';
import { offline } from '../ask/asker';
import {
  canRedo,
  canUndo,
  change,
  conflicts,
  discard,
  draft,
  draftBase,
  dropKept,
  drawn,
  editMode,
  finishDrawing,
  keptDrafts,
  newCategory,
  redo,
  removeSelected,
  shapeNow,
  snapping,
  undo,
} from '../edit/draft';
import { commitEdits, type EditInfo } from '../server/scene_calls';
import { Icon } from '../shell/icons';
import { chooseTool } from '../state/choose_tool';
import { openScene, userData } from '../state/scene_session';
import { highlighted, pinned, revision, say, scene, selected, stored, tool } from '../state/state';

/** Why the last commit was refused; empty: it was not. */
const refused = signal('');
const committing = signal(false);

/** The edits of the draft, as the polygons of the server are at this moment. */
function editsNow(): EditInfo[] {
  return [...draft.value].flatMap(([id, { after }]): EditInfo[] => {
    const exists = stored.scene?.slot(id) !== undefined;
    if (after) return [exists ? { replace: after } : { add: after }];
    return exists ? [{ remove: id }] : [];
  });
}

async function commit(base: bigint): Promise<void> {
  const name = scene.value?.name;
  if (!name || committing.value) return;
  committing.value = true;
  refused.value = '';
  try {
    const made = await commitEdits(name, base, editsNow(), userData);
    discard();
    say(`Version ${made.version} is committed`);
  } catch (error) {
    refused.value =
      error instanceof CaromError && error.code === 'ABORTED'
        ? `Another version was made first: ${error.detail}`
        : error instanceof Error
          ? error.message
          : String(error);
  }
  committing.value = false;
}

const parseCategory = (text: string): bigint | null =>
  /^\d{1,20}$/.test(text.trim()) && BigInt(text) < 2n ** 64n ? BigInt(text) : null;

function Chosen({ id }: { id: bigint }) {
  void revision.value;
  const shape = shapeNow(id);
  if (!shape) return null;
  return (
    <section class="card">
      <h3>Polygon {String(id)}</h3>
      <div class="field">
        <label for="category">Category</label>
        <input
          id="category"
          inputMode="numeric"
          value={String(shape.category)}
          onChange={(event) => {
            const category = parseCategory(event.currentTarget.value);
            if (category !== null) change(id, { ...shape, category }, true);
            else event.currentTarget.value = String(shape.category);
          }}
        />
      </div>
      <p class="muted">Drag a vertex; drag the middle of an edge for another one. Delete removes a vertex.</p>
      <div class="buttons">
        <button type="button" class="danger" id="delete-polygon" onClick={removeSelected}>
          Delete the polygon
        </button>
      </div>
    </section>
  );
}

function Snapping() {
  const chosen = snapping.value;
  return (
    <details class="points">
      <summary>Snapping</summary>
      <label class="check">
        <input
          type="checkbox"
          checked={chosen.vertices}
          onChange={(event) => (snapping.value = { ...chosen, vertices: event.currentTarget.checked })}
        />
        To vertices near by
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={chosen.grid}
          onChange={(event) => (snapping.value = { ...chosen, grid: event.currentTarget.checked })}
        />
        To a grid
      </label>
      <div class="field">
        <label for="step">Step, 0: as the zoom</label>
        <input
          id="step"
          type="number"
          min={0}
          step="any"
          value={chosen.step}
          onChange={(event) => {
            const step = event.currentTarget.valueAsNumber;
            if (step >= 0) snapping.value = { ...chosen, step };
          }}
        />
      </div>
    </details>
  );
}

function Conflicts() {
  void revision.value;
  const ids = conflicts(draft.value);
  if (ids.length === 0 && !refused.value) return null;
  return (
    <section class="card conflict" role="alert" id="conflict">
      {refused.value && <p class="bad-text">{refused.value}</p>}
      {ids.length > 0 && (
        <>
          <h3>Changed by both sides</h3>
          <ul class="rows">
            {ids.map((id) => {
              const theirs = stored.scene?.shape(id);
              const mine = draft.value.get(id)?.after;
              return (
                <li key={String(id)} tabIndex={0} onFocus={() => (highlighted.value = { ids: [id], edges: [] })} onBlur={() => (highlighted.value = { ids: [], edges: [] })}>
                  polygon {String(id)}: {mine ? 'changed' : 'deleted'} here, {theirs ? 'changed' : 'deleted'} there
                </li>
              );
            })}
          </ul>
          <p class="muted">The map shows yours in green, theirs in yellow, and dashed what was before both.</p>
        </>
      )}
      <div class="buttons">
        <button type="button" onClick={() => void commit(scene.value?.version ?? 0n)}>
          Commit mine on version {String(scene.value?.version ?? 0n)}
        </button>
        <button
          type="button"
          onClick={() => {
            discard();
            refused.value = '';
          }}
        >
          Keep theirs
        </button>
      </div>
    </section>
  );
}

function Edits() {
  const list = [...draft.value];
  return (
    <section aria-labelledby="edits-title">
      <h3 id="edits-title">
        {list.length === 0 ? 'No edits' : `${list.length} edit${list.length === 1 ? '' : 's'} for version ${draftBase.value}`}
      </h3>
      <ul class="edit-list">
        {list.slice(0, 100).map(([id, { before, after }]) => (
          <li key={String(id)}>
            <button type="button" class="row" onClick={() => (selected.value = id)}>
              <span class={after ? (before ? '' : 'good-text') : 'bad-text'}>
                {after ? (before ? 'change' : 'add') : 'delete'} polygon {String(id)}
              </span>
            </button>
          </li>
        ))}
      </ul>
      <div class="buttons">
        <button type="button" disabled={!canUndo.value} onClick={undo} id="undo">
          Undo
        </button>
        <button type="button" disabled={!canRedo.value} onClick={redo} id="redo">
          Redo
        </button>
        <button type="button" disabled={list.length === 0} onClick={discard}>
          Discard
        </button>
        <button
          type="button"
          class="primary"
          id="commit"
          disabled={list.length === 0 || committing.value}
          onClick={() => void commit(draftBase.value)}
        >
          {committing.value ? 'Committing' : 'Commit'}
        </button>
      </div>
    </section>
  );
}

/** Edits of scenes that are not open, and the ways back to them. */
function KeptEdits() {
  const kept = [...keptDrafts.value];
  if (kept.length === 0) return null;
  return (
    <section class="card" id="kept-edits" aria-labelledby="kept-title">
      <h3 id="kept-title">Edits of other scenes, not committed</h3>
      {kept.map(([name, { draft: edits, drawn: points }]) => (
        <div key={name}>
          <p>
            {name}: {edits.size} edit{edits.size === 1 ? '' : 's'}
            {points.length > 0 && ', a polygon that is being drawn'}
          </p>
          <div class="buttons">
            <button type="button" class="primary" aria-label={`Go back to ${name}`} onClick={() => void openScene(name, 0n, true)}>
              Go back
            </button>
            <button type="button" aria-label={`Discard the edits of ${name}`} onClick={() => dropKept(name)}>
              Discard
            </button>
          </div>
        </div>
      ))}
    </section>
  );
}

function Panel() {
  void revision.value;
  const shown = scene.value;
  if (!shown) return <p class="hint">Open a scene first.</p>;
  if (offline.value) return <p class="hint">A file is shown as it is; import it into a server to edit it.</p>;
  if (pinned.value !== 0n) {
    return (
      <>
        <p class="hint">Version {String(pinned.value)} is shown. Edits are made to the current version.</p>
        <button type="button" class="primary" onClick={() => void openScene(shown.name, 0n, false)}>
          Show the current version
        </button>
      </>
    );
  }
  const drawing = editMode.value === 'draw';
  if (tool.value !== 'edit') {
    return (
      <>
        <h2 class="panel-title">Edit</h2>
        <p class="hint">Edits are a draft on this page. A commit makes one version of all of them.</p>
        <dl class="ways">
          <dt>Move</dt>
          <dd>Click a polygon, then drag its vertices; the middle of an edge makes a new one.</dd>
          <dt>Draw</dt>
          <dd>Click vertex after vertex; Enter closes the polygon.</dd>
          <dt>Delete</dt>
          <dd>The Delete key removes a vertex, or the polygon.</dd>
          <dt>Undo</dt>
          <dd>
            <kbd>Ctrl Z</kbd>, and <kbd>Ctrl Y</kbd> to redo.
          </dd>
          <dt>Commit</dt>
          <dd>For the version that the edits began with. If another client was first, both sides are shown.</dd>
        </dl>
        <button type="button" class="primary" id="start-edit" onClick={() => chooseTool('edit')}>
          Edit polygons
        </button>
        {draft.value.size > 0 && <Edits />}
      </>
    );
  }
  return (
    <>
      <h2 class="panel-title">Edit</h2>
      <div class="buttons">
        <button type="button" aria-pressed={!drawing} onClick={() => (editMode.value = 'change')}>
          <Icon name="edit" /> Change
        </button>
        <button
          type="button"
          aria-pressed={drawing}
          id="draw-polygon"
          onClick={() => {
            editMode.value = 'draw';
            selected.value = null;
          }}
        >
          <Icon name="polygon" /> Draw a polygon
        </button>
      </div>
      {drawing && (
        <section class="card">
          <p>Click vertex after vertex; click the first one again, or press Enter, to close the polygon.</p>
          <div class="field">
            <label for="new-category">Category</label>
            <input
              id="new-category"
              inputMode="numeric"
              value={String(newCategory.value)}
              onChange={(event) => (newCategory.value = parseCategory(event.currentTarget.value) ?? newCategory.value)}
            />
          </div>
          <div class="buttons">
            <button type="button" disabled={drawn.value.length < 3} onClick={finishDrawing}>
              Close the polygon ({drawn.value.length} vertices)
            </button>
          </div>
        </section>
      )}
      {!drawing && selected.value === null && <p class="hint">Click a polygon on the map.</p>}
      {!drawing && selected.value !== null && <Chosen id={selected.value} />}
      <Snapping />
      <Conflicts />
      <Edits />
    </>
  );
}

export function EditPanel() {
  return (
    <>
      <Panel />
      {!offline.value && <KeptEdits />}
    </>
  );
}
