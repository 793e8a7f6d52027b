/** What an object lets others do with it: nobody of another namespace may use it without such a grant. */
import type { Schema } from './schema.ts';
import { labelSelector, objectName } from './shared.ts';

export const allowedNamespaces = {
  type: 'object',
  description:
    'Namespaces, besides its own, that may use it: those named and those selected. Default: none. A selector needs an operator that watches all namespaces.',
  properties: {
    names: { type: 'array', maxItems: 200, 'x-kubernetes-list-type': 'set', items: objectName },
    selector: labelSelector,
  },
} as const satisfies Schema;
