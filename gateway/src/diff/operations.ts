/** Changes of one route that both artifacts have. */
import type { Operation } from '../artifact/format.ts';
import { diffRequestBody, diffResponses } from './bodies.ts';
import { type ComparedPlugins, diffChain } from './chain.ts';
import { breaking, type Change, harmless, without } from './change.ts';
import { diffParameters } from './parameters.ts';
import type { SchemaComparison } from './schemas.ts';

export function diffOperation(
  subject: string,
  before: Operation,
  after: Operation,
  { schemas, ...plugins }: ComparedPlugins & { readonly schemas: SchemaComparison },
): readonly Change[] {
  return [
    ...diffNames(subject, before, after),
    ...diffParameters(subject, before, after, schemas),
    ...diffRequestBody(subject, before, after, schemas),
    ...diffResponses(subject, before, after, schemas),
    ...diffHeaders(subject, before, after),
    ...diffChain(subject, before, after, plugins),
  ];
}

function diffNames(subject: string, before: Operation, after: Operation): readonly Change[] {
  const texts: readonly (readonly [string, string | undefined, string | undefined])[] = [
    ['path', before.path, after.path],
    ['operationId', before.operation_id, after.operation_id],
    ['spec', before.spec, after.spec],
    ['deprecated since', dayOf(before.deprecated_at), dayOf(after.deprecated_at)],
    ['sunset', before.sunset, after.sunset],
  ];
  const changed = texts.filter(([, from, to]) => from !== to);
  return [
    ...changed.map(([what, from, to]) => harmless(subject, `${what}: ${from ?? 'none'} → ${to ?? 'none'}`)),
    ...(after.deprecated && !before.deprecated ? [harmless(subject, 'deprecated now')] : []),
    ...(before.deprecated && !after.deprecated ? [harmless(subject, 'not deprecated any more')] : []),
  ];
}

function dayOf(seconds: number | undefined): string | undefined {
  return seconds === undefined ? undefined : new Date(seconds * 1000).toUTCString();
}

/** Headers that are not admitted are dropped: plugins and upstream do not see them. */
function diffHeaders(subject: string, before: Operation, after: Operation): readonly Change[] {
  const [old, now] = [before.admitted_headers, after.admitted_headers];
  return [
    ...without(old, now).map((name) => breaking(subject, `header "${name}" is dropped now`)),
    ...without(now, old).map((name) => harmless(subject, `header "${name}" is admitted now`)),
  ];
}
