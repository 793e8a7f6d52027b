import { describe, expect, it } from 'vitest';
import { explained } from './explained.ts';
import { RuleIndex } from './rule-index.ts';
import type { Fate, Verdict } from './verdict.ts';

const rules = new RuleIndex({
  rules: [911100, 920100, 920120, 942100, 942110, 949110].map((id) => ({ id, severity: null, tags: [] })) as never,
});

function told(fates: readonly Fate[], proved: readonly string[] = []): string {
  const matches = [{ rule: 3 }, { rule: 5 }];
  return explained({ inbound: 5, outbound: 0, matches, fates, proved } as unknown as Verdict, rules);
}

describe('an explanation', () => {
  it('names rules by what became of them, neighbours together', () => {
    expect(told(['matched', 'nothing to find', 'nothing to find', 'matched', 'jumped over', 'matched'])).toBe(
      'scores 5 inbound, 0 outbound; matched: 942100, 949110; ran: 911100; nothing to find: 920100-920120; jumped over: 942110',
    );
  });

  it('names values that the document proves once', () => {
    const text = told(
      ['not reached', 'excluded by the config'],
      ['ARGS_GET:page', 'ARGS_GET:page', 'ARGS_POST:json.id'],
    );
    expect(text).toBe(
      'scores 5 inbound, 0 outbound; proved by the document: ARGS_GET:page, ARGS_POST:json.id; excluded by the config: 920100',
    );
  });
});
