import { isRecord } from '../kube/kube-object.ts';
import type { Schema } from './schema.ts';

/**
 * Returns JSON pointers of fields that a schema does not define: the API server would drop them, kubectl refuses them.
 */
export function unknownFields(value: unknown, schema: Schema, at = ''): readonly string[] {
  if (schema['x-kubernetes-preserve-unknown-fields']) return [];
  const { items, properties, additionalProperties } = schema;
  if (Array.isArray(value))
    return items ? value.flatMap((item, index) => unknownFields(item, items, `${at}/${index}`)) : [];
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const inner = properties && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    const pointer = `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (inner) return unknownFields(field, inner, pointer);
    return properties ? [pointer] : [];
  });
}
