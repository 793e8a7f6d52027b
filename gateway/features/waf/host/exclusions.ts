/** Exclusions of a config, as the engine applies them to the requests of one operation. */
import type { RuleRanges } from '../seclang/program.ts';
import type { VariableName } from '../seclang/vocabulary.ts';
import type { RuleIndex } from './rule-index.ts';
import type { ExcludedParameter, ExclusionSettings } from './settings.ts';

export interface RemovedTarget {
  readonly rules: RuleRanges;
  /** Of `ARGS_GET` and `ARGS_POST` the values that `ARGS` has of them are left out, too. */
  readonly variable: VariableName;
  /** A path has `*` for one name between its dots. */
  readonly kind: 'name' | 'path';
  readonly name: string;
}

type Target = Omit<RemovedTarget, 'rules'>;

export interface Removals {
  readonly rules: RuleRanges;
  readonly targets: readonly RemovedTarget[];
}

/** Names of an operation in exclusions. */
export interface OperationNames {
  readonly operationId: string | undefined;
  /** Upper case. */
  readonly method: string;
  /** The template. */
  readonly path: string;
}

export function removalsFor(
  exclusions: readonly ExclusionSettings[],
  { operationId, method, path }: OperationNames,
  index: RuleIndex,
): Removals {
  const applying = exclusions.filter(({ operations }) => {
    if (operations === null || operations.has(`${method} ${path}`)) return true;
    return operationId !== undefined && operations.has(operationId);
  });
  return {
    rules: applying.flatMap((each) => (each.parameters === null ? index.find(each.ids, each.tags) : [])),
    targets: applying.flatMap(({ ids, tags, parameters }) => {
      if (parameters === null) return [];
      const rules = ids.length + tags.length === 0 ? index.all : index.find(ids, tags);
      return parameters.flatMap(targetsOf).map((target) => ({ rules, ...target }));
    }),
  };
}

function targetsOf({ place, name }: ExcludedParameter): readonly Target[] {
  switch (place) {
    case 'query':
      return [named('ARGS_GET', name)];
    case 'header':
      return [named('REQUEST_HEADERS', name)];
    case 'cookie':
      return [named('REQUEST_COOKIES', name)];
    case 'body': {
      const kind = name.split('.').includes('*') ? 'path' : 'name';
      // Members of JSON have their path behind `json.`, fields of forms their name.
      return [`json.${name}`, name].map((each) => ({ variable: 'ARGS_POST', kind, name: bytesOf(each) }));
    }
  }
}

function named(variable: VariableName, name: string): Target {
  return { variable, kind: 'name', name: bytesOf(name) };
}

/** Rules see bytes: one character for each byte of UTF-8. */
export function bytesOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
