/** Decides an ApiSpec's status from its document and the status of the GatewayProjects that use it. Pure. */

import type { ApiSpecStatus } from '../../api/api-spec.ts';
import { eventTypeOf } from '../../api/reasons.ts';
import type { Read } from '../../api/refusal.ts';
import type { ApiSpec, GatewayProject } from '../../api/resources.ts';
import type { StatusDiagnostic } from '../../api/shared.ts';
import { conditionOf, conditions, type Verdict } from '../../runtime/conditions.ts';
import type { EventRecord } from '../../runtime/objects.ts';
import type { SourceState } from '../../sources/source.ts';
import { diagnosticText } from '../status/diagnostic-text.ts';
import { fetchedStatus, fetchedVerdict } from '../status/fetched.ts';
import type { Document } from './document.ts';
import { takesSpec } from './takes-spec.ts';

export interface ObservedApiSpec {
  readonly apiSpec: ApiSpec;
  readonly read: Read<{ readonly document: Document }>;
  /** State of the fetch of a fetched document. */
  readonly fetch?: SourceState | undefined;
  /** All projects of the namespace. */
  readonly projects: readonly GatewayProject[];
}

export interface ApiSpecDecision {
  readonly status: ApiSpecStatus;
  readonly events: readonly EventRecord[];
}

export function decideApiSpec({ apiSpec, read, fetch, projects }: ObservedApiSpec, now: Date): ApiSpecDecision {
  const takers = projects.filter((project) => !project.metadata.deletionTimestamp && takesSpec(project, apiSpec));
  const diagnostics = takers.flatMap((project) =>
    (project.status?.diagnostics ?? []).filter((diagnostic) => diagnostic.apiSpec === apiSpec.metadata.name),
  );
  const accepted: Verdict = read.ok
    ? {
        type: 'Accepted',
        status: 'True',
        reason: 'Accepted',
        message: `${read.document.file}: ${read.document.files.length} file(s)`,
      }
    : {
        type: 'Accepted',
        status: read.reason === 'Fetching' ? 'Unknown' : 'False',
        reason: read.reason,
        message: read.message,
      };
  const compiled = compiledVerdict(read, takers, apiSpec, diagnostics);
  const ready = readyVerdict(accepted, compiled, takers);
  const served = takers.find((project) => conditionOf(project, 'Programmed')?.status === 'True')?.status?.artifactHash;
  const verdicts = [accepted, ...fetchedVerdict(fetch), compiled, ready];
  const { generation } = apiSpec.metadata;
  return {
    status: {
      observedGeneration: generation ?? 0,
      conditions: conditions(verdicts, apiSpec.status?.conditions, generation, now),
      projects: takers.map(({ metadata }) => metadata.name),
      ...(served && ready.status === 'True' ? { artifactHash: served } : {}),
      ...fetchedStatus(fetch, apiSpec.status?.fetched),
      diagnostics,
      diagnosticsCount: diagnostics.length,
    },
    events: verdicts
      .filter((verdict) => isNews(apiSpec, verdict))
      .map(({ type, status, reason, message }) => ({
        type: status === 'False' ? eventTypeOf(reason) : ('Normal' as const),
        reason,
        action: type,
        note: message,
      })),
  };
}

/** Reports whether the project has compiled this very document; until then its status is about an older one. */
function isCurrent(project: GatewayProject, apiSpec: ApiSpec, sha256: string): boolean {
  const seen = project.status?.specs?.find(({ name }) => name === apiSpec.metadata.name);
  return seen?.sha256 === sha256 && project.status?.observedGeneration === project.metadata.generation;
}

function compiledVerdict(
  read: Read<{ readonly document: Document }>,
  takers: readonly GatewayProject[],
  apiSpec: ApiSpec,
  diagnostics: readonly StatusDiagnostic[],
): Verdict {
  const verdict = (status: Verdict['status'], reason: Verdict['reason'], message: string): Verdict => ({
    type: 'Compiled',
    status,
    reason,
    message,
  });
  if (!read.ok && read.reason === 'Fetching') return verdict('Unknown', 'NotCompiled', 'the document is being fetched');
  if (!read.ok) return verdict('False', 'NotCompiled', 'there is no document to compile');
  if (takers.length === 0)
    return verdict('False', 'NotCompiled', 'no GatewayProject of this namespace uses this ApiSpec');
  const waiting = takers.find((project) => !isCurrent(project, apiSpec, read.document.sha256));
  if (waiting)
    return verdict('Unknown', 'NotCompiled', `GatewayProject "${waiting.metadata.name}" has not compiled it yet`);
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (errors[0]) {
    const more = errors.length > 1 ? ` (and ${errors.length - 1} more errors)` : '';
    return verdict('False', 'CompileFailed', diagnosticText(errors[0]) + more);
  }
  const failing = takers.find((project) => conditionOf(project, 'Compiled')?.status !== 'True');
  if (failing) {
    const why =
      conditionOf(failing, 'Accepted')?.status === 'False'
        ? conditionOf(failing, 'Accepted')
        : conditionOf(failing, 'Compiled');
    // A missing object may be on its way; this object does not stall for it.
    return verdict(
      'False',
      conditionOf(failing, 'Compiled')?.reason === 'NotCompiled' ? 'NotCompiled' : 'CompileFailed',
      `GatewayProject "${failing.metadata.name}" does not compile, but not because of this document: ${why?.message ?? ''}`,
    );
  }
  return verdict('True', 'Compiled', `compiled into ${takers.map(({ metadata }) => metadata.name).join(', ')}`);
}

function readyVerdict(accepted: Verdict, compiled: Verdict, takers: readonly GatewayProject[]): Verdict {
  const failing = [accepted, compiled].find(({ status }) => status !== 'True');
  const served = takers.some((project) => (project.status?.pods?.programmed ?? 0) > 0);
  if (failing) {
    if (failing.status === 'False' && served) {
      return {
        type: 'Ready',
        status: 'False',
        reason: 'LastGoodServing',
        message: `the last good artifact is served. ${failing.message}`,
      };
    }
    return { type: 'Ready', status: failing.status, reason: failing.reason, message: failing.message };
  }
  const waiting = takers.find((project) => conditionOf(project, 'Programmed')?.status !== 'True');
  if (waiting) {
    const message = conditionOf(waiting, 'Programmed')?.message ?? 'not programmed yet';
    return {
      type: 'Ready',
      status: 'False',
      reason: 'NotReady',
      message: `GatewayProject "${waiting.metadata.name}": ${message}`,
    };
  }
  const back = takers.find(({ status }) => status?.failed && status.failed.revision === status.latestRevision);
  if (back)
    return {
      type: 'Ready',
      status: 'False',
      reason: 'RolledBack',
      message: `GatewayProject "${back.metadata.name}" went back to revision ${back.status?.revision}: ${back.status?.failed?.message ?? ''}`,
    };
  const pinned = takers.find(({ status }) => status?.revision !== status?.latestRevision);
  if (pinned)
    return {
      type: 'Ready',
      status: 'False',
      reason: 'Pinned',
      message: `GatewayProject "${pinned.metadata.name}" is pinned to revision ${pinned.status?.revision}`,
    };
  return {
    type: 'Ready',
    status: 'True',
    reason: 'Ready',
    message: `served by ${takers.map(({ metadata }) => metadata.name).join(', ')}`,
  };
}

/** Reports changes of Accepted and Compiled; the GatewayProject's Events report the rest. */
function isNews(apiSpec: ApiSpec, { type, status, reason, message }: Verdict): boolean {
  if (type === 'Ready' || status === 'Unknown') return false;
  const before = conditionOf(apiSpec, type);
  return before?.reason !== reason || (reason === 'CompileFailed' && before.message !== message);
}
