/** Compares two artifacts: routes, their requirements on requests, their plugins, MCP and its tools. */
import type { ArtifactPlugin, Manifest, Operation } from '../artifact/format.ts';
import { routeKey } from '../router/route-key.ts';
import { Router } from '../router/router.ts';
import { parseTemplate, type Segment } from '../router/template.ts';
import { diffDescribed } from './bodies.ts';
import { breaking, type Change, compareText, harmless } from './change.ts';
import type { ComparableParts } from './comparable-parts.ts';
import { diffOperation } from './operations.ts';
import { SchemaComparison } from './schemas.ts';
import { diffTools } from './tools.ts';
import { diffUpstreams } from './upstreams.ts';

export type { Change } from './change.ts';

/** Returns changes by subject, breaking ones first. */
export function diffArtifacts(before: ComparableParts, after: ComparableParts): readonly Change[] {
  const changes = [
    ...diffRoutes(before, after),
    ...diffUpstreams(before.routes, after.routes),
    ...diffPlugins(before.manifest.plugins ?? [], after.manifest.plugins ?? []),
    ...diffMcp(before.manifest.mcp, after.manifest.mcp),
    ...diffTools(before, after),
  ];
  return changes.sort(
    (a, b) =>
      compareText(a.subject, b.subject) || Number(b.breaking) - Number(a.breaking) || compareText(a.message, b.message),
  );
}

function diffRoutes(before: ComparableParts, after: ComparableParts): Change[] {
  const [old, now] = [byKey(before.routes.operations), byKey(after.routes.operations)];
  const schemas = new SchemaComparison(before.routes.schemas, after.routes.schemas);
  const plugins = after.manifest.plugins ?? [];
  const all = [...(before.manifest.plugins ?? []), ...plugins];
  const authenticates = new Set(all.flatMap((plugin) => (plugin.authenticates ? [plugin.name] : [])));
  const upstreams = new Map(plugins.map(({ name, config_marks }) => [name, config_marks?.upstreams ?? []]));
  const [reachedBefore, reachedAfter] = [before, after].map(({ routes }) => new ReachedRoutes(routes.operations));
  const compare = (subject: string, from: Operation, to: Operation) =>
    diffOperation(subject, from, to, { schemas, authenticates, upstreams });
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((key): readonly Change[] => {
    const [from, to] = [old.get(key), now.get(key)];
    if (from && to) {
      const subject = subjectOf(to);
      const isComparableParts = from.responses !== undefined && to.responses !== undefined;
      const described = isComparableParts
        ? []
        : diffDescribed(subject, before.statuses?.get(key), after.statuses?.get(key));
      return [...compare(subject, from, to), ...described];
    }
    if (to) {
      const taken = reachedBefore?.of(to);
      if (!taken) return [harmless(subjectOf(to), 'route added')];
      const changes = compare(subjectOf(to), taken, to).filter((change) => change.breaking);
      return [harmless(subjectOf(to), `route added, which takes requests of ${subjectOf(taken)}`), ...changes];
    }
    if (!from) return [];
    // Another route that matches, or the GET of a HEAD.
    const served = reachedAfter?.of(from);
    if (!served) return [breaking(subjectOf(from), 'route removed')];
    const changes = compare(subjectOf(from), from, served).filter((change) => change.breaking);
    return [harmless(subjectOf(from), `route removed: ${subjectOf(served)} answers`), ...changes];
  });
}

function byKey(operations: readonly Operation[]): ReadonlyMap<string, Operation> {
  return new Map(operations.map((operation) => [routeKey(operation.method, operation.path), operation]));
}

function subjectOf({ method, path }: Operation): string {
  return `${method} ${path}`;
}

function diffPlugins(before: readonly ArtifactPlugin[], after: readonly ArtifactPlugin[]): Change[] {
  const names = new Set([...before, ...after].map(({ name }) => name));
  return [...names].flatMap((name): readonly Change[] => {
    const subject = `plugin ${name}`;
    const from = before.find((plugin) => plugin.name === name);
    const to = after.find((plugin) => plugin.name === name);
    if (!from || !to) return to ? [harmless(subject, `added, ${to.version}`)] : [harmless(subject, 'removed')];
    if (from.version !== to.version) return [harmless(subject, `version: ${from.version} → ${to.version}`)];
    return from.sha256 === to.sha256 ? [] : [harmless(subject, `another module of the same version, ${to.version}`)];
  });
}

function diffMcp(before: Manifest['mcp'], after: Manifest['mcp']): Change[] {
  if (before.enabled === after.enabled) return [];
  return [after.enabled ? harmless('mcp', 'endpoint added') : breaking('mcp', 'endpoint removed')];
}

/** A text that no literal segment is. */
const ANY = 'x0x0x0x0';

/** Finds the operation that answers requests of another one's route: `/a/me` is excluded from `/a/{x}`. */
class ReachedRoutes {
  readonly #router = new Router<Operation>();

  constructor(operations: readonly Operation[]) {
    for (const operation of operations) this.#router.add(operation.method, operation.path, operation);
  }

  /**
   * Returns the operation that answers a request of the method to a path of the template; undefined if none matches.
   */
  of({ method, path }: Pick<Operation, 'method' | 'path'>): Operation | undefined {
    const found = this.#router.find(method, `/${parseTemplate(path).segments.map(sampleOf).join('/')}`);
    return found.value ?? undefined;
  }
}

function sampleOf(segment: Segment): string {
  if (segment.kind === 'static') return segment.text;
  return segment.kind === 'pattern' ? segment.pattern.literals.join(ANY) : ANY;
}
