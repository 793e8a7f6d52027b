import type { LabelSelector } from '../api/shared.ts';

type Labels = { readonly [name: string]: string };

/** Reports whether the labels satisfy the selector; an empty selector selects everything. */
export function selects(selector: LabelSelector, labels: Labels = {}): boolean {
  for (const [name, value] of Object.entries(selector.matchLabels ?? {})) if (labels[name] !== value) return false;
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    const value = labels[key];
    const among = value !== undefined && values.includes(value);
    if (operator === 'In' && !among) return false;
    if (operator === 'NotIn' && among) return false;
    if (operator === 'Exists' && value === undefined) return false;
    if (operator === 'DoesNotExist' && value !== undefined) return false;
  }
  return true;
}

/** Returns the label selector of a list or watch as a query, `a=b,c`; undefined without one. */
export function selectorText({
  labels = {},
  hasLabel,
  selector,
}: {
  readonly labels?: Labels;
  readonly hasLabel?: string;
  readonly selector?: string;
}): string | undefined {
  const terms = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  if (hasLabel !== undefined) terms.push(hasLabel);
  if (selector !== undefined) terms.push(selector);
  return terms.length > 0 ? terms.join(',') : undefined;
}
