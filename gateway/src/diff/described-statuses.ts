/** Statuses that documents describe, by route: artifacts keep their schemas only if answers are validated. */
import type { Artifact } from '../artifact/read.ts';
import { routeKey } from '../router/route-key.ts';
import { asyncOperationsOf } from '../spec/async-operations.ts';
import { Diagnostics } from '../spec/diagnostic.ts';
import { Documents, member } from '../spec/documents.ts';
import { isObject } from '../spec/json.ts';
import { operationsOf } from '../spec/operations.ts';
import { recognise } from '../spec/recognise.ts';

export type DescribedStatuses = ReadonlyMap<string, readonly string[]>;

/** Resolves with no statuses if this version cannot read the artifact's documents. */
export async function describedStatuses(
  artifact: Pick<Artifact, 'manifest' | 'specNames' | 'readSpec'>,
): Promise<DescribedStatuses> {
  const files = await Promise.all(
    artifact.specNames.map(async (name) => [name, { name, bytes: await artifact.readSpec(name) }] as const),
  );
  const ignored = new Diagnostics({ production: false });
  const documents = new Documents(new Map(files), ignored);
  const found = new Map<string, readonly string[]>();
  for (const { file } of artifact.manifest.source_specs) {
    const document = documents.open(file);
    const spec = document && recognise(document, ignored);
    if (!spec) continue;
    const read = spec.type === 'asyncapi' ? asyncOperationsOf : operationsOf;
    for (const { method, path, at } of read(spec, documents, ignored)) {
      const responses = documents.follow(member(at, 'responses'))?.value;
      if (isObject(responses))
        found.set(
          routeKey(method, path),
          Object.keys(responses).filter((name) => /^(\d|default)/.test(name)),
        );
    }
  }
  return found;
}
