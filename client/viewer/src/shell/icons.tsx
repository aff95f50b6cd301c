// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The pictures on buttons: lines on a square of 24 units, in the colour of the text.
import type { ComponentChildren } from 'preact';

const PATHS: Record<string, ComponentChildren> = {
  pan: <path d="M12 3v18M3 12h18M12 3l-3 3M12 3l3 3M12 21l-3-3M12 21l3-3M3 12l3-3M3 12l3 3M21 12l-3-3M21 12l-3 3" />,
  point: (
    <>
      <circle cx="12" cy="12" r="3" fill="currentColor" />
      <circle cx="12" cy="12" r="8" stroke-dasharray="3 3" />
    </>
  ),
  bullet: <path d="M4 20L19 5M19 5h-6M19 5v6M8 12l4 4" />,
  ray: <path d="M3 19L11 6l5 11 5-9M21 8l-1 5M21 8l-4 2M4 5h14" />,
  arc: <path d="M3 20C6 4 14 2 20 16M20 16l1-6M20 16l-5-3" />,
  fan: <path d="M4 12L20 4M4 12l17-3M4 12h17M4 12l17 3M4 12l16 8" />,
  sight: (
    <>
      <path d="M2 12c5-8 15-8 20 0-5 8-15 8-20 0z" />
      <circle cx="12" cy="12" r="3" />
    </>
  ),
  circle: <circle cx="12" cy="12" r="8.5" />,
  capsule: <rect x="2.5" y="7.5" width="19" height="9" rx="4.5" transform="rotate(-30 12 12)" />,
  box: <rect x="4" y="5.5" width="16" height="13" />,
  polygon: <path d="M4 9l9-6 8 8-5 10H6z" />,
  nearest: (
    <>
      <path d="M3 3v18h5V3z" />
      <circle cx="19" cy="12" r="2.5" />
      <path d="M8 12h8" stroke-dasharray="2.5 2" />
    </>
  ),
  contact: (
    <>
      <path d="M3 14h18v7H3z" />
      <circle cx="12" cy="12" r="5" />
      <path d="M12 12V3M12 3l-2 2.5M12 3l2 2.5" />
    </>
  ),
  sweep: (
    <>
      <rect x="2.5" y="13" width="7" height="7" />
      <rect x="14.5" y="4" width="7" height="7" stroke-dasharray="2.5 2" />
      <path d="M9.5 13l5-4" />
    </>
  ),
  slide: (
    <>
      <path d="M3 20h18M7 6l5 9h8M20 15l-3-2.5M20 15l-3 2.5" />
    </>
  ),
  tracker: (
    <>
      <circle cx="12" cy="12" r="3.5" />
      <circle cx="12" cy="12" r="9" stroke-dasharray="3 3" />
      <path d="M12 1v4M12 19v4M1 12h4M19 12h4" />
    </>
  ),
  lint: (
    <>
      <path d="M12 4l9 16H3z" />
      <path d="M12 10v5M12 17.5v.2" />
    </>
  ),
  edit: <path d="M4 20l1-5L16 4l4 4L9 19zM14 6l4 4" />,
  fit: <path d="M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5M8 8h8v8H8z" />,
  plus: <path d="M12 5v14M5 12h14" />,
  minus: <path d="M5 12h14" />,
  sun: (
    <>
      <circle cx="12" cy="12" r="4" />
      <path d="M12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2" />
    </>
  ),
  moon: <path d="M20 14.5A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.5z" />,
  help: <path d="M9 9a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.1-1.5 2.4M12 17.5v.5" />,
  link: <path d="M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1" />,
  close: <path d="M6 6l12 12M18 6L6 18" />,
};

export function Icon({ name }: { name: string }) {
  return (
    <svg
      class="icon"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {PATHS[name]}
    </svg>
  );
}
