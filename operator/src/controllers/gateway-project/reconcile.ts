/** The reconcile of a GatewayProject, from top to bottom. */
import { keyText, type ObjectKey } from '../../kube/kube-object.ts';
import type { EventSink } from '../../runtime/objects.ts';
import type { TamperedParts } from '../../storage/tampered-parts.ts';
import { act, push, removeTampered, type TellWith, tell } from './act.ts';
import { decide, type Plan, planRollout, type Settings } from './decide.ts';
import { type ObserveWith, observe } from './observe.ts';
import { type FingerprintsWith, observeFingerprints } from './rollout/fingerprints.ts';
import type { Turn, UpdatePace } from './rollout/update-pace.ts';
import type { Compilations } from './sources/compilation.ts';
import { gather } from './sources/decide.ts';
import { observeRegistry, withoutRegistry } from './storage/observe.ts';

export interface GatewayProjectWith extends ObserveWith, TellWith, FingerprintsWith {
  readonly events: EventSink;
  readonly compilations: Compilations;
  readonly settings: Settings;
  /** Absent in local mode, which has no other writers. */
  readonly tamperedParts?: TamperedParts;
  /** Absent in local mode, which replaces pods at once. */
  readonly updatePace?: UpdatePace;
}

/** Returns the milliseconds after which to reconcile again, undefined when the project was deleted. */
export async function reconcileGatewayProject(deps: GatewayProjectWith, key: ObjectKey): Promise<number | undefined> {
  const seen = await observe(deps, key);
  if (!seen) {
    deps.compilations.forget(keyText(key));
    deps.foreignUses.set(key, []);
    deps.link?.gone(key);
    deps.registries?.images.forgetProject(keyText(key));
    deps.controlPlanes?.forget(key);
    await deps.updatePace?.reconciled(key, false);
    return undefined;
  }
  const tampered = (await deps.tamperedParts?.of(seen.project, seen.parts)) ?? [];
  if (tampered.length > 0) {
    await removeTampered(deps.objects, deps.events, seen.project, tampered);
    return 0;
  }
  const gathered = gather(seen.project, seen.sources);
  const compilation = gathered.ok ? await deps.compilations.compile(keyText(key), gathered.inputs) : undefined;
  const stored = deps.registries
    ? await push(deps.registries.images, await observeRegistry(deps.registries, seen), compilation)
    : withoutRegistry(seen);
  const fingerprints = await observeFingerprints(deps, seen.project, seen.deployments, compilation);
  const observed = { ...stored, ...(fingerprints ? { fingerprints } : {}) };
  const problems = gathered.ok ? [] : gathered.problems;
  const { updatePace, settings } = deps;
  const now = new Date();
  const plan = planRollout(observed, compilation, settings, now);
  const turn = updatePace ? await turnOf(updatePace, key, plan) : ({ taken: true } as const);
  const decision = decide({ ...observed, ...(turn ? { turn } : {}) }, plan, compilation, problems, now);
  try {
    await act(deps.objects, deps.events, observed.project, decision);
  } finally {
    await updatePace?.reconciled(key, turn?.taken === false);
  }
  const inputs = gathered.ok ? gathered.inputs : undefined;
  tell(deps, observed, { compilation, inputs }, decision);
  return decision.requeueAfterMs;
}

/** Returns undefined if the pods are as this operator makes them. */
async function turnOf(updatePace: UpdatePace, key: ObjectKey, { rollout }: Plan): Promise<Turn | undefined> {
  return rollout.outdated ? updatePace.turn(key) : undefined;
}
