/** Counts of inspections. */
import type { CounterInfo, LabelledCounter, ProcessServices } from '../../kit.ts';

const OUTCOMES = ['passed', 'matched', 'denied', 'would-deny', 'limit'] as const;
export type WafOutcome = (typeof OUTCOMES)[number];

export const WAF_METRICS = {
  gw_waf_requests_total: {
    help: 'Requests that waf has inspected',
    labels: {
      method: 'method of the operation',
      path: 'path template of the operation',
      outcome:
        '`passed`; `matched`, where a rule matched that is logged; `denied`; `would-deny`, in mode `detect`; or `limit`, where the inspection did not come to its end',
    },
  },
  gw_waf_rule_matches_total: {
    help: 'Matches of rules of waf that are logged, without those that compare scores',
    labels: { family: 'tag of the rule that begins with `attack-`, without that; `other` without one' },
  },
} as const satisfies Readonly<Record<string, CounterInfo>>;

export interface WafCounters {
  readonly requests: LabelledCounter;
  readonly matches: LabelledCounter;
}

export function openCounters({ counter }: Pick<ProcessServices, 'counter'>): WafCounters {
  return {
    requests: counter('gw_waf_requests_total', WAF_METRICS.gw_waf_requests_total),
    matches: counter('gw_waf_rule_matches_total', WAF_METRICS.gw_waf_rule_matches_total),
  };
}

const ATTACK = 'attack-';

/** Returns the family of a rule by its tags. */
export function familyOf(tags: readonly string[]): string {
  return tags.find((tag) => tag.startsWith(ATTACK))?.slice(ATTACK.length) ?? 'other';
}

/** Reports whether a rule, by its tags, compares the scores of others, and finds nothing itself. */
export function isEvaluation(tags: readonly string[]): boolean {
  return tags.includes('anomaly-evaluation') || tags.includes('reporting');
}
