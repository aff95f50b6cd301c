// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which keys does the page have? One table, which the help sheet prints.
import { TOOLS } from '../ask/tools';
import { zoomed } from '../draw/view';
import { editKey } from '../edit/draft_pointer';
import { show, shownFinding } from '../findings/findings';
import { changeSpeed, step, togglePlaying } from '../record/player';
import { mapKey } from '../map/pointer';
import { fitView } from '../state/scene_session';
import { cursor, helpOpen, panel, type Panel, tool, view } from '../state/state';
import { toggleTheme } from '../state/theme';
import { chooseTool } from '../state/choose_tool';
import { copy } from './copy';

interface Shortcut {
  key: string;
  label: string;
  run: () => void;
}

/** Copies the point under the mouse, or in the middle of the view, as JSON with all digits. */
function copyPosition(): void {
  const { cx, cy } = view.value;
  const { x, y } = cursor.value ?? { x: cx, y: cy };
  void copy(JSON.stringify({ x, y }), 'Coordinates');
}

const go = (name: Panel) => () => {
  panel.value = name;
  document.getElementById(`tab-${name}`)?.focus();
};

export const SHORTCUTS: readonly { title: string; keys: readonly Shortcut[] }[] = [
  {
    title: 'View',
    keys: [
      { key: 'f', label: 'Fit the scene', run: fitView },
      { key: '+', label: 'Zoom in', run: () => (view.value = zoomed(view.value, 1.25, view.value.width / 2, view.value.height / 2)) },
      { key: '-', label: 'Zoom out', run: () => (view.value = zoomed(view.value, 0.8, view.value.width / 2, view.value.height / 2)) },
      { key: 't', label: 'Light or dark', run: toggleTheme },
      { key: 'p', label: 'Copy the coordinates under the mouse', run: copyPosition },
      { key: 'm', label: 'Go to the map', run: () => document.getElementById('map')?.focus() },
      { key: '?', label: 'Keys', run: () => (helpOpen.value = !helpOpen.value) },
    ],
  },
  {
    title: 'Panels',
    keys: [
      { key: 'g', label: 'Scenes', run: go('scenes') },
      { key: 'a', label: 'Ask', run: go('ask') },
      { key: 'y', label: 'Why', run: go('why') },
      { key: 'i', label: 'Findings', run: go('findings') },
      { key: 'e', label: 'Edit', run: go('edit') },
      { key: 'h', label: 'History', run: go('history') },
      { key: 'r', label: 'Recording', run: go('record') },
      { key: 'v', label: 'Server', run: go('server') },
      { key: ']', label: 'Next finding', run: () => show(shownFinding.value + 1) },
      { key: '[', label: 'Finding before', run: () => show(shownFinding.value - 1) },
    ],
  },
  {
    title: 'Recording',
    keys: [
      { key: ' ', label: 'Play or pause', run: togglePlaying },
      { key: '.', label: 'Next tick', run: () => step(1) },
      { key: ',', label: 'Tick before', run: () => step(-1) },
      { key: '>', label: 'Faster', run: () => changeSpeed(1) },
      { key: '<', label: 'Slower', run: () => changeSpeed(-1) },
    ],
  },
  {
    title: 'Tools',
    keys: [
      { key: 'Escape', label: 'Move the map', run: () => chooseTool('pan') },
      ...TOOLS.map(({ id, key, label }) => ({ key, label, run: () => chooseTool(id) })),
      { key: 'x', label: 'Edit polygons', run: () => chooseTool('edit') },
    ],
  },
];

/** Keys of the map alone, for the help sheet. */
export const MAP_KEYS: readonly [string, string][] = [
  ['Arrows', 'Move the map; with Shift further'],
  ['Enter', 'Next point of the tool'],
  ['Arrows', 'Move the point by a pixel; with Shift by ten'],
  ['Escape', 'Leave the point'],
  ['Space', 'While editing: choose the polygon in the middle, or add a vertex there'],
  ['Enter', 'While editing: next vertex, or close the polygon'],
  ['Delete', 'While editing: delete the vertex or the polygon'],
  ['Ctrl Z', 'Undo; with Shift, or Ctrl Y: redo'],
];

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]');
}

export function startKeyboard(): void {
  document.addEventListener('keydown', (event) => {
    if (isTyping(event.target)) return;
    const onMap = document.activeElement?.id === 'map';
    if (tool.value === 'edit' && editKey(event)) {
      event.preventDefault();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (onMap && mapKey(event)) {
      event.preventDefault();
      return;
    }
    if (helpOpen.value && event.key === 'Escape') {
      helpOpen.value = false;
      return;
    }
    const onControl = event.target instanceof HTMLElement && event.target.matches('button, [role=tab], a, summary');
    if (onControl && (event.key === 'Enter' || event.key === ' ')) return;
    const found = SHORTCUTS.flatMap(({ keys }) => keys).find(({ key }) => key === event.key);
    if (!found) return;
    event.preventDefault();
    found.run();
  });
}
