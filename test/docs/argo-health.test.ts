import { expect, it } from 'vitest';
import { argoHealth, type Health } from '../argo-health.ts';

const object = (observedGeneration: number, ...conditions: readonly (readonly [type: string, status: string])[]) => ({
  metadata: { generation: 2 },
  status: {
    observedGeneration,
    conditions: conditions.map(([type, status]) => ({ type, status, message: `${type} is ${status}` })),
  },
});

it.each<[string, object, Health]>([
  [
    'what nobody has looked at',
    { metadata: { generation: 1 } },
    { status: 'Progressing', message: 'waiting for the operator' },
  ],
  [
    'what has changed since',
    object(1, ['Ready', 'True']),
    { status: 'Progressing', message: 'waiting for the operator' },
  ],
  [
    'what is ready',
    object(2, ['Accepted', 'True'], ['Ready', 'True']),
    { status: 'Healthy', message: 'Ready is True' },
  ],
  [
    'what the operator is at',
    object(2, ['Ready', 'False'], ['Reconciling', 'True']),
    { status: 'Progressing', message: 'Ready is False' },
  ],
  [
    'what waits for its user',
    object(2, ['Ready', 'False'], ['Stalled', 'True']),
    { status: 'Degraded', message: 'Stalled is True' },
  ],
  [
    'what waited for its user',
    object(2, ['Stalled', 'False'], ['Ready', 'True']),
    { status: 'Healthy', message: 'Ready is True' },
  ],
])('Argo CD by the script of docs/gitops.md shows %s', async (_, of, expected) => {
  expect(await argoHealth(of)).toEqual(expected);
});
