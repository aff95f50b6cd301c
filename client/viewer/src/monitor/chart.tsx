// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// One small chart of the last minutes.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { isDark } from '../state/state';

export interface Line {
  label: string;
  values: (number | null)[];
}

const COLOURS = { light: ['#1f5fbf', '#a15c00', '#0a7a48'], dark: ['#86b6ff', '#ffd166', '#5fe0a0'] };
const HEIGHT = 104;
/** What a chart shows. */
const SECONDS = 180;

export function Chart({ title, at, lines, unit }: { title: string; at: number[]; lines: Line[]; unit: (value: number) => string }) {
  const area = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const dark = isDark.value;
  const data = [at, ...lines.map(({ values }) => values)] as uPlot.AlignedData;
  useEffect(() => {
    const element = area.current;
    if (!element) return undefined;
    const axis = { stroke: dark ? '#a4afbe' : '#556070', grid: { stroke: dark ? '#2a3039' : '#e6eaf0', width: 1 }, ticks: { show: false } };
    const colours = COLOURS[dark ? 'dark' : 'light'];
    const made = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        padding: [6, 4, 0, 0],
        scales: { x: { range: () => [Date.now() / 1000 - SECONDS, Date.now() / 1000] }, y: { range: (_, low, high) => [Math.min(0, low ?? 0), (high ?? 0) > 0 ? (high ?? 0) * 1.1 : 1] } },
        axes: [
          { ...axis, size: 20, space: 90, font: '10px system-ui' },
          { ...axis, size: 58, space: 26, font: '10px system-ui', values: (_, ticks) => ticks.map(unit) },
        ],
        series: [{}, ...lines.map(({ label }, i) => ({ label, stroke: colours[i % 3], width: 1.75, points: { show: false } }))],
      },
      data,
      element,
    );
    plot.current = made;
    return () => made.destroy();
  }, [dark, lines.length]);
  useEffect(() => plot.current?.setData(data), [at]);
  const last = lines.map(({ label, values }) => {
    const value = values[values.length - 1];
    return `${lines.length > 1 ? `${label} ` : ''}${value === null || value === undefined ? '–' : unit(value)}`;
  });
  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span>
        <strong>{last.join(', ')}</strong>
      </figcaption>
      <div ref={area} role="img" aria-label={`${title}: ${last.join(', ')}`} />
    </figure>
  );
}
