/** One tool: what agents are told of it, and the command that calls it. */
import { fieldsOf, typedArguments, type Values } from '@gw/gateway/tool-fields';
import { useState } from 'preact/hooks';
import type { ArtifactTools } from '../../api/types.ts';
import { Field } from '../../components/field.tsx';
import { Command } from '../../components/values.tsx';

type Tool = ArtifactTools['tools'][number];

export function ToolDetails({ tool }: { readonly tool: Tool }) {
  const [open, setOpen] = useState(false);
  const { name, title } = tool.definition;
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <code class="strong">{String(name)}</code> {typeof title === 'string' && title}{' '}
        <span class="muted">
          {tool.method} {tool.path} · {tool.tokens} tokens
        </span>
      </summary>
      {open && <Opened tool={tool} />}
    </details>
  );
}

function Opened({ tool: { definition } }: { readonly tool: Tool }) {
  const { description, annotations, inputSchema, outputSchema } = definition;
  const hints = Object.entries(annotations ?? {}).map(([hint, value]) => `${hint}: ${value}`);
  return (
    <div class="pad">
      {typeof description === 'string' && <p>{description}</p>}
      {hints.length > 0 && <p class="muted">{hints.join(', ')}</p>}
      <h3>Input schema</h3>
      <pre>{JSON.stringify(inputSchema, null, 2)}</pre>
      {outputSchema !== undefined && (
        <>
          <h3>Output schema</h3>
          <pre>{JSON.stringify(outputSchema, null, 2)}</pre>
        </>
      )}
      <CallCommand name={String(definition['name'])} schema={inputSchema} />
    </div>
  );
}

/** The console asks its own server only: a tool is called from the command line. */
function CallCommand({ name, schema }: { readonly name: string; readonly schema: unknown }) {
  const [gateway, setGateway] = useState('http://localhost:8080');
  const [values, setValues] = useState<Values>(new Map());
  const fields = fieldsOf(schema);
  const command = commandOf(gateway, name, () => typedArguments(fields, values, schema));
  return (
    <>
      <h3>Call</h3>
      <Field label="Gateway" hint="Its URL." value={gateway} onInput={setGateway} />
      {fields.map(({ name: field, kind, required, choices, hint }) => (
        <Field
          key={field}
          label={required ? `${field} (required)` : field}
          hint={[hint, choices.join(' | '), kind === 'list' ? 'a list in JSON' : ''].filter(Boolean).join(' · ')}
          value={values.get(field) ?? ''}
          onInput={(text) => setValues(new Map(values).set(field, text))}
        />
      ))}
      {command instanceof Error ? <p role="alert">{command.message}</p> : <Command text={command} />}
    </>
  );
}

function commandOf(gateway: string, name: string, args: () => object): string | Error {
  try {
    const given = JSON.stringify(args());
    const options = given === '{}' ? [] : ['--arguments', quoted(given)];
    const target = [quoted(gateway), quoted(name)];
    // A name may begin as an option does.
    const words = name.startsWith('-') ? [...options, '--', ...target] : [...target, ...options];
    return ['gw mcp call', ...words].join(' ');
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** One word of a POSIX shell, whatever is in it. */
function quoted(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
