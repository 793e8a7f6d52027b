/** `gw init --from` (docs/reference/cli.md#init): a project of a document that is there. */
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { CompileResult, ProjectFile } from '../../compiler/index.ts';
import { HTTP_UPSTREAM, MOCK } from '../../compiler/project/project.ts';
import { isObject } from '../../spec/json.ts';
import { parseText } from '../../spec/parse.ts';
import { describeLeftOut } from './no-routes.ts';
import { readSpecs, SpecFileError, withPlainNames } from './project-folder.ts';
import { plaintextFlags } from './project-templates.ts';

/** Name of the upstream in gw.yaml. */
const UPSTREAM = 'api';
const MOST_REASONS = 10;

export interface ProjectOfDocument {
  /** Name for a folder. */
  readonly name: string;
  /** By path in the project. */
  readonly files: readonly (readonly [string, string | Uint8Array])[];
  /** Notes for the project's owner. */
  readonly notes: string;
}

/** Rejects with SpecFileError if the document cannot be read, or gw does not serve documents of its kind. */
export async function projectOfDocument(path: string, upstream: string | undefined): Promise<ProjectOfDocument> {
  const [{ compile, loadBuiltinPlugin }, { slug }] = await Promise.all([
    import('../../compiler/index.ts'),
    import('../../compiler/operations/routes.ts'),
  ]);
  const read = withPlainNames(await readSpecs([path]));
  const used = new Map<string, Uint8Array>();
  const files = read.files.map((file): ProjectFile => noting(file, used));
  const flags = { allowPlaintext: true, leaveOut: true, ...(upstream === undefined ? { mock: true } : { upstream }) };
  const plugins = [MOCK, HTTP_UPSTREAM].map((name) => loadBuiltinPlugin(name));
  const result = await compile({ specs: read.specs, files, plugins, flags });
  if (!result.ok) throw new SpecFileError(`${path} cannot be served: ${firstError(result)}`);
  const [spec = ''] = read.specs;
  const bytes = used.get(spec) ?? (await readFile(path));
  const parsed = parseText(bytes);
  const info = parsed.ok && isObject(parsed.value) ? parsed.value['info'] : undefined;
  const title = isObject(info) && typeof info['title'] === 'string' ? info['title'] : basename(path);
  const dispatch =
    upstream === undefined ? { name: MOCK } : { name: HTTP_UPSTREAM, config: { url: `upstream://${UPSTREAM}` } };
  const text = withDispatch(parsed.text, dispatch);
  const others = [...used].filter(([name]) => name !== spec && name !== basename(path));
  const count = result.manifest.routes_count;
  return {
    name: slug(title),
    files: [
      ['gw.yaml', manifest(upstream)],
      [join('specs', spec), text ?? bytes],
      ...others.map(([name, content]) => [join('specs', name), content] as const),
      ['README.md', readme(title, spec, upstream)],
    ],
    notes:
      (text === null ? `add to the root of specs/${spec}: x-gw-dispatch: ${JSON.stringify(dispatch)}\n` : '') +
      `${count} operation${count === 1 ? '' : 's'} ${upstream === undefined ? 'answered with examples' : `passed on to ${upstream}`}\n` +
      notesOf(result),
  };
}

function noting(file: ProjectFile, used: Map<string, Uint8Array>): ProjectFile {
  return {
    name: file.name,
    get bytes() {
      used.set(file.name, file.bytes);
      return file.bytes;
    },
  };
}

function firstError({ diagnostics }: CompileResult): string {
  const error = diagnostics.find(({ severity }) => severity === 'error');
  return error ? `${error.code} ${error.message}. ${error.hint}` : 'it does not compile';
}

function notesOf({ leftOut }: CompileResult & { readonly ok: true }): string {
  if (leftOut.length === 0) return '';
  return `operations with an error, which gw compile refuses: ${leftOut.length}\n${describeLeftOut(leftOut, MOST_REASONS)}`;
}

/**
 * The document with the extension at its root, everything else as it is written. Null if it cannot be put there, such as
 * in YAML in one line; the text itself if it names dispatchers already.
 */
function withDispatch(text: string, dispatch: object): string | null {
  if (text.includes('x-gw-dispatch')) return text;
  const before = parseText(Buffer.from(text));
  if (!before.ok || !isObject(before.value)) return null;
  const json = JSON.stringify(dispatch);
  const written = /^\s*\{/.test(text)
    ? text.replace(/\{/, `{\n  "x-gw-dispatch": ${json},`)
    : text.replace(/^(?=["']?(?:openapi|asyncapi)["']?\s*:)/m, `x-gw-dispatch: ${json}\n`);
  const after = parseText(Buffer.from(written));
  const wanted = JSON.stringify(Object.entries({ ...before.value, 'x-gw-dispatch': dispatch }).sort());
  const isRight = after.ok && isObject(after.value) && JSON.stringify(Object.entries(after.value).sort()) === wanted;
  return isRight ? written : null;
}

function manifest(upstream: string | undefined): string {
  const upstreams = upstream === undefined ? '' : `upstreams:\n  ${UPSTREAM}: { url: ${JSON.stringify(upstream)} }\n`;
  return `# The project: where its specs are, and which plugins they may use.
specs: specs
plugins:
  mock: {}
  http-upstream: {}
  # More come with gw, such as cors, rate-limit, apikey-auth and jwt-auth: a line here, then x-gw-middlewares in the spec.
${upstreams}`;
}

function readme(title: string, spec: string, upstream: string | undefined): string {
  const [compile, serve] = plaintextFlags(upstream);
  const now =
    upstream === undefined
      ? 'Every operation is answered with the examples of the document. To pass them on to your server, put\n`x-gw-dispatch: { name: http-upstream, config: { url: "upstream://api" } }` at its root, and\n`upstreams: { api: { url: https://api.example.com } }` into `gw.yaml`.'
      : `Every operation is passed on to ${upstream} (\`upstreams\` in \`gw.yaml\`).`;
  return `# ${title.replaceAll(/\s+/g, ' ')}

\`specs/${spec}\` describes the API; gw validates requests against it. ${now}

\`\`\`console
$ gw dev                                 # serve it, and again when a file changes
$ gw compile${compile} --output api.gwa
$ gw serve --artifact api.gwa${serve}
\`\`\`

Secrets are references such as \`env://API_KEY\`. \`gw dev\` reads them from the environment, else from \`.env\` beside
\`gw.yaml\`, which git ignores.

Next: rate limits and authentication at the root of the document, once for all operations:

\`\`\`yaml
x-gw-middlewares:
  - { name: rate-limit, config: { quota: 600, window: 60 } }
\`\`\`
`;
}
