// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The map: the canvas of the worker, and above it that of the page.
import { useEffect, useRef } from 'preact/hooks';
import { startMapWorker } from '../draw/map_worker';
import { zoomed } from '../draw/view';
import { Icon } from '../shell/icons';
import { fitView } from '../state/scene_session';
import { classes, scene, view } from '../state/state';
import { Legend } from './legend';
import { Notice } from './notice';
import { startOverlay } from './overlay';
import { startPointer } from './pointer';

export function MapView() {
  const area = useRef<HTMLDivElement>(null);
  const drawn = useRef<HTMLCanvasElement>(null);
  const above = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (!area.current || !drawn.current || !above.current) return;
    const element = area.current;
    const resize = (): void => {
      const { width, height } = element.getBoundingClientRect();
      if (width > 0 && height > 0) view.value = { ...view.value, width, height };
    };
    resize();
    new ResizeObserver(resize).observe(element);
    startMapWorker(drawn.current);
    startOverlay(above.current);
    startPointer(above.current);
  }, []);
  const zoom = (factor: number): void => {
    view.value = zoomed(view.value, factor, view.value.width / 2, view.value.height / 2);
  };
  const name = scene.value ? `Map of ${scene.value.name}` : 'Map';
  return (
    <main class="map-area" id="main" ref={area}>
      <canvas class="map-canvas" ref={drawn} aria-hidden="true" />
      <canvas
        class="map-canvas overlay"
        id="map"
        ref={above}
        tabIndex={0}
        role="application"
        aria-label={`${name}. Arrows move it, plus and minus zoom, Enter goes to the points of the tool.`}
      />
      <div class="zoom-buttons" role="group" aria-label="Zoom">
        <button type="button" aria-label="Zoom in" data-tip="Zoom in (+)" onClick={() => zoom(1.5)}>
          <Icon name="plus" />
        </button>
        <button type="button" aria-label="Zoom out" data-tip="Zoom out (-)" onClick={() => zoom(1 / 1.5)}>
          <Icon name="minus" />
        </button>
        <button type="button" aria-label="Fit the scene" data-tip="Fit (f)" id="fit" onClick={fitView}>
          <Icon name="fit" />
        </button>
      </div>
      {classes.value.length > 0 && <Legend />}
      <Notice />
    </main>
  );
}
