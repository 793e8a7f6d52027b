/** Stages 4 and 5: operations checked and bound to plugins, routes without conflicts, schemas gathered. */
import type { Manifest, Operation, RoutesFile } from '../artifact/format.ts';
import { routeKey } from '../router/route-key.ts';
import { asyncOperationsOf } from '../spec/async-operations.ts';
import type { Diagnostics } from '../spec/diagnostic.ts';
import { type Documents, type Located, member, placeOf } from '../spec/documents.ts';
import { get } from '../spec/json.ts';
import { type DeclaredOperation, operationsOf } from '../spec/operations.ts';
import type { Spec } from '../spec/recognise.ts';
import { Binder } from './bind.ts';
import type { ReadCondition } from './conditions.ts';
import type { PluginLoad } from './load-check.ts';
import type { ParsedSpec } from './parse.ts';
import { Plugins, type PreparedPlugin } from './plugins.ts';
import type { Project } from './project.ts';
import type { Resolved } from './resolve.ts';
import { routeOf } from './routes.ts';
import { SchemaTable } from './schema-table.ts';

export interface SourceFile {
  /** Name under `specs/`. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** All that the artifact is made of. */
export interface Compiled {
  readonly specs: readonly { readonly spec: Spec; readonly source: SourceFile }[];
  /** Files that specs refer to. */
  readonly references: readonly SourceFile[];
  readonly routes: RoutesFile;
  readonly plugins: readonly PreparedPlugin[];
  /** What the gateway has to be able to load; more than the artifact holds. */
  readonly loads: readonly PluginLoad[];
  readonly mcp: Manifest['mcp'];
}

export function checkAndBind(
  { specs, references }: Resolved,
  project: Project,
  documents: Documents,
  diagnostics: Diagnostics,
  readCondition: ReadCondition | null,
): Compiled {
  const names = new Map([
    ...references,
    ...specs.map(({ spec, base }): [string, string] => [spec.document.file, base]),
  ]);
  const plugins = new Plugins(project.plugins, diagnostics);
  const schemas = new SchemaTable(documents, diagnostics, (file) => names.get(file) ?? file);
  const binder = new Binder(plugins, project, diagnostics, readCondition);
  const deps = { documents, diagnostics, schemas, binder, mock: project.flags.mock === true };
  const conflicts = new Conflicts(diagnostics);
  const operations = specs.flatMap(({ spec, base }) => {
    const read = spec.type === 'asyncapi' ? asyncOperationsOf : operationsOf;
    return read(spec, documents, diagnostics).flatMap((declared) => {
      const route = routeOf(declared, base, deps);
      if (!route || !conflicts.take(declared)) return [];
      return route;
    });
  });
  const sourceOf = (file: string, name: string): SourceFile => ({
    name,
    bytes: documents.bytesOf(file) ?? new Uint8Array(),
  });
  const unique = new Map([...references].map(([file, name]) => [name, sourceOf(file, name)]));
  return {
    specs: specs.map(({ spec, base }) => ({ spec, source: sourceOf(spec.document.file, base) })),
    references: [...unique.values()],
    routes: {
      operations: operations.map((operation, index): Operation => ({ index, ...operation })),
      schemas: schemas.finish(),
    },
    plugins: plugins.used,
    loads: binder.loads,
    mcp: mcpOf(specs, diagnostics),
  };
}

/** No two operations answer the same requests: names of parameters do not tell routes apart (E1010). */
class Conflicts {
  readonly #taken = new Map<string, DeclaredOperation>();
  readonly #diagnostics: Diagnostics;

  constructor(diagnostics: Diagnostics) {
    this.#diagnostics = diagnostics;
  }

  take(declared: DeclaredOperation): boolean {
    const { method, path, at, spec } = declared;
    const key = routeKey(method, path);
    const other = this.#taken.get(key);
    if (!other) {
      this.#taken.set(key, declared);
      return true;
    }
    const where = other.spec === spec ? 'this document' : `"${other.spec.document.file}"`;
    this.#diagnostics.add(
      'E1010',
      placeOf(at),
      `${method} ${path} is also in ${where}, as ${other.path} (${other.at.pointer})`,
    );
    return false;
  }
}

/** The MCP endpoint serves all specs: one that enables it is enough, and the first names the server. */
function mcpOf(specs: readonly ParsedSpec[], diagnostics: Diagnostics): Manifest['mcp'] {
  const enabling = specs.filter(({ spec }) => {
    const root: Located = { document: spec.document, pointer: '', value: spec.document.value };
    const mcp = member(root, 'x-gw-mcp');
    if (mcp.value === undefined) return false;
    const enabled = get(mcp.value, 'enabled');
    if (typeof enabled !== 'boolean') {
      diagnostics.add(
        'E1012',
        placeOf(mcp),
        'x-gw-mcp needs "enabled", true or false',
        'Write x-gw-mcp as {enabled: true}.',
      );
    }
    return enabled === true;
  });
  const [first] = enabling;
  if (!first) return { enabled: false };
  return { enabled: true, server_name: first.spec.title, server_version: first.spec.apiVersion };
}
