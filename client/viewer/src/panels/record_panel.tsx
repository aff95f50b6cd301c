// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A recording of a stream: opening, playing, the verdicts of a tick, and the comparison with answers of this page.
import {
  changeSpeed,
  closeRecording,
  compareAll,
  comparing,
  comparison,
  frameCount,
  named,
  opening,
  openRecording,
  playing,
  recordError,
  show,
  shownScene,
  showScene,
  speed,
  SPEEDS,
  step,
  stopComparing,
  summary,
  tick,
  togglePlaying,
  wanted,
} from '../record/player';
import type { Comparison, Summary, Verdict } from '../record/messages';
import { view } from '../state/state';

const ENDS: Readonly<Record<string, string>> = {
  '': 'no end: the stream goes on, or its server was killed',
  stream_ended: 'the stream ended',
  full: 'no more bytes were allowed',
  slow_disk: 'the disk was too slow',
  missing_scene: 'a scene was replaced before it could be kept',
};

function seconds(us: number): string {
  return `${(us / 1e6).toFixed(3)} s`;
}

function OpenFile() {
  const wantedFile = named.value;
  return (
    <>
      <p class="muted">
        A file that <code>caromd --record</code> wrote. Drop it on the page, or choose it. It stays on this machine.
      </p>
      {wantedFile && (
        <p class="card" id="record-wanted">
          The address names tick {wantedFile.index} of <span class="data">{wantedFile.name}</span>. Open that file.
        </p>
      )}
      <div class="field">
        <label for="record-file">File</label>
        <input
          id="record-file"
          type="file"
          accept=".carec"
          disabled={opening.value}
          onChange={(event) => {
            const file = event.currentTarget.files?.[0];
            if (file) openRecording(file);
          }}
        />
      </div>
      {opening.value && <p role="status">Reading…</p>}
      <dl class="ways">
        <dt>Record</dt>
        <dd>
          <code>caromd --record DIR</code> keeps each stream in a file: what was asked, what was answered, the scenes.
        </dd>
        <dt>Play</dt>
        <dd>Go from tick to tick: bodies, bullets, slides, and the verdict of each question.</dd>
        <dt>Compare</dt>
        <dd>All ticks are answered anew and compared with the file, bit for bit, as far as the first difference.</dd>
        <dt>Print</dt>
        <dd>
          <code>carom record FILE</code> prints what a file has.
        </dd>
      </dl>
    </>
  );
}

function Facts({ made }: { made: Summary }) {
  return (
    <dl class="facts">
      <dt>File</dt>
      <dd class="data">{made.name}</dd>
      <dt>Server</dt>
      <dd>{made.serverVersion || 'not named'}</dd>
      <dt>Begin</dt>
      <dd>{made.begin.toISOString().replace('T', ' ').slice(0, 23)}</dd>
      <dt>Ticks</dt>
      <dd>
        {made.frames.toLocaleString('en')} in {seconds(made.spanUs)}
      </dd>
      <dt>End</dt>
      <dd>{ENDS[made.end] ?? 'for an unknown reason'}</dd>
    </dl>
  );
}

function Timeline() {
  const last = frameCount.value - 1;
  const at = wanted.value;
  const time = tick.value ? seconds(tick.value.atUs) : '';
  return (
    <>
      <div class="slider">
        <button type="button" aria-label="Tick before" disabled={at === 0} onClick={() => step(-1)}>
          ‹
        </button>
        <input
          type="range"
          id="ticks"
          aria-label="Tick"
          aria-valuetext={`tick ${at}`}
          min={0}
          max={Math.max(0, last)}
          value={at}
          onInput={(event) => ((playing.value = false), show(event.currentTarget.valueAsNumber))}
        />
        <button type="button" aria-label="Tick after" disabled={at >= last} onClick={() => step(1)}>
          ›
        </button>
      </div>
      <p role="status" id="tick" data-index={tick.value?.index ?? -1}>
        Tick {at} of {last}, {time}, sequence number {String(tick.value?.seq ?? '')}, scene version{' '}
        {String(tick.value?.version ?? '')}
      </p>
      <div class="buttons">
        <button type="button" id="play" aria-pressed={playing.value} onClick={togglePlaying}>
          {playing.value ? 'Pause' : 'Play'}
        </button>
        <button type="button" aria-label="Slower" disabled={speed.value === SPEEDS[0]} onClick={() => changeSpeed(-1)}>
          −
        </button>
        <span class="muted" id="speed">
          {speed.value} ×
        </span>
        <button
          type="button"
          aria-label="Faster"
          disabled={speed.value === SPEEDS.at(-1)}
          onClick={() => changeSpeed(1)}
        >
          +
        </button>
      </div>
    </>
  );
}

function Compared({ result }: { result: Comparison }) {
  const { difference } = result;
  return (
    <section id="comparison" class="card" role="status" data-result={difference ? 'different' : 'equal'}>
      {difference ? (
        <>
          <h3 class="bad-text">The answers differ</h3>
          <dl class="facts">
            <dt>Tick</dt>
            <dd>
              {difference.frame}, group {difference.group}
            </dd>
            <dt>Question</dt>
            <dd>
              {difference.kind}
              {difference.item < 0 ? '' : ` ${difference.item}`}
            </dd>
            <dt>Column</dt>
            <dd class="data">
              {difference.column || 'all'}
              {difference.entry < 0 ? '' : `[${difference.entry}]`}
            </dd>
            <dt>Recorded</dt>
            <dd class="data" id="recorded">
              {difference.recorded}
            </dd>
            <dt>This page</dt>
            <dd class="data" id="computed">
              {difference.computed}
            </dd>
          </dl>
          <div class="buttons">
            <button type="button" onClick={() => show(difference.frame)}>
              Show the tick
            </button>
          </div>
        </>
      ) : (
        <h3 class={result.stopped ? '' : 'good-text'}>
          {result.stopped ? 'Stopped before a difference' : 'All answers are equal'}
        </h3>
      )}
      <p class="muted">
        {result.frames.toLocaleString('en')} ticks, {result.questions.toLocaleString('en')} batches with{' '}
        {result.items.toLocaleString('en')} questions compared, bit for bit.
      </p>
      {result.notCompared.length > 0 && (
        <>
          <p>Not compared:</p>
          <ul id="not-compared">
            {result.notCompared.map(([reason, count]) => (
              <li key={reason}>
                {count.toLocaleString('en')} × {reason}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function Compare() {
  const frames = comparing.value;
  return (
    <>
      <div class="buttons">
        {frames === null ? (
          <button type="button" class="primary" id="compare" onClick={compareAll}>
            Compare all ticks
          </button>
        ) : (
          <button type="button" id="compare-stop" onClick={stopComparing}>
            Stop
          </button>
        )}
      </div>
      {frames !== null && (
        <progress class="compare-progress" aria-label="Ticks compared" max={frameCount.value} value={frames} />
      )}
      {comparison.value && <Compared result={comparison.value} />}
    </>
  );
}

function Row({ verdict }: { verdict: Verdict }) {
  const { kind, item, text, at } = verdict;
  const found = comparison.value?.difference;
  const isDifferent =
    found?.frame === tick.value?.index && found?.kind === kind && found.group === verdict.group && found.item === item;
  const center = (): void => {
    if (at) view.value = { ...view.value, cx: at.x, cy: at.y, px: 0, py: 0 };
  };
  return (
    <li class={isDifferent ? 'bad-text' : ''}>
      {at ? (
        <button type="button" class="verdict" onClick={center}>
          {kind} {item}: {text}
        </button>
      ) : (
        <span>
          {kind} {item < 0 ? '' : item}: {text}
        </span>
      )}
    </li>
  );
}

function Verdicts() {
  const shown = tick.value;
  if (!shown) return null;
  return (
    <section>
      <h3>Verdicts</h3>
      {shown.problem && <p class="bad-text">{shown.problem}</p>}
      {shown.verdicts.length === 0 && !shown.problem && <p class="muted">This tick asks nothing of the scene.</p>}
      <ul class="answer-rows" id="verdicts">
        {shown.verdicts.map((verdict) => (
          <Row key={`${verdict.group} ${verdict.kind} ${verdict.item}`} verdict={verdict} />
        ))}
      </ul>
      {shown.more > 0 && <p class="muted">and {shown.more.toLocaleString('en')} more</p>}
    </section>
  );
}

export function RecordPanel() {
  const made = summary.value;
  return (
    <>
      <h2 class="panel-title">Recording</h2>
      {recordError.value && (
        <p class="card bad-text" role="alert" id="record-error">
          {recordError.value}
        </p>
      )}
      {!made && <OpenFile />}
      {made && (
        <>
          <Facts made={made} />
          {made.damage && (
            <p class="card bad-text" role="alert" id="record-damage">
              The file is damaged: {made.damage}
            </p>
          )}
          {made.scenes.length > 1 && (
            <div class="field">
              <label for="record-scene">Scene</label>
              <select
                id="record-scene"
                value={shownScene.value}
                onChange={(event) => showScene(event.currentTarget.value)}
              >
                {made.scenes.map((name) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
            </div>
          )}
          {made.frames === 0 ? (
            <p>The recording has no tick.</p>
          ) : (
            <>
              <Timeline />
              <Compare />
              <Verdicts />
            </>
          )}
          <div class="buttons">
            <button type="button" id="record-close" onClick={closeRecording}>
              Close the recording
            </button>
          </div>
        </>
      )}
    </>
  );
}
