import { expect, it } from 'vitest';
import { ConsumerLabels, OTHER } from './consumer-labels.ts';

it('a config that names many consumers leaves as many names to others', () => {
  const labels = new ConsumerLabels();
  const [flood, other] = [labels.ofConfig(), labels.ofConfig()];
  const named = Array.from({ length: 3_000 }, (_, i) => flood(`flood ${i}`)).filter((label) => label !== OTHER);
  expect(named).toHaveLength(1_000);
  expect(flood('flood 0')).toBe('flood 0');
  expect([other('alice'), other('bob')]).toEqual(['alice', 'bob']);
});
