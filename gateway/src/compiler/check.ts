/** Stages 4 and 5: operations checked and bound to plugins, routes without conflicts, schemas gathered. */
import type { Operation, RoutesFile } from '../artifact/format.ts';
import { routeKey } from '../router/route-key.ts';
import { asyncOperationsOf } from '../spec/async-operations.ts';
import type { Diagnostics } from '../spec/diagnostic.ts';
import { type Documents, placeOf } from '../spec/documents.ts';
import type { DeclaredUse } from '../spec/extensions.ts';
import { nearestDispatch } from '../spec/inheritance.ts';
import { type DeclaredOperation, operationsOf } from '../spec/operations.ts';
import type { Spec } from '../spec/recognise.ts';
import { CREDENTIALS_HINT, credentialPlaces } from '../spec/url-credentials.ts';
import { operationKey } from './culprits.ts';
import { DocumentJudge } from './operations/document-judge.ts';
import { isEndless, routeOf } from './operations/routes.ts';
import { Binder } from './plugins/bind.ts';
import type { ConfigChecks } from './plugins/conditions.ts';
import { ConfigData, type DataEntry } from './plugins/config-data.ts';
import { Instances } from './plugins/distinct.ts';
import type { PluginLoad } from './plugins/plugins.ts';
import { Plugins, type PreparedPlugin } from './plugins/plugins.ts';
import { manifestPlace } from './project/manifest-place.ts';
import { type CompileFlags, HTTP_UPSTREAM, MOCK, type Project } from './project/project.ts';
import { policiesOf } from './project/upstream-policies.ts';
import type { Resolved } from './resolve.ts';
import { warnOfPreparation } from './schemas/preparation-time.ts';
import { warnOfRepeats } from './schemas/repeating-schemas.ts';
import { SchemaTable } from './schemas/schema-table.ts';
import { mcpUpstreamsOf } from './tools/mcp-upstreams.ts';
import { type CompiledTools, type Routed, toolsOf } from './tools/tools.ts';
import { warnOfUncheckedCredentials } from './unchecked-credentials.ts';

interface SourceFile {
  /** Name under `specs/`. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A route of an operation that has no `x-gw-dispatch` itself (docs/decisions.md#extensions-inherited). */
export interface InheritedRoute {
  /** Upper case. */
  readonly method: string;
  readonly path: string;
  /** Name of the operation's tool; null if it is not a tool. */
  readonly tool: string | null;
  /** Place of the dispatcher's name: a file of the project, and the pointer in it. */
  readonly file: string;
  readonly pointer: string;
}

/** Content of the artifact. */
export interface Compiled extends CompiledTools {
  readonly specs: readonly { readonly spec: Spec; readonly source: SourceFile }[];
  /** Files that specs refer to. */
  readonly references: readonly SourceFile[];
  readonly routes: RoutesFile;
  readonly plugins: readonly PreparedPlugin[];
  /** Entries that configs are compiled to, sorted by path. */
  readonly data: readonly DataEntry[];
  /** Plugins that the gateway must be able to load; more than the artifact holds. */
  readonly loads: readonly PluginLoad[];
  readonly inherited: readonly InheritedRoute[];
  /** All declared operations, also those without a route. */
  readonly operations: readonly DeclaredOperation[];
}

export function checkAndBind(
  { specs, references }: Resolved,
  project: Project,
  documents: Documents,
  diagnostics: Diagnostics,
  checks: ConfigChecks,
  omitted: ReadonlySet<string>,
): Compiled {
  const names = new Map([
    ...references,
    ...specs.map(({ spec, base }): [string, string] => [spec.document.file, base]),
  ]);
  for (const [name, { url }] of Object.entries(project.upstreams ?? {})) {
    if (url === undefined) continue;
    for (const { message } of credentialPlaces(url)) {
      diagnostics.add(
        'E1030',
        manifestPlace(project, ['upstreams', name, 'url']),
        `upstream "${name}": ${message}`,
        CREDENTIALS_HINT,
      );
    }
  }
  for (const { name, config } of project.plugins) {
    for (const { pointer, message } of credentialPlaces(config)) {
      const place = manifestPlace(project, ['plugins', name, 'config'], pointer);
      diagnostics.add('E1030', place, `plugin "${name}": ${message}`, CREDENTIALS_HINT);
    }
  }
  const plugins = new Plugins(project, diagnostics);
  const nameOf = (file: string) => names.get(file) ?? file;
  const schemas = new SchemaTable(documents, diagnostics, nameOf);
  const data = new ConfigData(project, diagnostics, checks.dataCompilers);
  const binder = new Binder(plugins, project, diagnostics, { ...checks, data });
  const judge = project.flags.leaveOut ? null : new DocumentJudge(documents, diagnostics, nameOf);
  const deps = {
    documents,
    diagnostics,
    schemas,
    binder,
    instances: new Instances(diagnostics),
    judge,
    instead: insteadOf(project.flags),
    mockAuth: project.flags.mockAuth === true,
  };
  const conflicts = new Conflicts(diagnostics);
  const declaredBy = specs.map(({ spec, base }) => {
    const read = spec.type === 'asyncapi' ? asyncOperationsOf : operationsOf;
    return { base, operations: read(spec, documents, diagnostics) };
  });
  const routed = declaredBy
    .flatMap(({ base, operations }) =>
      operations.flatMap((declared) => {
        const key = operationKey(declared);
        if (omitted.has(key)) return [];
        const route = diagnostics.within(key, () => routeOf(declared, base, deps));
        return route && conflicts.take(declared) ? [{ declared, route }] : [];
      }),
    )
    .map(({ declared, route }, index) => {
      return { declared, operation: { index, ...route }, endless: isEndless(declared, route, binder) };
    });
  judge?.finish();
  const sourceOf = (file: string, name: string): SourceFile => ({
    name,
    bytes: documents.bytesOf(file) ?? new Uint8Array(),
  });
  const upstreams = policiesOf(project, binder.namedUpstreams);
  const routes = {
    operations: routed.map(({ operation }): Operation => operation),
    schemas: schemas.finish(),
    ...(upstreams === null ? {} : { upstreams }),
  };
  warnOfPreparation(routed, routes.schemas, diagnostics);
  warnOfUncheckedCredentials(routed, plugins.used, { documents, diagnostics });
  warnOfRepeats(routes.schemas, (id) => schemas.placeOf(id), diagnostics);
  const tools = toolsOf(
    specs.map(({ spec }) => spec),
    routed,
    {
      ...{ documents, diagnostics, nameOf, schemas: routes.schemas, binder },
      upstreams: mcpUpstreamsOf(project.mcp, { project, operations: routes.operations, diagnostics }),
    },
  );
  const unique = new Map([...references].map(([file, name]) => [name, sourceOf(file, name)]));
  return {
    specs: specs.map(({ spec, base }) => ({ spec, source: sourceOf(spec.document.file, base) })),
    references: [...unique.values()],
    routes,
    plugins: plugins.used,
    data: data.entries,
    loads: binder.loads,
    inherited: inheritedOf(routed, tools),
    operations: declaredBy.flatMap(({ operations }) => operations),
    ...tools,
  };
}

/** The dispatcher in the place of all others. */
function insteadOf({ mock, upstream }: CompileFlags): Pick<DeclaredUse, 'name' | 'config'> | null {
  if (mock) return { name: MOCK, config: {} };
  return upstream === undefined ? null : { name: HTTP_UPSTREAM, config: { url: upstream } };
}

function inheritedOf(routed: readonly Routed[], { tools }: CompiledTools): readonly InheritedRoute[] {
  const names = new Map(tools?.tools.map(({ operation, name }) => [operation, name]));
  return routed.flatMap(({ declared, operation: { index, method, path } }): InheritedRoute[] => {
    const dispatch = nearestDispatch(declared.layers);
    return dispatch?.isInherited ? [{ method, path, tool: names.get(index) ?? null, ...placeOf(dispatch) }] : [];
  });
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
