/** docs/sdk.md, from the doc comments of the plugin SDK: what `gateway/sdk/assembly/index.ts` exports. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '..', 'gateway', 'sdk', 'assembly');

/** A doc comment. */
interface SdkDoc {
  readonly text: string;
  /** Code, or null. */
  readonly example: string | null;
}

interface SdkMember {
  readonly name: string;
  /** As it is called: `Cookies.get(name: Text): Text | null`. */
  readonly signature: string;
  readonly doc: SdkDoc | null;
}

interface SdkExport extends SdkMember {
  readonly kind: 'function' | 'namespace' | 'class' | 'constant';
  readonly members: readonly SdkMember[];
}

export interface SdkModule {
  readonly file: string;
  /** What its first comment says. */
  readonly title: string;
  readonly exports: readonly SdkExport[];
}

/** The modules of the SDK in the order of its index, each with what users can import. */
export function readSdk(): readonly SdkModule[] {
  const index = read('index');
  const names = new Map<string, Set<string>>();
  for (const [, list = '', file = ''] of index.matchAll(/^export \{([^}]*)\} from "\.\/([a-z0-9-]+)";/gm)) {
    const known = names.get(file) ?? new Set();
    for (const name of list.split(',')) if (name.trim() !== '') known.add(name.trim());
    names.set(file, known);
  }
  const files = [...names].map(([file, wanted]) => moduleOf(file, (name) => wanted.has(name)));
  return [...files.toSorted((one, other) => (one.file < other.file ? -1 : 1)), moduleOf('index', () => true)];
}

function read(file: string): string {
  return readFileSync(join(FOLDER, `${file}.ts`), 'utf8');
}

/** A comment, what decorates a declaration, and its first line. */
const DECLARATION =
  /(?:^\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?(?:@\w+\n|@\w+ )*^(?:@inline )?export (function|namespace|class|enum|const) (\w+)([^\n]*)/gm;

function moduleOf(file: string, isExported: (name: string) => boolean): SdkModule {
  const source = read(file);
  const [, title = ''] = /^\/\*\*((?:(?!\*\/)[\s\S])*)\*\//.exec(source) ?? [];
  const exports: SdkExport[] = [];
  for (const match of source.matchAll(DECLARATION)) {
    const [whole, comment, keyword = '', name = ''] = match;
    if (!isExported(name)) continue;
    const start = match.index + whole.length;
    const line = source.slice(source.lastIndexOf(`export ${keyword} ${name}`, start), start);
    const doc = comment === undefined ? null : docOf(comment);
    if (keyword === 'const') {
      const [, type = ''] = /: ([^=]+) =/.exec(line) ?? [];
      exports.push({ kind: 'constant', name, signature: `${name}: ${type}`, doc, members: [] });
    } else if (keyword === 'function') {
      const signature = signatureOf(source, start - line.length + 'export function '.length);
      exports.push({ kind: 'function', name, signature, doc, members: [] });
    } else {
      const body = source.slice(start, source.indexOf('\n}', start) + 1);
      const members = membersOf(keyword, name, body);
      exports.push({ kind: keyword === 'class' ? 'class' : 'namespace', name, signature: name, doc, members });
    }
  }
  return { file, title: docOf(title).text, exports };
}

const MEMBER_DOC = /(?: *\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?/.source;

function membersOf(keyword: string, name: string, body: string): readonly SdkMember[] {
  if (keyword === 'class') return classMembers(name, body);
  return keyword === 'enum' ? enumMembers(name, body) : namespaceMembers(name, body);
}

function enumMembers(owner: string, body: string): SdkMember[] {
  const pattern = new RegExp(`${MEMBER_DOC}^  (\\w+) = (-?\\d+),`, 'gm');
  return [...body.matchAll(pattern)].map(([, comment, name = '', value]) => ({
    name,
    signature: `${owner}.${name} = ${value}`,
    doc: comment === undefined ? null : docOf(comment),
  }));
}

function namespaceMembers(owner: string, body: string): SdkMember[] {
  const pattern = new RegExp(`${MEMBER_DOC}^  export function (\\w+)`, 'gm');
  return [...body.matchAll(pattern)].map((match) => {
    const [whole, comment, name = ''] = match;
    const signature = `${owner}.${signatureOf(body, match.index + whole.length - name.length)}`;
    return { name, signature, doc: comment === undefined ? null : docOf(comment) };
  });
}

/** Public methods, properties and the constructor, in order; what is private or @internal is left out. */
function classMembers(owner: string, body: string): SdkMember[] {
  const members: SdkMember[] = [];
  const pattern = new RegExp(
    `${MEMBER_DOC}^  (?:  public (\\w+): ([^,\\n]+),?$|(?:@inline )?(static |get )?(\\w+)(\\(|: ([^=;\\n]+)))`,
    'gm',
  );
  let construction: SdkMember | null = null;
  for (const match of body.matchAll(pattern)) {
    const [whole, comment, field, fieldType, modifier = '', name = '', next, type = ''] = match;
    const doc = comment === undefined ? null : docOf(comment);
    if (comment?.includes('@internal')) continue;
    if (field !== undefined) {
      members.push({ name: field, signature: `${field}: ${fieldType?.trim()}`, doc });
    } else if (next === '(') {
      const at = match.index + whole.length - 1 - name.length;
      if (name === 'if' || name === 'for' || name === 'while' || name === 'super') continue;
      const signature = signatureOf(body, at);
      if (name === 'constructor') {
        construction = { name: owner, signature: signature.replace('constructor', `new ${owner}`), doc };
      } else if (modifier === 'get ') {
        members.push({ name, signature: signature.replace('()', ''), doc });
      } else {
        members.push({ name, signature: `${modifier === 'static ' ? `${owner}.` : ''}${signature}`, doc });
      }
    } else members.push({ name, signature: `${name}: ${type.trim()}`, doc });
  }
  return construction ? [construction, ...members] : members;
}

/** From the name to the brace before the body, in one line. */
function signatureOf(source: string, from: number): string {
  const end = source.slice(from).search(/ \{(?:\}|\n)/);
  return source
    .slice(from, from + end)
    .replaceAll(/\/\*\*.*?\*\/\s+/gs, '')
    .replaceAll(/\b(?:public|private) /g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('( ', '(')
    .replaceAll(/,? \)/g, ')');
}

function docOf(comment: string): SdkDoc {
  const lines = comment.split('\n').map((line) => line.replace(/^ *\* ?/, '').trimEnd());
  const all = lines.join('\n').trim().replaceAll('*\\/', '*/');
  const [text = '', example] = all.split(/^@example[ \n]?/m);
  return { text: text.trim().replaceAll(/(?<!\n)\n(?!\n)/g, ' '), example: example?.trim() ?? null };
}

/** Files of the SDK by what they are for; the others are about capabilities of the host. */
const SUBJECTS: readonly (readonly [title: string, files: readonly string[]])[] = [
  ['Hooks', ['index']],
  [
    'Request and response',
    ['request', 'response', 'chunk', 'context', 'config', 'changes', 'path-template', 'request-value'],
  ],
  ['Text and encodings', ['text', 'text-template', 'base64', 'percent', 'clock', 'dates', 'random']],
  ['JSON documents', ['json', 'json-edit']],
  ['URLs and cookies', ['url', 'query', 'cookies']],
  ['Callers', ['basic-credentials', 'bearer', 'identity', 'groups']],
  ['Dispatchers', ['upstream-path', 'publishing', 'subscribing']],
];

/** The modules by subject, in order. */
export function sdkBySubject(): readonly { readonly title: string; readonly modules: readonly SdkModule[] }[] {
  const all = readSdk();
  const named = SUBJECTS.map(([title, files]) => ({
    title,
    modules: files.map((file) => {
      const found = all.find((each) => each.file === file);
      if (found === undefined) throw new Error(`the SDK has no file ${file} that its index exports`);
      return found;
    }),
  }));
  const known = new Set(SUBJECTS.flatMap(([, files]) => files));
  return [...named, { title: 'Capabilities', modules: all.filter(({ file }) => !known.has(file)) }];
}

export function renderSdk(): string {
  const subjects = sdkBySubject();
  const anchors = new Set<string>();
  // Of two headings that differ in case alone, the first has the anchor.
  const linkTo = (label: string, heading: string) => {
    const anchor = heading.toLowerCase().replaceAll(' ', '-');
    if (anchors.has(anchor)) return label;
    anchors.add(anchor);
    return `[${label}](#${anchor})`;
  };
  const contents = subjects.map(({ title, modules }) => {
    const subject = linkTo(title, title);
    const names = modules.flatMap(({ exports }) => exports.filter(({ kind }) => kind !== 'constant'));
    return `| ${subject} | ${names.map((each) => linkTo(headingOf(each), each.name)).join(', ') || 'what hooks return'} |`;
  });
  return `# Plugin SDK

Generated from the doc comments of the AssemblyScript SDK: everything that \`@gw/plugin-sdk/assembly\` exports. [The guide](plugin-guide.md) shows how a plugin is written and tested, [ABI.md](../gateway/sdk/ABI.md) what the SDK calls in the gateway.

Text goes in and comes out as [Text](#text). A function that returns \`… | null\` says in which case it returns null. Host functions that a description names under "declare" belong into \`host_functions\` of \`plugin.toml\`.

| subject | what there is |
|---|---|
${contents.join('\n')}

${subjects.map(renderSubject).join('\n')}`;
}

function headingOf({ kind, name }: Pick<SdkExport, 'kind' | 'name'>): string {
  return kind === 'function' ? `${name}()` : name;
}

function renderSubject({ title, modules }: { readonly title: string; readonly modules: readonly SdkModule[] }): string {
  return `## ${title}\n\n${modules.map(renderModule).join('\n')}`;
}

function renderModule({ title, exports }: SdkModule): string {
  const constants = exports.filter(({ kind }) => kind === 'constant');
  const others = exports.filter(({ kind }) => kind !== 'constant');
  const parts = others.map((each, index) => renderExport(each, index === 0 ? title : ''));
  if (constants.length === 0) return parts.join('\n');
  const rows = constants.map(({ signature, doc }) => row(signature, doc));
  return [...parts, `| constant | meaning |\n|---|---|\n${rows.join('\n')}\n`].join('\n');
}

function renderExport({ kind, name, signature, doc, members }: SdkExport, about: string): string {
  const parts = [`### ${headingOf({ kind, name })}`];
  if (kind === 'function') parts.push(`\`${signature}\``);
  if (about !== '' && kind !== 'function') parts.push(about);
  if (doc !== null && doc.text !== '') parts.push(doc.text);
  if (doc?.example) parts.push(`\`\`\`ts\n${doc.example}\n\`\`\``);
  if (members.length > 0) {
    parts.push(`| call | meaning |\n|---|---|\n${members.map((each) => row(each.signature, each.doc)).join('\n')}`);
  }
  return `${parts.join('\n\n')}\n`;
}

function row(signature: string, doc: SdkDoc | null): string {
  const example = doc?.example ? ` Example: \`${doc.example.replaceAll('\n', ' ')}\`` : '';
  return `| \`${signature.replaceAll('|', '\\|')}\` | ${`${doc?.text ?? ''}${example}`.replaceAll('|', '\\|').replaceAll('\n\n', '<br>')} |`;
}
