import { describe, expect, it } from 'vitest';
import { removalsFor } from './exclusions.ts';
import { RuleIndex } from './rule-index.ts';
import { readWafSettings } from './settings.ts';

const rule = (id: number, ...tags: string[]) => ({ id, severity: null, tags });
const index = new RuleIndex({
  rules: [rule(1), rule(2, 'sqli'), rule(3, 'sqli'), rule(9), rule(4, 'sqli')] as never,
});
const OPERATION = { operationId: 'listBooks', method: 'GET', path: '/books' };

function removals(...exclusions: object[]) {
  const { exclusions: read } = readWafSettings({
    rule_set: 'waf/0',
    paranoia_level: 1,
    anomaly_thresholds: { inbound: 5, outbound: 4 },
    sampling: 100,
    request_body: { max_bytes: 1, max_arguments: 1, max_depth: 1 },
    response_body: { max_bytes: 1 },
    exclusions: exclusions as never,
  });
  return removalsFor(read, OPERATION, index);
}

describe('exclusions', () => {
  it('name rules by id, by range and by tag', () => {
    expect(removals({ rules: [1, '3-9'] }).rules).toEqual([
      [0, 0],
      [2, 4],
    ]);
    expect(removals({ tags: ['sqli'] }).rules).toEqual([
      [1, 2],
      [4, 4],
    ]);
  });

  it('apply to the operations that they name', () => {
    expect(removals({ rules: [1], operations: ['listBooks'] }).rules).toEqual([[0, 0]]);
    expect(removals({ rules: [1], operations: ['GET /books'] }).rules).toEqual([[0, 0]]);
    expect(removals({ rules: [1], operations: ['POST /books', 'other'] }).rules).toEqual([]);
  });

  it('leave parameters out of rules, which stay', () => {
    const { rules, targets } = removals({ rules: [2], parameters: ['query:q', 'header:x-note'] });
    expect(rules).toEqual([]);
    expect(targets).toEqual([
      { rules: [[1, 1]], variable: 'ARGS_GET', kind: 'name', name: 'q' },
      { rules: [[1, 1]], variable: 'REQUEST_HEADERS', kind: 'name', name: 'x-note' },
    ]);
  });

  it('leave parameters out of all rules, if they name no rules', () => {
    expect(removals({ parameters: ['cookie:s'] }).targets[0]?.rules).toEqual([[0, 4]]);
  });

  it('name members of bodies by their path, with * for one name', () => {
    const targets = removals({ parameters: ['body:items.*.note'] }).targets.map(({ kind, name }) => [kind, name]);
    expect(targets).toEqual([
      ['path', 'json.items.*.note'],
      ['path', 'items.*.note'],
    ]);
  });
});
