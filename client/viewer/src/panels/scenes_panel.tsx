// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which scenes has the server? A list with a search; what the open scene consists of, and the polygon that is chosen on
// the map.
import { useState } from 'preact/hooks';
import { mapLine } from '../server/polygon_columns';
import { openScene, refreshScenes, userData } from '../state/scene_session';
import {
  classes,
  fileReport,
  highlighted,
  pinned,
  revision,
  scene,
  scenes,
  scenesLoaded,
  selected,
  stored,
  type SceneSummary,
} from '../state/state';
import { offline } from '../ask/asker';
import { copy } from '../shell/copy';

const MOST = 300;

function SceneRow({ summary }: { summary: SceneSummary }) {
  const open = scene.value?.name === summary.name;
  return (
    <li>
      <button
        type="button"
        class="row"
        aria-current={open}
        data-scene={summary.name}
        onClick={() => void openScene(summary.name, 0n, true)}
      >
        <span class="row-title">
          {summary.name}
          {summary.base && <span class="badge">fork</span>}
        </span>
        <span class="muted">
          version {String(summary.version)}, {summary.polygonCount.toLocaleString('en')} polygons,{' '}
          {summary.vertexCount.toLocaleString('en')} vertices
        </span>
        {summary.base && (
          <span class="muted">
            of {summary.base} at {String(summary.baseVersion)}
          </span>
        )}
      </button>
    </li>
  );
}

/** What the open scene consists of. */
function OpenScene() {
  void revision.value;
  const shown = scene.value;
  const bounds = stored.scene?.bounds();
  if (!shown || !bounds) return null;
  const { minX, minY, maxX, maxY } = bounds;
  return (
    <section class="card" id="open-scene">
      <h3>This scene</h3>
      <dl class="facts">
        {offline.value ? (
          fileReport.value.format && (
            <>
              <dt>Format</dt>
              <dd>{fileReport.value.format}</dd>
            </>
          )
        ) : (
          <>
            <dt>Version</dt>
            <dd>
              {String(shown.version)}
              {pinned.value === 0n ? ', followed' : ', pinned'}
            </dd>
          </>
        )}
        <dt>Polygons</dt>
        <dd>{shown.polygonCount.toLocaleString('en')}</dd>
        <dt>Vertices</dt>
        <dd>{shown.vertexCount.toLocaleString('en')}</dd>
        <dt>Categories</dt>
        <dd>{classes.value.length}</dd>
        <dt>x</dt>
        <dd>
          {minX} to {maxX}
        </dd>
        <dt>y</dt>
        <dd>
          {minY} to {maxY}
        </dd>
      </dl>
      <p class="muted">Click a polygon on the map to see what it is.</p>
    </section>
  );
}

/** What the import of a file left out. */
function LeftOut() {
  const { skipped } = fileReport.value;
  if (skipped.length === 0) return null;
  return (
    <section class="card" id="skipped">
      <h3>Left out of the file</h3>
      <dl class="ways plain">
        {skipped.slice(0, MOST).map(({ what, why, option }, i) => (
          <div key={i}>
            <dt>{what}</dt>
            <dd>
              {why}
              {option && (
                <>
                  ; see <code>{option}</code>
                </>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** The polygon that is chosen on the map. */
function Chosen({ id }: { id: bigint }) {
  void revision.value;
  const shape = stored.scene?.shape(id);
  if (!shape) return null;
  const vertices = shape.rings.reduce((sum, ring) => sum + ring.xy.length / 2, 0);
  const open = shape.rings.filter((ring) => ring.open).length;
  const data = userData.get(id);
  return (
    <section class="card" id="chosen" onMouseEnter={() => (highlighted.value = { ids: [id], edges: [] })} onMouseLeave={() => (highlighted.value = { ids: [], edges: [] })}>
      <h3>Polygon {String(id)}</h3>
      <dl class="facts">
        <dt>Rings</dt>
        <dd>
          {shape.rings.length}
          {open > 0 ? `, ${open} open` : ''}
        </dd>
        <dt>Vertices</dt>
        <dd>{vertices.toLocaleString('en')}</dd>
        <dt>Category</dt>
        <dd>{String(shape.category)}</dd>
        <dt>Fill rule</dt>
        <dd>{shape.nonZero ? 'non-zero' : 'even-odd'}</dd>
        <dt>Solidity</dt>
        <dd>{shape.hollow ? 'hollow' : 'solid'}</dd>
        {data && (
          <>
            <dt>User data</dt>
            <dd class="data">{readable(data)}</dd>
          </>
        )}
      </dl>
      <button type="button" onClick={() => void copy(mapLine(shape, data), 'Polygon')}>
        Copy as a JSON line
      </button>
    </section>
  );
}

/** User data as text if it is text, else as bytes in hexadecimal. */
function readable(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(' ');
  }
}

export function ScenesPanel() {
  const [words, setWords] = useState('');
  const found = scenes.value.filter(({ name }) => name.toLowerCase().includes(words.trim().toLowerCase()));
  const chosen = selected.value;
  return (
    <>
      {chosen !== null && <Chosen id={chosen} />}
      {!offline.value && (
        <>
          <div class="search">
            <input
              type="search"
              placeholder="Search scenes"
              aria-label="Search scenes"
              id="search"
              value={words}
              onInput={(event) => setWords(event.currentTarget.value)}
            />
            <button type="button" onClick={() => void refreshScenes()}>
              Refresh
            </button>
          </div>
          <p class="muted count" role="status">
            {scenesLoaded.value ? `${found.length.toLocaleString('en')} of ${scenes.value.length.toLocaleString('en')} scenes` : 'Loading'}
          </p>
          <ul class="rows list" id="scenes">
            {found.slice(0, MOST).map((summary) => (
              <SceneRow key={summary.name} summary={summary} />
            ))}
          </ul>
          {found.length > MOST && <p class="muted">Search for the other {found.length - MOST}.</p>}
        </>
      )}
      {chosen === null && <OpenScene />}
      {offline.value && <LeftOut />}
    </>
  );
}
