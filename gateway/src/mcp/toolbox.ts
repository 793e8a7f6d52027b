/** The tools of one artifact as they are served, those of its upstreams too: listed by pages, found by name, their answers checked. */
import type { Manifest, Operation } from '../artifact/format.ts';
import type { Artifact } from '../artifact/read.ts';
import type { Tool } from '../artifact/tools.ts';
import { type StepBudget, StepsExceeded, type TimeLimit } from '../patterns/step-budget.ts';
import { isOfObjects, outputOf, schemasOfTools, toolDefinition } from '../tools/definition.ts';
import type { SchemaLookup } from '../tools/standalone-schema.ts';
import { Schemas, type Validator } from '../validation/schemas/schemas.ts';
import { ProtectedResource } from './authorization.ts';
import type { AccessChecks } from './caller-access.ts';
import { pageOf } from './pages.ts';
import type { Era } from './protocol/era.ts';
import type { ServedTool } from './result.ts';
import { DEFINITIONS, type SearchableTools, searchableTools } from './search-mode.ts';
import type { UpstreamServer } from './upstreams/upstream-server.ts';
import type { UpstreamSet } from './upstreams/upstream-set.ts';

const SEARCH_TOOLS = DEFINITIONS.map((each) => JSON.stringify(each));

interface ToolboxDeps {
  readonly steps: StepBudget;
  readonly upstreams: UpstreamSet | null;
  /** Default: up to 1 MB of entries. */
  readonly pageSize?: number;
  /** Default: all clients see the same. */
  readonly access?: AccessChecks | null;
}

export interface ToolPage {
  /** JSON of each. */
  readonly tools: readonly string[];
  readonly nextCursor?: string;
}

/** Reports whether the caller may call an operation, by its index; null: all clients see the same. */
export type Permits = ((operation: number) => boolean) | null;

/** Reports whether a client sees an upstream's entries: the operation that decides about calls would admit it. */
export function tellsOf({ settings: { authorize } }: UpstreamServer, permits: Permits): boolean {
  return authorize === undefined || (permits?.(authorize) ?? true);
}

/** Schema of answers. */
interface Output {
  readonly validate: Validator;
  readonly ofObjects: boolean;
}

interface Entry extends ServedTool {
  /** JSON of its definition, once a client has listed it. */
  readonly listed: Map<Era, string>;
  /** Null: its answers are not described. */
  output: Output | null | undefined;
}

/** Limit of validating an answer; a slower one counts as contradicting its description. */
const ANSWER_LIMIT: TimeLimit = { ms: 100, piece: 100_000_000 };

export class Toolbox {
  readonly server: { readonly name: string; readonly version: string };
  readonly instructions: string | undefined;
  /** Issuers of tokens; empty if unknown. */
  readonly issuers: readonly string[];
  readonly origins: ReadonlySet<string>;
  /** Null if no issuer of tokens is known. */
  readonly resource: ProtectedResource | null;
  /** Null if clients see all tools. */
  readonly search: SearchableTools | null;
  /** Null without upstreams. */
  readonly upstreams: UpstreamSet | null;
  /** Entries on a page of a list; 0: up to 1 MB of them. */
  readonly pageSize: number;
  /** Null if all clients see the same. */
  readonly access: AccessChecks | null;
  /** By name. */
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #operations: readonly Operation[];
  #names: readonly string[] = [];
  /** The tools that `#names` were made from. */
  #namesOf: UpstreamSet['tools'] | null | undefined;
  readonly #lookup: SchemaLookup;
  readonly #steps: StepBudget;

  /** Returns null if the artifact has no tools. */
  static of(artifact: Artifact, deps: ToolboxDeps): Toolbox | null {
    const { tools, manifest } = artifact;
    return tools === null ? null : new Toolbox(artifact, tools, manifest.mcp, deps);
  }

  private constructor(
    artifact: Artifact,
    { tools, instructions, origins, authorization, search = false }: NonNullable<Artifact['tools']>,
    mcp: Manifest['mcp'],
    { steps, upstreams, pageSize = 0, access = null }: ToolboxDeps,
  ) {
    this.upstreams = upstreams;
    this.pageSize = pageSize;
    this.access = access;
    this.#operations = artifact.routes.operations;
    this.server = { name: mcp.server_name ?? 'gw', version: mcp.server_version ?? '0' };
    this.instructions = instructions;
    this.origins = new Set(origins);
    this.issuers = authorization?.servers ?? [];
    this.resource = authorization === undefined ? null : new ProtectedResource(authorization, this.server.name);
    this.#lookup = schemasOfTools(artifact);
    this.#steps = steps;
    this.#entries = new Map(
      tools.map((tool): [string, Entry] => [
        tool.name,
        {
          tool,
          operation: artifact.routes.operations[tool.operation] as Operation,
          listed: new Map(),
          output: undefined,
        },
      ]),
    );
    this.search = search ? searchableTools([...this.#entries.values()], this.#lookup, upstreams) : null;
  }

  /** Returns an operation by its index in the artifact. */
  operation(index: number): Operation {
    return this.#operations[index] as Operation;
  }

  find(name: string): ServedTool | undefined {
    return this.#entries.get(name);
  }

  /** Returns null if the cursor is malformed. It names the last tool of a page, and holds for artifacts to come. */
  page(cursor: string | undefined, era: Era, permits: Permits): ToolPage | null {
    const limits = { size: this.pageSize, text: (name: string) => this.#listedBy(name, era) };
    const names = this.search === null ? this.#allNames() : [];
    const told = permits === null ? names : names.filter((name) => this.tells(name, permits));
    const page = pageOf(told, cursor, limits);
    if (page === null) return null;
    if (this.search !== null) return { tools: cursor === undefined ? SEARCH_TOOLS : [] };
    const { keys, ...next } = page;
    return { tools: keys.map((name) => this.#listedBy(name, era)), ...next };
  }

  /** Reports whether a client sees the tool. */
  tells(name: string, permits: Permits): boolean {
    const own = this.#entries.get(name);
    if (own) return permits?.(own.operation.index) ?? true;
    const upstream = this.upstreams?.tools.get(name);
    return upstream === undefined || tellsOf(upstream.server, permits);
  }

  /** In order. */
  #allNames(): readonly string[] {
    const tools = this.upstreams?.tools ?? null;
    if (this.#namesOf !== tools) this.#names = [...this.#entries.keys(), ...(tools?.keys() ?? [])].sort();
    this.#namesOf = tools;
    return this.#names;
  }

  #listedBy(name: string, era: Era): string {
    const entry = this.#entries.get(name);
    return entry ? this.#listed(entry, era) : (this.upstreams?.tools.get(name)?.tool.listed[era] ?? '{}');
  }

  #listed(entry: Entry, era: Era): string {
    const known = entry.listed.get(era);
    if (known !== undefined) return known;
    const { outputSchema, ...definition } = toolDefinition(entry.tool, this.#lookup);
    const shown = outputSchema !== undefined && (era === 'stateless' || isOfObjects(outputSchema));
    const text = JSON.stringify(shown ? { ...definition, outputSchema } : definition);
    entry.listed.set(era, text);
    return text;
  }

  /** Reports whether clients of this era have a schema of its answers, and one that the value does not fit. */
  contradicts({ tool }: ServedTool, value: unknown, era: Era): boolean {
    const entry = this.#entries.get(tool.name) as Entry;
    if (entry.output === undefined) entry.output = this.#outputOf(tool);
    const { output } = entry;
    if (output === null || (era === 'sessions' && !output.ofObjects)) return false;
    try {
      this.#steps.begin(0, 0, ANSWER_LIMIT);
      return output.validate(value) !== null;
    } catch (error) {
      if (error instanceof StepsExceeded || error instanceof RangeError) return true;
      throw error;
    }
  }

  #outputOf(tool: Tool): Output | null {
    const schema = outputOf(tool, this.#lookup);
    if (schema === null) return null;
    const schemas = new Schemas({ [tool.name]: schema }, false, this.#steps);
    return { validate: schemas.validator({ $ref: `gw:${tool.name}` }), ofObjects: isOfObjects(schema) };
  }
}
