/**
 * `x-gw-mcp` (docs/mcp.md#settings): of a document, whether and which of its operations are tools; of an operation, the
 * name and description of its tool. Malformed settings are E1012.
 */
import type { ToolAnnotations } from '../../artifact/tools.ts';
import type { Diagnostics } from '../../spec/diagnostic.ts';
import { type Located, member, placeOf } from '../../spec/documents.ts';
import type { Json, JsonObject } from '../../spec/json.ts';
import { get, isObject, kindOf } from '../../spec/json.ts';
import { didYouMean } from '../../text/nearest-name.ts';
import { isIssuer, isScope } from './tool-authorization.ts';

const EXTENSION = 'x-gw-mcp';
/** Characters of names that every model takes. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Which operations: those that have one of the tags, or one of the paths; `*` at the end of a path is its beginning. */
interface Selection {
  readonly tags: readonly string[];
  readonly paths: readonly string[];
}

export interface SpecTools {
  readonly enabled: boolean;
  readonly instructions?: string;
  /** Origins of web pages that may call. */
  readonly origins: readonly string[];
  readonly prefix: string;
  /** Null: all. */
  readonly include: Selection | null;
  readonly exclude: Selection;
  readonly outputSchemas: boolean;
  readonly authorization: AuthorizationSettings;
  /** Whether clients get tools that find the others; a number: if there are more tools than that. */
  readonly search: boolean | number;
  /** Clients are told only of tools that middlewares permit to them. */
  readonly onlyPermitted: boolean;
}

/** Replaces the information of security requirements and plugins. */
export interface AuthorizationSettings {
  /** URL of the endpoint as clients know it. */
  readonly resource?: string;
  readonly servers?: readonly string[];
  readonly scopes?: readonly string[];
}

interface ArgumentSettings {
  readonly description?: string;
  readonly default?: Json;
  readonly hidden: boolean;
}

export interface OperationTool {
  /** Undefined: as the document says. */
  readonly enabled?: boolean;
  readonly name?: string;
  readonly title?: string;
  readonly description?: string;
  readonly group?: string;
  readonly examples?: readonly JsonObject[];
  readonly arguments: ReadonlyMap<string, ArgumentSettings>;
  readonly annotations: ToolAnnotations;
  readonly outputSchema?: boolean;
}

type Kind =
  | 'boolean'
  | 'search'
  | 'url'
  | 'issuers'
  | 'scopes'
  | 'text'
  | 'name'
  | 'prefix'
  | 'origins'
  | 'texts'
  | 'objects'
  | 'object'
  | 'any';

const FITS: Readonly<Record<Kind, readonly [fits: (value: unknown) => boolean, what: string]>> = {
  boolean: [(value) => typeof value === 'boolean', 'true or false'],
  text: [(value) => typeof value === 'string' && value !== '', 'a text'],
  name: [
    (value) => typeof value === 'string' && NAME.test(value),
    'a name of at most 64 characters: letters, digits, _ and -',
  ],
  prefix: [
    (value) => typeof value === 'string' && /^[A-Za-z0-9_-]{1,32}$/.test(value),
    'a name of at most 32 characters: letters, digits, _ and -',
  ],
  origins: [
    (value) => Array.isArray(value) && value.every((each) => typeof each === 'string' && isOrigin(each)),
    'a list of origins such as https://chat.example',
  ],
  search: [
    (value) => typeof value === 'boolean' || (Number.isInteger(value) && Number(value) >= 1),
    'true, false, or the number of tools above which it is on',
  ],
  url: [
    (value) => typeof value === 'string' && isIssuer(value),
    'a URL without query, such as https://api.example/__gw/mcp',
  ],
  issuers: [
    (value) => Array.isArray(value) && value.every((each) => typeof each === 'string' && isIssuer(each)),
    'a list of issuers such as https://login.example',
  ],
  scopes: [
    (value) => Array.isArray(value) && value.every((each) => typeof each === 'string' && isScope(each)),
    'a list of scopes: printable ASCII without spaces, " and \\',
  ],
  texts: [(value) => Array.isArray(value) && value.every((each) => typeof each === 'string'), 'a list of texts'],
  objects: [(value) => Array.isArray(value) && value.every(isObject), 'a list of objects'],
  object: [isObject, 'an object'],
  any: [() => true, ''],
};

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}

const SPEC = {
  enabled: 'boolean',
  instructions: 'text',
  origins: 'origins',
  prefix: 'prefix',
  include: 'object',
  exclude: 'object',
  output_schemas: 'boolean',
  authorization: 'object',
  search: 'search',
  only_permitted: 'boolean',
} as const;
const AUTHORIZATION = { resource: 'url', servers: 'issuers', scopes: 'scopes' } as const;
const SELECTION = { tags: 'texts', paths: 'texts' } as const;
const OPERATION = {
  enabled: 'boolean',
  name: 'name',
  title: 'text',
  description: 'text',
  group: 'text',
  examples: 'objects',
  arguments: 'object',
  annotations: 'object',
  output_schema: 'boolean',
} as const;
const ARGUMENT = { description: 'text', default: 'any', hidden: 'boolean' } as const;
const ANNOTATIONS = {
  read_only: 'boolean',
  destructive: 'boolean',
  idempotent: 'boolean',
  open_world: 'boolean',
} as const;

const NONE: Selection = { tags: [], paths: [] };

/** Reads the settings at a document's root; not enabled without `x-gw-mcp`. */
export function specTools(root: Located, diagnostics: Diagnostics): SpecTools {
  const at = member(root, EXTENSION);
  const none = {
    origins: [],
    prefix: '',
    include: null,
    exclude: NONE,
    outputSchemas: true,
    authorization: {},
    search: false,
    onlyPermitted: false,
  };
  const off = { enabled: false, ...none };
  if (at.value === undefined) return off;
  if (typeof get(at.value, 'enabled') !== 'boolean') {
    const hint = `Write ${EXTENSION} as {enabled: true}.`;
    diagnostics.add('E1012', placeOf(at), `${EXTENSION} needs "enabled", true or false`, hint);
    return off;
  }
  const read = reader(at, SPEC, diagnostics);
  const instructions = read('instructions');
  return {
    enabled: read('enabled') === true,
    origins: texts(read('origins')),
    prefix: String(read('prefix') ?? ''),
    include: read('include') === undefined ? null : selection(member(at, 'include'), diagnostics),
    exclude: selection(member(at, 'exclude'), diagnostics),
    outputSchemas: read('output_schemas') !== false,
    search: (read('search') ?? false) as boolean | number,
    onlyPermitted: read('only_permitted') === true,
    authorization: read('authorization') === undefined ? {} : authorization(member(at, 'authorization'), diagnostics),
    ...(typeof instructions === 'string' ? { instructions } : {}),
  };
}

function authorization(at: Located, diagnostics: Diagnostics): AuthorizationSettings {
  const read = reader(at, AUTHORIZATION, diagnostics);
  const settings = { resource: read('resource'), servers: read('servers'), scopes: read('scopes') };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

function selection(at: Located, diagnostics: Diagnostics): Selection {
  if (!isObject(at.value)) return NONE;
  const read = reader(at, SELECTION, diagnostics);
  return { tags: texts(read('tags')), paths: texts(read('paths')) };
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** Reads the settings of an operation. */
export function operationTool(operation: Located, diagnostics: Diagnostics): OperationTool {
  const at = member(operation, EXTENSION);
  if (at.value === undefined) return { arguments: new Map(), annotations: {} };
  if (!isObject(at.value)) {
    const hint = `Write ${EXTENSION} as an object, such as {enabled: false} or {name: find_books}.`;
    diagnostics.add('E1012', placeOf(at), `${EXTENSION} is ${kindOf(at.value)}: it must be an object`, hint);
    return { arguments: new Map(), annotations: {} };
  }
  const read = reader(at, OPERATION, diagnostics);
  const settings = {
    enabled: read('enabled'),
    name: read('name'),
    title: read('title'),
    description: read('description'),
    group: read('group'),
    examples: read('examples'),
    outputSchema: read('output_schema'),
  };
  const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
  return {
    ...(given as Omit<OperationTool, 'arguments' | 'annotations'>),
    arguments: read('arguments') === undefined ? new Map() : argumentSettings(member(at, 'arguments'), diagnostics),
    annotations: read('annotations') === undefined ? {} : annotations(member(at, 'annotations'), diagnostics),
  };
}

function argumentSettings(at: Located, diagnostics: Diagnostics): ReadonlyMap<string, ArgumentSettings> {
  const names = isObject(at.value) ? Object.keys(at.value) : [];
  return new Map(
    names.map((name): [string, ArgumentSettings] => {
      const read = reader(member(at, name), ARGUMENT, diagnostics);
      const [description, value] = [read('description'), read('default')];
      return [
        name,
        {
          hidden: read('hidden') === true,
          ...(typeof description === 'string' ? { description } : {}),
          ...(value === undefined ? {} : { default: value as Json }),
        },
      ];
    }),
  );
}

function annotations(at: Located, diagnostics: Diagnostics): ToolAnnotations {
  const read = reader(at, ANNOTATIONS, diagnostics);
  const said = {
    readOnlyHint: read('read_only'),
    destructiveHint: read('destructive'),
    idempotentHint: read('idempotent'),
    openWorldHint: read('open_world'),
  };
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
}

/** Reads members by their kind; invalid or unknown ones are E1012 and count as absent. */
function reader<N extends string>(at: Located, kinds: Readonly<Record<N, Kind>>, diagnostics: Diagnostics) {
  const known = Object.keys(kinds);
  if (!isObject(at.value)) {
    diagnostics.add('E1012', placeOf(at), `this is ${kindOf(at.value)}: it must be an object`, hintOf(known));
  }
  for (const name of isObject(at.value) ? Object.keys(at.value) : []) {
    if (known.includes(name) || name.startsWith('x-')) continue;
    diagnostics.add(
      'E1012',
      placeOf(member(at, name)),
      `"${name}" is not a setting of ${EXTENSION}`,
      didYouMean(name, known) ?? hintOf(known),
    );
  }
  return (name: N): unknown => {
    const { value, ...place } = member(at, name);
    if (value === undefined) return undefined;
    const [fits, what] = FITS[kinds[name]];
    if (fits(value)) return value;
    const shown = JSON.stringify(value)?.slice(0, 60);
    diagnostics.add('E1012', placeOf({ ...place, value }), `"${name}" is ${shown}: it must be ${what}`, hintOf(known));
    return undefined;
  };
}

function hintOf(known: readonly string[]): string {
  return `Use the settings ${known.join(', ')}.`;
}

/** Reports whether the document makes a tool of such an operation. */
export function selects({ enabled, include, exclude }: SpecTools, path: string, tags: readonly string[]): boolean {
  const among = (some: Selection) =>
    tags.some((tag) => some.tags.includes(tag)) || some.paths.some((pattern) => covers(pattern, path));
  return enabled && (include === null || among(include)) && !among(exclude);
}

function covers(pattern: string, path: string): boolean {
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
}
