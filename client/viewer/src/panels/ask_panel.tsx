// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The question of the tool, its options, its answer in full, and both as text to copy.
import { useState } from 'preact/hooks';
import { codeFor, LANGUAGES, type Language } from '../ask/code';
import { type Question, toText } from '../ask/question';
import { describe, type Row } from '../ask/rows';
import { type OptionSpec, optionValue, type Tool, toolOf, TOOLS } from '../ask/tools';
import { moveHandle } from '../map/pointer';
import { copy } from '../shell/copy';
import { Icon } from '../shell/icons';
import { chooseTool, PANEL_TOOLS, placeHandles } from '../state/choose_tool';
import { answer, handles, highlighted, options, question, scene, tool } from '../state/state';

const MOST_ROWS = 200;
const NOTHING = { ids: [], edges: [] };

function OptionField({ of, spec }: { of: Tool; spec: OptionSpec }) {
  const chosen = options.value[of.id];
  const value = optionValue(of, chosen, spec.name);
  const id = `option-${spec.name}`;
  const set = (next: string | number): void => {
    options.value = { ...options.value, [of.id]: { ...chosen, [spec.name]: next } };
  };
  return (
    <div class="field">
      <label for={id}>{spec.label}</label>
      {spec.choices ? (
        <select id={id} value={value as string} onChange={(event) => set(event.currentTarget.value)}>
          {spec.choices.map((word) => (
            <option key={word} value={word}>
              {word.replaceAll('_', ' ')}
            </option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          type="number"
          min={spec.min}
          max={spec.max}
          step={spec.integer ? 1 : 'any'}
          value={value as number}
          onChange={(event) => set(event.currentTarget.valueAsNumber)}
        />
      )}
    </div>
  );
}

/** The points of the tool as numbers that one can type. */
function Points({ of }: { of: Tool }) {
  const points = handles.value[of.id] ?? [];
  return (
    <details class="points">
      <summary>Coordinates</summary>
      {points.map((point, i) => (
        <div class="field pair" key={of.points[i]}>
          <span class="field-name">{of.points[i]}</span>
          <input
            type="number"
            step="any"
            aria-label={`${of.points[i]}, x`}
            value={point.x}
            onChange={(event) => {
              const x = event.currentTarget.valueAsNumber;
              if (Number.isFinite(x)) moveHandle(i, x, point.y);
            }}
          />
          <input
            type="number"
            step="any"
            aria-label={`${of.points[i]}, y`}
            value={point.y}
            onChange={(event) => {
              const y = event.currentTarget.valueAsNumber;
              if (Number.isFinite(y)) moveHandle(i, point.x, y);
            }}
          />
        </div>
      ))}
      <button type="button" onClick={() => placeHandles(of.id)}>
        Bring into view
      </button>
    </details>
  );
}

function AnswerRow({ row }: { row: Row }) {
  const mark = (): void => void (highlighted.value = { ids: row.ids, edges: row.edges });
  const unmark = (): void => void (highlighted.value = NOTHING);
  return (
    <li tabIndex={row.ids.length > 0 ? 0 : undefined} onMouseEnter={mark} onMouseLeave={unmark} onFocus={mark} onBlur={unmark}>
      <strong>{row.name}</strong> {row.where && <span class="muted">{row.where}</span>}
      <span class="digits">{row.text}</span>
    </li>
  );
}

function Answered({ asked }: { asked: Question }) {
  const made = answer.value;
  if (!made) {
    return (
      <p class="muted" role="status">
        Waiting for an answer
      </p>
    );
  }
  const { summary, rows } = describe(asked, made);
  return (
    <section aria-labelledby="answer-title" id="answer">
      <h3 id="answer-title" class={made.error ? 'bad-text' : ''}>
        {summary}
      </h3>
      <ol class="answer-rows hits">
        {rows.slice(0, MOST_ROWS).map((row, i) => (
          <AnswerRow key={i} row={row} />
        ))}
      </ol>
      {rows.length > MOST_ROWS && <p class="muted">and {rows.length - MOST_ROWS} further lines</p>}
    </section>
  );
}

function Code({ asked }: { asked: Question }) {
  const [language, setLanguage] = useState<Language>('json');
  const name = scene.value?.name ?? '';
  const text = codeFor(language, asked, name, location.origin);
  const made = answer.value;
  return (
    <section class="code" aria-label="The question as text">
      <div class="code-tabs" role="radiogroup" aria-label="Language">
        {LANGUAGES.map(({ id, label }) => (
          <button type="button" key={id} role="radio" aria-checked={language === id} onClick={() => setLanguage(id)}>
            {label}
          </button>
        ))}
      </div>
      <pre tabIndex={0} aria-label={`The question in ${language}`}>
        <code id="code">{text}</code>
      </pre>
      <div class="buttons">
        <button type="button" class="primary" onClick={() => void copy(text, 'Question')}>
          Copy the question
        </button>
        {made && (
          <button type="button" onClick={() => void copy(toText({ version: made.version, ...made.columns }), 'Answer')}>
            Copy the answer
          </button>
        )}
      </div>
    </section>
  );
}

function Choices() {
  return (
    <>
      <p class="hint">Choose a question. Then drag its points on the map; the answer follows.</p>
      <ul class="rows choices">
        {TOOLS.filter(({ id }) => !PANEL_TOOLS.includes(id)).map(({ id, label, hint, key }) => (
          <li key={id}>
            <button type="button" class="row with-icon" onClick={() => chooseTool(id)}>
              <Icon name={id} />
              <span>
                <span class="row-title">{label}</span>
                <span class="muted">{hint}</span>
              </span>
              <kbd>{key}</kbd>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

export function AskPanel() {
  const chosen = toolOf(tool.value);
  if (!scene.value) return <p class="hint">Open a scene first.</p>;
  if (!chosen) return <Choices />;
  const asked = question.value;
  return (
    <>
      <h2 class="panel-title">{chosen.label}</h2>
      <p class="muted">{chosen.hint}</p>
      {chosen.options.map((spec) => (
        <OptionField key={`${chosen.id}.${spec.name}`} of={chosen} spec={spec} />
      ))}
      <Points of={chosen} />
      {asked && <Answered asked={asked} />}
      {asked && <Code asked={asked} />}
    </>
  );
}
