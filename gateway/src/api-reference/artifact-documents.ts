/** The documents of an artifact for a page that shows them: as the gateway serves specs, parsed. */
import type { Artifact } from '../artifact/read.ts';
import { withoutExtensions } from '../reserved/served-spec.ts';
import { isObject } from '../spec/json.ts';
import { parseText } from '../spec/parse.ts';

export interface ArtifactDocument {
  readonly name: string;
  /** It describes an API; else others refer to it. */
  readonly isApi: boolean;
  readonly document: { readonly [member: string]: unknown };
}

/** OpenAPI documents first, each group by name. Values other than objects are left out. */
export async function documentsOf(artifact: Artifact): Promise<readonly ArtifactDocument[]> {
  const apis = new Set(artifact.manifest.source_specs.filter(({ type }) => type === 'openapi').map(({ file }) => file));
  const documents: ArtifactDocument[] = [];
  for (const name of artifact.specNames.toSorted()) {
    const parsed = parseText(await artifact.readSpec(name));
    const document = parsed.ok ? withoutExtensions(parsed.value) : null;
    if (isObject(document)) documents.push({ name, isApi: apis.has(name), document });
  }
  return [...documents.filter(({ isApi }) => isApi), ...documents.filter(({ isApi }) => !isApi)];
}
