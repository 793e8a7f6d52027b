/** One tool: its description, the form of its arguments, and the outcome of the last call. */
import { useId, useState } from 'preact/hooks';
import { parseExactly } from '../src/json/exact-json.ts';
import { isObject, type Obj } from '../src/spec/json.ts';
import { type Answer, callTool, type Headers, type Tool } from './endpoint.ts';
import { type FormField, fieldsOf, typedArguments, type Values } from './fields.ts';
import { Outcome } from './outcome.tsx';

/** Credentials are the same for all tools, and go with the page. */
let typedHeaders = '';

export function ToolPage({ tool }: { readonly tool: Tool }) {
  const fields = fieldsOf(tool['inputSchema']);
  const [values, setValues] = useState<Values>(new Map());
  const [json, setJson] = useState<string | null>(null);
  const [headers, setHeaders] = useState(typedHeaders);
  const [problem, setProblem] = useState('');
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [busy, setBusy] = useState(false);
  const call = async () => {
    setProblem('');
    setBusy(true);
    try {
      const args = json === null ? typedArguments(fields, values, tool['inputSchema']) : objectIn(json);
      setAnswer(await callTool(tool, args, headersIn(headers)));
    } catch (error) {
      setAnswer(null);
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  const toJson = () => {
    try {
      setJson(JSON.stringify(typedArguments(fields, values, tool['inputSchema']), null, 2));
      setProblem('');
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <div class="tool">
      <About tool={tool} />
      <form
        aria-label="Arguments"
        onSubmit={(event) => {
          event.preventDefault();
          void call();
        }}
      >
        {json === null ? (
          fields.map((field) => (
            <ArgumentField
              key={field.name}
              field={field}
              value={values.get(field.name) ?? ''}
              onInput={(text) => setValues(new Map(values).set(field.name, text))}
            />
          ))
        ) : (
          <TextField label="Arguments, as a JSON object" value={json} onInput={setJson} />
        )}
        {json === null && fields.length === 0 && <p class="muted">The tool takes no arguments.</p>}
        <details open={headers !== ''}>
          <summary>Headers of the request</summary>
          <TextField
            label="Headers, one a line"
            hint="Such as x-api-key: demo-key. They are forgotten with the page."
            value={headers}
            onInput={(text) => {
              typedHeaders = text;
              setHeaders(text);
            }}
          />
        </details>
        <div class="actions">
          <button type="submit" class="button primary" disabled={busy}>
            {busy ? 'Calling …' : 'Call'}
          </button>
          <button type="button" class="button" onClick={() => (json === null ? toJson() : setJson(null))}>
            {json === null ? 'Write JSON' : 'Back to the form'}
          </button>
        </div>
      </form>
      {problem !== '' && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {answer && <Outcome answer={answer} />}
    </div>
  );
}

function About({ tool }: { readonly tool: Tool }) {
  const { name, title, description, annotations, inputSchema, outputSchema } = tool;
  const hints = Object.entries(isObject(annotations) ? annotations : {}).filter(([, value]) => value === true);
  return (
    <>
      <h2>{name}</h2>
      {typeof title === 'string' && <p class="strong">{title}</p>}
      {typeof description === 'string' && description !== title && <p class="text">{description}</p>}
      {hints.length > 0 && <p class="muted">{hints.map(([hint]) => hint.replace(/Hint$/, '')).join(', ')}</p>}
      <Schema label="Input schema" schema={inputSchema} />
      {outputSchema !== undefined && <Schema label="Output schema" schema={outputSchema} />}
    </>
  );
}

function Schema({ label, schema }: { readonly label: string; readonly schema: unknown }) {
  return (
    <details>
      <summary>{label}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard */}
      <pre tabIndex={0}>{JSON.stringify(schema, null, 2)}</pre>
    </details>
  );
}

interface ArgumentFieldProps {
  readonly field: FormField;
  readonly value: string;
  readonly onInput: (text: string) => void;
}

function ArgumentField({ field, value, onInput }: ArgumentFieldProps) {
  const { name, kind, choices, required, hint } = field;
  const id = useId();
  const label = required ? `${name} (required)` : name;
  const more = { list: 'one item a line, or a list in JSON', json: 'JSON', line: '', choice: '' }[kind];
  const hints = [hint, more].filter(Boolean).join(' · ');
  if (kind === 'list' || kind === 'json')
    return <TextField label={label} hint={hints} value={value} onInput={onInput} />;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {kind === 'choice' ? (
        <select
          id={id}
          aria-describedby={`${id}-hint`}
          value={value}
          onChange={(event) => onInput(event.currentTarget.value)}
        >
          <option value="">–</option>
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          type="text"
          autocomplete="off"
          spellcheck={false}
          aria-describedby={`${id}-hint`}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
      <p class="hint" id={`${id}-hint`}>
        {hints}
      </p>
    </div>
  );
}

interface TextFieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly onInput: (text: string) => void;
}

function TextField({ label, hint = '', value, onInput }: TextFieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={Math.min(16, value.split('\n').length + 1)}
        spellcheck={false}
        aria-describedby={`${id}-hint`}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
    </div>
  );
}

/** Throws if the text is not a JSON object. */
function objectIn(text: string): Obj {
  const value: unknown = text.trim() === '' ? {} : parseExactly(text);
  if (!isObject(value)) throw new Error('Arguments must be a JSON object.');
  return value;
}

/** Throws where a line is no header. */
function headersIn(text: string): Headers {
  return text.split('\n').flatMap((line): [string, string][] => {
    if (line.trim() === '') return [];
    const colon = line.indexOf(':');
    if (colon < 1) throw new Error(`"${line}" is no header: write a name, a colon and a value.`);
    return [[line.slice(0, colon).trim(), line.slice(colon + 1).trim()]];
  });
}
