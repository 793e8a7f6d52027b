import { describe, expect, it } from 'vitest';
import { kinds } from '../api/resources.ts';
import { objectName } from '../api/shared.ts';
import { isRecord } from '../kube/kube-object.ts';
import { namedPlaces } from './kustomize.ts';

/** What names something that Kustomize gives no other name, or that is not in the same folder. */
const OTHERS = new Set([
  'GatewayProject spec/exposure/httpRoute/parentRefs/name',
  'GatewayProject spec/exposure/httpRoute/parentRefs/namespace',
  'GatewayProject spec/plugins/namespace',
  'GatewayProject spec/sidecar/allowedNamespaces/names',
  'PluginRef spec/allowedNamespaces/names',
]);

/** Paths, as Kustomize writes them, of what is a name of an object. */
function named(schema: unknown, path: string): readonly string[] {
  if (!isRecord(schema)) return [];
  if (schema['pattern'] === objectName.pattern && schema['maxLength'] === objectName.maxLength) return [path];
  const properties = isRecord(schema['properties']) ? Object.entries(schema['properties']) : [];
  return [...properties.flatMap(([name, of]) => named(of, `${path}/${name}`)), ...named(schema['items'], path)];
}

describe('the name references of Kustomize', () => {
  it('are all fields of the kinds that name objects', () => {
    const found = kinds.flatMap(({ kind, spec }) => named(spec, 'spec').map((path) => `${kind} ${path}`));
    const inTemplates = [...namedPlaces].filter((place) => place.includes(' spec/pods/template/'));
    const free = ['GatewayProject spec/pods/priorityClassName'];
    expect([...found, ...inTemplates, ...free].toSorted()).toEqual([...namedPlaces, ...OTHERS].toSorted());
  });
});
