// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The server: the figures that matter, limits near, and what the page itself measures. Nothing here changes anything.
import { offline } from '../ask/asker';
import { Chart } from '../monitor/chart';
import { hasMetrics, quantile, rate, type Sample, samples } from '../monitor/samples';
import { agreement, coreReady, scenes, watchCount } from '../state/state';

const NEAR = 0.75;

const count = (value: number): string =>
  value >= 1e6 ? `${(value / 1e6).toPrecision(3)} M` : value >= 1e4 ? `${(value / 1e3).toPrecision(3)} k` : String(Number(value.toPrecision(3)));
const ms = (value: number): string => `${Number(value.toPrecision(3))} ms`;
const bytes = (value: number): string => {
  const power = Math.min(4, Math.max(0, Math.floor(Math.log2(Math.max(value, 1)) / 10)));
  return `${Number((value / 2 ** (10 * power)).toPrecision(3))} ${['B', 'KiB', 'MiB', 'GiB', 'TiB'][power]}`;
};

function pairs(list: Sample[], of: (before: Sample | undefined, after: Sample) => number | null): (number | null)[] {
  return list.map((sample, i) => of(list[i - 1], sample));
}

/** Shares of memory, each beside its limit. */
function Limits({ last }: { last: Sample }) {
  const { metrics } = last;
  if (!metrics) return null;
  const rows: { name: string; used: number; limit: number; shown: (value: number) => string }[] = [];
  for (const share of ['scenes', 'trackers', 'messages']) {
    const used = metrics.get(`carom_memory_used_bytes{share="${share}"}`);
    const limit = metrics.get(`carom_memory_limit_bytes{share="${share}"}`);
    if (used !== undefined && limit) rows.push({ name: `memory of ${share}`, used, limit, shown: bytes });
  }
  const files = metrics.get('process_max_fds');
  if (files) rows.push({ name: 'open files', used: metrics.get('process_open_fds') ?? 0, limit: files, shown: count });
  const refused = [...metrics].filter(([key, value]) => key.startsWith('carom_refusals_total{') && value > 0);
  return (
    <section>
      <h3>Limits</h3>
      <ul class="limits">
        {rows.map(({ name, used, limit, shown }) => (
          <li key={name} class={used / limit > NEAR ? 'near' : ''}>
            <span>
              {name}: {shown(used)} of {shown(limit)}
              {used / limit > NEAR ? ', near' : ''}
            </span>
            <meter min={0} max={limit} high={limit * NEAR} value={used} aria-label={name} />
          </li>
        ))}
      </ul>
      {refused.length > 0 && (
        <>
          <h3>Refused since the start</h3>
          <dl class="facts">
            {refused.map(([key, value]) => (
              <>
                <dt>{/limit="([^"]*)"/.exec(key)?.[1]?.replaceAll('_', ' ') ?? key}</dt>
                <dd>{count(value)}</dd>
              </>
            ))}
          </dl>
        </>
      )}
    </section>
  );
}

function Figures({ last }: { last: Sample }) {
  const { metrics } = last;
  const { same, different } = agreement.value;
  const value = (name: string): string => count(metrics?.get(name) ?? 0);
  return (
    <dl class="facts" id="figures">
      {metrics && (
        <>
          <dt>Streams</dt>
          <dd>{value('carom_streams')}</dd>
          <dt>Connections</dt>
          <dd>{value('carom_connections')}</dd>
          <dt>Forks</dt>
          <dd>{value('carom_forks')}</dd>
          <dt>Vertices in memory</dt>
          <dd>{value('carom_vertices')}</dd>
          <dt>Commits since the start</dt>
          <dd>{value('carom_commits_total')}</dd>
        </>
      )}
      <dt>Scenes</dt>
      <dd>{scenes.value.length.toLocaleString('en')}</dd>
      <dt>Versions that arrived here</dt>
      <dd id="watch-count">{watchCount.value}</dd>
      <dt>Core of the page</dt>
      <dd>{coreReady.value.replace('_', ' ')}</dd>
      <dt>Equal, different answers</dt>
      <dd>
        {same.toLocaleString('en')}, {different}
      </dd>
    </dl>
  );
}

export function ServerPanel() {
  if (offline.value) return <p class="hint">The page shows a file, without a server.</p>;
  const list = samples.value;
  const last = list[list.length - 1];
  if (!last) return <p class="muted">Measuring</p>;
  const at = list.map((sample) => sample.at);
  const frames = (q: number) =>
    pairs(list, (before, after) => {
      const seconds = quantile(before, after, 'carom_frame_duration_seconds', q);
      return seconds === null ? null : seconds * 1000;
    });
  return (
    <>
      <h2 class="panel-title">Server</h2>
      <Chart title="Round trip of the page" at={at} unit={ms} lines={[{ label: 'call', values: list.map(({ roundTripMs }) => roundTripMs) }]} />
      {hasMetrics.value && (
        <>
          <Chart title="Frames per second" at={at} unit={count} lines={[{ label: 'frames', values: pairs(list, (a, b) => rate(a, b, 'carom_frames_total')) }]} />
          <Chart title="Questions per second" at={at} unit={count} lines={[{ label: 'questions', values: pairs(list, (a, b) => rate(a, b, 'carom_queries_total')) }]} />
          <Chart title="Time of a frame, at most" at={at} unit={ms} lines={[{ label: 'median', values: frames(0.5) }, { label: 'p99', values: frames(0.99) }]} />
          <Chart title="Memory" at={at} unit={bytes} lines={[{ label: 'resident', values: list.map(({ metrics }) => metrics?.get('process_resident_memory_bytes') ?? null) }]} />
          <Limits last={last} />
        </>
      )}
      {hasMetrics.value === false && (
        <p class="card muted">This server has no metrics for this page; its port for operators has them, at /metrics.</p>
      )}
      <Figures last={last} />
    </>
  );
}
