// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How were the last moves of the tracker answered? A strip, a column a move.
import { useEffect, useRef } from 'preact/hooks';
import { isDark } from '../state/state';
import { tiers } from './tracker';

const TIERS: { id: string; label: string; light: string; dark: string; height: number }[] = [
  { id: 'MOVE_TIER_QUIET', label: 'quiet: one comparison', light: '#0a7a48', dark: '#5fe0a0', height: 0.3 },
  { id: 'MOVE_TIER_NEAR', label: 'near: the edges in mind', light: '#1f5fbf', dark: '#86b6ff', height: 0.55 },
  { id: 'MOVE_TIER_REFRESH', label: 'refresh: the index', light: '#a15c00', dark: '#ffd166', height: 0.8 },
  { id: 'MOVE_TIER_COLD', label: 'cold: without memory', light: '#b3261e', dark: '#ff9a90', height: 1 },
];
const COLUMNS = 160;
const HEIGHT = 56;

export function TierChart() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const list = tiers.value.slice(-COLUMNS);
  const dark = isDark.value;
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context) return;
    context.clearRect(0, 0, COLUMNS * 2, HEIGHT);
    list.forEach((id, i) => {
      const tier = TIERS.find((entry) => entry.id === id);
      if (!tier) return;
      context.fillStyle = dark ? tier.dark : tier.light;
      context.fillRect(i * 2, HEIGHT * (1 - tier.height), 2, HEIGHT * tier.height);
    });
  }, [list, dark]);
  const count = (id: string): number => tiers.value.filter((tier) => tier === id).length;
  return (
    <figure class="tiers">
      <canvas ref={canvas} width={COLUMNS * 2} height={HEIGHT} role="img" aria-label="How the last moves were answered" />
      <figcaption>
        {TIERS.map(({ id, label, light, dark: other }) => (
          <span key={id}>
            <i style={{ background: dark ? other : light }} />
            {label}: {count(id)}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}
