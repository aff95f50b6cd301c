// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The page: opens what its address names, and starts all that follows.
import { effect } from '@preact/signals';
import { render } from 'preact';
import { offline, startAsking } from './ask/asker';
import { toolOf } from './ask/tools';
import { startDraft } from './edit/draft';
import { startFindings } from './findings/findings';
import { MapView } from './map/map_view';
import { startMonitor } from './monitor/samples';
import { named, startPlayer, summary } from './record/player';
import { Panels } from './panels/panels';
import { installHooks } from './shell/hooks';
import { HelpSheet } from './shell/help_sheet';
import { startKeyboard } from './shell/keyboard';
import { StatusBar } from './shell/status_bar';
import { Toolbar } from './shell/toolbar';
import { TopBar } from './shell/top_bar';
import { readAddress, startAddress } from './state/address';
import { checkServer, openFile, openScene, refreshScenes } from './state/scene_session';
import { handles, highlighted, options, panel, scene, scenes, toast, tool, view } from './state/state';
import { startTheme } from './state/theme';
import { startExplaining } from './why/explanation';
import { startTracking } from './why/tracker';
import './style.css';

const REFRESH_MS = 5000;
const RETRY_MS = 1500;

function Page() {
  return (
    <>
      <TopBar />
      <Toolbar />
      <MapView />
      <Panels />
      <StatusBar />
      <HelpSheet />
      <div class={`toast ${toast.value ? 'shown' : ''}`} role="status">
        {toast.value}
      </div>
    </>
  );
}

/** Shows what the fragment of the address names. */
function openAddress(): void {
  const address = readAddress(location.hash);
  if (toolOf(address.tool) || address.tool === 'edit') {
    tool.value = address.tool;
    const wanted = toolOf(address.tool)?.points.length;
    if (wanted && address.points.length === wanted) {
      handles.value = { ...handles.value, [address.tool]: address.points };
      options.value = { ...options.value, [address.tool]: address.options };
    } else if (wanted) {
      tool.value = 'pan';
    }
  }
  if (address.panel) panel.value = address.panel;
  // A page cannot open a file of the reader's machine by itself.
  if (address.record && !summary.value) named.value = address.record;
  if (address.at) view.value = { ...view.value, cx: address.at.x, cy: address.at.y, px: 0, py: 0, scale: address.at.scale };
  if (address.scene && !offline.value) void openScene(address.scene, address.version, address.at === null);
}

/** Fetches the list of scenes until a server answers; opens the only scene, or the first, if the address names none. */
async function start(): Promise<void> {
  if (offline.value) {
    await openFile(local ?? '');
    return;
  }
  while (!(await refreshScenes())) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  if (!scene.value && !readAddress(location.hash).scene && scenes.value.length > 0) {
    void openScene(scenes.value[0].name, 0n, true);
  }
  setInterval(() => {
    if (document.visibilityState === 'visible' && !offline.value) void checkServer();
  }, REFRESH_MS);
}

// `carom view FILE` serves the page with the file, and names the file.
const local = new URLSearchParams(location.search).get('local');
offline.value = local !== null;

installHooks();
startTheme();
render(<Page />, document.getElementById('app') as HTMLElement);
startKeyboard();
startAsking();
startTracking();
startExplaining();
startFindings();
startMonitor();
startDraft();
startPlayer();
openAddress();
startAddress();
window.addEventListener('hashchange', openAddress);
// What a panel marks on the map ends with the panel.
effect(() => {
  void panel.value;
  highlighted.value = { ids: [], edges: [] };
});
void start();
