/** Decides a PluginRef's status from its package. Pure. */

import type { PluginRefStatus } from '../../api/plugin-ref.ts';
import { eventTypeOf } from '../../api/reasons.ts';
import type { Read } from '../../api/refusal.ts';
import type { PluginRef } from '../../api/resources.ts';
import { conditionOf, conditions, type Verdict } from '../../runtime/conditions.ts';
import type { EventRecord } from '../../runtime/objects.ts';
import type { SourceState } from '../../sources/source.ts';
import { fetchedStatus, fetchedVerdict } from '../status/fetched.ts';
import type { LoadedPlugin } from './plugin-package.ts';

export interface ObservedPluginRef {
  readonly ref: PluginRef;
  readonly read: Read<LoadedPlugin>;
  /** State of the fetch of a fetched plugin. */
  readonly fetch?: SourceState | undefined;
  /** Whether the operator may read labels of namespaces, which grants by selector need. */
  readonly readsLabels: boolean;
}

export interface PluginRefDecision {
  readonly status: PluginRefStatus;
  readonly events: readonly EventRecord[];
}

export function decidePluginRef({ ref, read, fetch, readsLabels }: ObservedPluginRef, now: Date): PluginRefDecision {
  const accepted = acceptedVerdict(read);
  const ready: Verdict = { ...accepted, type: 'Ready', reason: read.ok ? 'Ready' : accepted.reason };
  const verdicts = [accepted, ...fetchedVerdict(fetch), ...grantedVerdict(ref, readsLabels), ready];
  const { generation } = ref.metadata;
  const manifest = read.ok ? read.plugin.manifest : undefined;
  return {
    status: {
      observedGeneration: generation ?? 0,
      conditions: conditions(verdicts, ref.status?.conditions, generation, now),
      plugin: ref.spec.plugin ?? ref.metadata.name,
      ...(manifest
        ? { version: manifest.version, type: manifest.type, hostFunctions: [...manifest.host_functions] }
        : {}),
      ...fetchedStatus(fetch, ref.status?.fetched),
      ...(read.ok ? { sha256: read.sha256 } : {}),
      ...(read.ok && read.verifiedBy ? { verifiedBy: read.verifiedBy } : {}),
    },
    events: verdicts
      .filter(({ type, status, reason }) => type !== 'Ready' && status !== 'Unknown' && isNews(ref, type, reason))
      .map(({ type, status, reason, message }) => ({
        type: status === 'True' ? ('Normal' as const) : eventTypeOf(reason),
        reason,
        action: type,
        note: message,
      })),
  };
}

function acceptedVerdict(read: Read<LoadedPlugin>): Verdict {
  const type = 'Accepted';
  if (!read.ok) {
    const status = read.reason === 'Fetching' ? 'Unknown' : 'False';
    return { type, status, reason: read.reason, message: read.message };
  }
  const signed = read.verifiedBy ? `, signed by ${read.verifiedBy}` : '';
  const message = `${read.plugin.name} ${read.plugin.manifest?.version ?? '(without a manifest)'}${signed}`;
  return { type, status: 'True', reason: 'Accepted', message };
}

/** Returns a verdict only if a selector cannot be used; the spec shows who may use the plugin. */
function grantedVerdict({ spec }: PluginRef, readsLabels: boolean): readonly Verdict[] {
  if (!spec.allowedNamespaces?.selector || readsLabels) return [];
  const message = 'spec.allowedNamespaces.selector allows nobody: name the namespaces in spec.allowedNamespaces.names';
  return [{ type: 'Granted', status: 'False', reason: 'SelectorNotSupported', message }];
}

function isNews(ref: PluginRef, type: string, reason: string): boolean {
  return conditionOf(ref, type)?.reason !== reason;
}
