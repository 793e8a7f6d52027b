/** A GatewayProject's reconcile, from top to bottom. */
import { configMaps, type GatewayProject } from '../../api/resources.ts';
import { type KubeObject, keyOf, keyText, type ObjectKey } from '../../runtime/kube-object.ts';
import type { EventSink } from '../../runtime/objects.ts';
import type { ExchangedParts } from '../../storage/exchanged-parts.ts';
import { act } from './act.ts';
import type { Compilations } from './compilation.ts';
import { decide, type Settings } from './decide.ts';
import { gather } from './gather.ts';
import { type ObserveWith, observe } from './observe.ts';
import type { KeptConnections } from './rollout/kept-connections.ts';
import type { Turn, UpdatePace } from './update-pace.ts';
import { type WantWith, wantOfControlPlane } from './want-of-control-plane.ts';
import { type Registries, withoutRegistry, withRegistry } from './with-registry.ts';

export interface GatewayProjectWith extends ObserveWith, WantWith {
  readonly events: EventSink;
  readonly compilations: Compilations;
  readonly settings: Settings;
  /** Absent in local mode, where nothing lies in registries. */
  readonly registries?: Registries;
  /** Absent in local mode, where nobody else writes. */
  readonly exchangedParts?: ExchangedParts;
  /** Absent in local mode, where there are no canaries. */
  readonly keptConnections?: KeptConnections;
  /** Absent in local mode, where pods are replaced at once. */
  readonly updatePace?: UpdatePace;
}

/** Milliseconds after which to reconcile again, undefined when the project is gone. */
export async function reconcileGatewayProject(using: GatewayProjectWith, key: ObjectKey): Promise<number | undefined> {
  const seen = await observe(using, key);
  if (!seen) {
    using.compilations.forget(keyText(key));
    using.foreignUses.set(key, []);
    using.link?.gone(key);
    using.registries?.images.forgetProject(keyText(key));
    using.controlPlanes?.forget(key);
    await using.updatePace?.reconciled(key, false);
    return undefined;
  }
  if (await removeExchanged(using, seen.project, seen.parts)) return 0;
  const gathered = gather(seen.project, seen.sources);
  const compilation = gathered.ok ? await using.compilations.compile(keyText(key), gathered.inputs) : undefined;
  const observed = using.registries ? await withRegistry(using.registries, seen, compilation) : withoutRegistry(seen);
  const problems = gathered.ok ? [] : gathered.problems;
  const decideWith = (turn: Turn | undefined) =>
    decide({ ...observed, ...(turn ? { turn } : {}) }, compilation, problems, using.settings, new Date());
  const { updatePace } = using;
  const first = decideWith(updatePace ? undefined : { taken: true });
  const turn = first.outdated ? await updatePace?.turn(key) : undefined;
  const decision = turn ? decideWith(turn) : first;
  try {
    await act(using.objects, using.events, observed.project, decision);
  } finally {
    await updatePace?.reconciled(key, turn?.taken === false);
  }
  using.registries?.images.forget(observed.project, decision.forget);
  const inputs = gathered.ok ? gathered.inputs : undefined;
  wantOfControlPlane(using, observed, { compilation, inputs }, decision);
  const decided = { ...observed.project, status: decision.status };
  using.keptConnections?.at(decided, observed.pods, Date.now());
  using.link?.decided(decided, compilation);
  return decision.again;
}

/** What is gone is made again by the next look, where it compiles; else the status says that it is lost. */
async function removeExchanged(
  { exchangedParts, objects, events }: GatewayProjectWith,
  project: GatewayProject,
  parts: readonly KubeObject[],
): Promise<boolean> {
  const exchanged = (await exchangedParts?.of(project, parts)) ?? [];
  for (const part of exchanged) {
    await objects.remove(configMaps, keyOf(part), part.metadata.uid);
    const note = `ConfigMap "${part.metadata.name}" held another artifact than it says, which no pod would have started with: it is made again`;
    events.record(project, { type: 'Warning', reason: 'ArtifactExchanged', action: 'Store', note });
  }
  return exchanged.length > 0;
}
