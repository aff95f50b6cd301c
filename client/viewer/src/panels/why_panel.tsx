// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Why is the answer what it is? The explanation of the server, beside the picture: what one points at is marked there.
import { useState } from 'preact/hooks';
import { offline } from '../ask/asker';
import { type OptionSpec, optionValue, toolOf } from '../ask/tools';
import { copy } from '../shell/copy';
import { Icon } from '../shell/icons';
import { chooseTool } from '../state/choose_tool';
import { highlighted, options, question, scene, tool } from '../state/state';
import { type Candidate, explained, type Explanation, type Memory, type Stage } from '../why/explanation';
import { TierChart } from '../why/tier_chart';

const FATES: Record<string, string> = {
  CANDIDATE_FATE_KEPT: 'in the answer',
  CANDIDATE_FATE_MASK: 'mask',
  CANDIDATE_FATE_OWNER: 'owner',
  CANDIDATE_FATE_BOX: 'box apart',
  CANDIDATE_FATE_HOLLOW: 'hollow',
  CANDIDATE_FATE_POLICY: 'policy',
  CANDIDATE_FATE_TOUCH_ONLY: 'touches only',
  CANDIDATE_FATE_APART: 'apart',
  CANDIDATE_FATE_FAR: 'too far',
  CANDIDATE_FATE_LATER: 'later',
  CANDIDATE_FATE_LIMIT: 'over the limit',
  CANDIDATE_FATE_PASSED: 'passed',
};
const NOTHING = { ids: [], edges: [] };

/** What marks a candidate, or one of its edges, on the map while it has the mouse or the focus. */
function marking(id: bigint, edges: { ring?: number; edge?: number }[]) {
  const mark = (): void => {
    highlighted.value = { ids: [id], edges: edges.map(({ ring = 0, edge = 0 }) => ({ id, ring, edge })) };
  };
  const unmark = (): void => void (highlighted.value = NOTHING);
  return { onMouseEnter: mark, onMouseLeave: unmark, onFocus: mark, onBlur: unmark };
}

const isKept = ({ fate }: Candidate): boolean => fate === 'CANDIDATE_FATE_KEPT';

function CandidateRow({ of, stageKey }: { of: Candidate; stageKey: string }) {
  const id = BigInt(of.id ?? 0);
  const kept = isKept(of);
  const exact = Number(of.exactProducts ?? 0);
  return (
    <li>
      <details class={`candidate ${kept ? 'kept' : ''}`} {...(of.isBody ? {} : marking(id, of.hasEdge ? [of] : []))}>
        <summary data-candidate={String(id)}>
          <span class="candidate-name">
            {of.isBody ? 'body' : 'polygon'} {String(id)}
          </span>
          <span class={`fate ${kept ? 'kept' : ''}`}>{FATES[of.fate ?? ''] ?? of.fate}</span>
          {of.key !== undefined && (
            <span class="muted">
              {stageKey} {of.key}
            </span>
          )}
          {exact > 0 && <span class="badge">exact</span>}
        </summary>
        {of.why && <p>{of.why}</p>}
        <ul class="signs">
          {(of.edges ?? []).map((edge, i) => (
            <li key={i} tabIndex={0} {...marking(id, [edge])}>
              ring {edge.ring ?? 0}, edge {edge.edge ?? 0}
              {edge.meets !== undefined && (edge.meets ? ', meets' : ', apart')}
              {(edge.signs ?? []).map((sign, k) => (
                <span key={k} class="sign">
                  {sign.predicate}: {sign.sign ?? 0}
                  {sign.exact ? ' (exact arithmetic)' : ''}
                </span>
              ))}
            </li>
          ))}
        </ul>
      </details>
    </li>
  );
}

function StageView({ stage, number, count }: { stage: Stage; number: number; count: number }) {
  const { candidates: all = [], decision } = stage;
  // Those of the answer come first.
  const candidates = [...all.filter(isKept), ...all.filter((candidate) => !isKept(candidate))];
  return (
    <section>
      <h3>{count > 1 ? `Step ${number}` : 'Candidates'}</h3>
      <p class="muted mono">{stage.question}</p>
      <p class="mono">{stage.outcome}</p>
      {decision && (
        <p>
          {decision.firstId ?? 0} at {decision.firstKey ?? 0} comes before {decision.secondId ?? 0} at{' '}
          {decision.secondKey ?? 0}
          {decision.sign ? `; ${decision.sign.predicate} is ${decision.sign.sign ?? 0}` : ''}
        </p>
      )}
      <ul class="candidates">
        {candidates.map((candidate, i) => (
          <CandidateRow key={i} of={candidate} stageKey={stage.key ?? ''} />
        ))}
      </ul>
      <p class="muted">
        {candidates.length} considered
        {Number(stage.unlisted ?? 0) > 0 && `, ${stage.unlisted} more not listed`}
        {Number(stage.beyondReach ?? 0) > 0 && `, ${stage.beyondReach} out of reach`}
      </p>
    </section>
  );
}

function MemoryView({ memory }: { memory: Memory }) {
  const lists = (ids: string[] = []): string => (ids.length > 0 ? ids.join(', ') : 'none');
  return (
    <section>
      <h3>Memory of the tracker</h3>
      <TierChart />
      {memory.why && <p>{memory.why}</p>}
      <dl class="facts">
        <dt>Quiet radius</dt>
        <dd>{memory.quietRadius ?? 0}</dd>
        <dt>Polygons of the mask</dt>
        <dd id="neighbors">{lists(memory.neighbors)}</dd>
        <dt>Touched before</dt>
        <dd>{lists(memory.touched)}</dd>
        <dt>Moves</dt>
        <dd>{memory.moves ?? 0}</dd>
      </dl>
    </section>
  );
}

function TrackerShape() {
  const tracker = toolOf('tracker');
  const spec = tracker?.options[0] as OptionSpec;
  if (!tracker) return null;
  const value = optionValue(tracker, options.value.tracker, 'shape') as string;
  return (
    <div class="field">
      <label for="tracker-shape">Shape</label>
      <select
        id="tracker-shape"
        value={value}
        onChange={(event) => (options.value = { ...options.value, tracker: { shape: event.currentTarget.value } })}
      >
        {spec.choices?.map((word) => (
          <option key={word}>{word}</option>
        ))}
      </select>
    </div>
  );
}

function Ready({ value }: { value: Explanation }) {
  const [asText, setAsText] = useState(false);
  return (
    <div id="explanation">
      <p>{value.answer}</p>
      {value.memory && <MemoryView memory={value.memory} />}
      {asText ? (
        <pre class="text" tabIndex={0} aria-label="The explanation as text">
          {value.text}
        </pre>
      ) : (
        value.stages.map((stage, i) => <StageView key={i} stage={stage} number={i + 1} count={value.stages.length} />)
      )}
      <div class="buttons">
        <button type="button" aria-pressed={asText} onClick={() => setAsText(!asText)}>
          {asText ? 'As a list' : 'As text'}
        </button>
        <button type="button" onClick={() => void copy(value.text, 'Explanation')}>
          Copy the text
        </button>
      </div>
    </div>
  );
}

export function WhyPanel() {
  if (!scene.value) return <p class="hint">Open a scene first.</p>;
  if (offline.value) return <p class="hint">A file has no server to explain its answers.</p>;
  const shown = explained.value;
  const chosen = toolOf(tool.value);
  return (
    <>
      <h2 class="panel-title">{chosen ? `Why: ${chosen.label}` : 'Why'}</h2>
      {!question.value && (
        <>
          <p class="hint">
            Ask a question with a tool; the server explains which polygons it considered and why each is in the answer or
            not. The tracker shows what the server remembers of a shape that moves.
          </p>
          <div class="buttons">
            <button type="button" onClick={() => chooseTool('bullet')}>
              <Icon name="bullet" /> Bullet
            </button>
            <button type="button" onClick={() => chooseTool('tracker')}>
              <Icon name="tracker" /> Tracker
            </button>
          </div>
        </>
      )}
      {tool.value === 'tracker' && <TrackerShape />}
      {question.value && shown.state === 'waiting' && <p class="muted">Waiting for the server</p>}
      {question.value && shown.state === 'none' && (
        <p class="card">This server gives no explanations (Explain is not implemented in its release).</p>
      )}
      {question.value && shown.state === 'failed' && <p class="card bad-text">{shown.reason}</p>}
      {question.value && shown.state === 'ready' && <Ready value={shown.value} />}
    </>
  );
}
