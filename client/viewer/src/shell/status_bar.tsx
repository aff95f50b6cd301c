// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The line below the map: where the mouse is, how large the scene is, and how fast the map is drawn.
import { useState } from 'preact/hooks';
import { formatCoordinate } from '../draw/view';
import { answerMs, cursor, frameStats, loading, scene, view } from '../state/state';
import { copy } from './copy';

export function StatusBar() {
  const [full, setFull] = useState(false);
  const at = cursor.value;
  const { scale } = view.value;
  const show = (x: number): string => (full ? String(x) : formatCoordinate(x, scale * 10));
  const shown = scene.value;
  const arriving = loading.value;
  return (
    <footer class="status-bar">
      <button
        type="button"
        class="status-item"
        aria-pressed={full}
        data-tip="All digits of the coordinates"
        onClick={() => setFull(!full)}
      >
        <span id="coordinates">{at ? `x ${show(at.x)}   y ${show(at.y)}` : 'x –   y –'}</span>
      </button>
      <button
        type="button"
        class="status-item"
        data-tip="Copy the middle of the view as JSON"
        onClick={() => void copy(JSON.stringify({ x: view.value.cx, y: view.value.cy }), 'Middle of the view')}
      >
        {scale >= 1e6 || scale < 1e-4 ? scale.toExponential(2) : Number(scale.toPrecision(4))} px per unit
      </button>
      <span class="spacer" />
      {arriving && arriving.of > 0 && (
        <span role="status" class="arriving">
          <progress aria-label="The scene arrives" />
          {arriving.of.toLocaleString('en')} vertices arrive
        </span>
      )}
      {shown && (
        <span id="sizes">
          {shown.polygonCount.toLocaleString('en')} polygons, {shown.vertexCount.toLocaleString('en')} vertices
        </span>
      )}
      <span class="muted" data-tip="Time of the last picture; time of the last answer">
        {frameStats.value.milliseconds.toFixed(1)} ms drawn, {answerMs.value.toFixed(1)} ms answered
      </span>
    </footer>
  );
}
