/** Access that an object grants to other namespaces; without a grant, no other namespace may use it. */
import type { Schema } from './schema.ts';
import { labelSelector, objectName } from './shared.ts';

export const allowedNamespaces = {
  type: 'object',
  description:
    'Other namespaces that are allowed to use it: by name, by label, or both. Default: none. A selector requires an operator that watches all namespaces.',
  properties: {
    names: { type: 'array', maxItems: 200, 'x-kubernetes-list-type': 'set', items: objectName },
    selector: labelSelector,
  },
} as const satisfies Schema;
