/** Policies of named upstreams, as the artifact holds them. */
import { DEFAULT_POLICY, type UpstreamPolicy } from '../../artifact/upstream-policy.ts';
import type { Project, UpstreamSettings } from './project.ts';

/** Returns the policies of these upstreams with all defaults, by name in one order; null for no upstreams. */
export function policiesOf(
  { upstreams = {} }: Project,
  names: ReadonlySet<string>,
): Readonly<Record<string, UpstreamPolicy>> | null {
  if (names.size === 0) return null;
  return Object.fromEntries(
    [...names].sort().flatMap((name) => {
      const settings = upstreams[name];
      return settings === undefined || settings.url !== undefined ? [] : [[name, policyOf(settings)]];
    }),
  );
}

function policyOf({ balance = DEFAULT_POLICY.balance, ejection = {} }: UpstreamSettings): UpstreamPolicy {
  const { failures, cooldown, panic } = { ...DEFAULT_POLICY.ejection, ...ejection };
  return { balance, ejection: { failures, cooldown, panic } };
}

/** Returns the names of headers that the choice of an address reads. */
export function headersOfBalance({ balance }: UpstreamSettings): readonly string[] {
  if (typeof balance !== 'object' || typeof balance.hash !== 'object') return [];
  return 'header' in balance.hash ? [balance.hash.header] : ['cookie'];
}
