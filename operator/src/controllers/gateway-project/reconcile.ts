/** A GatewayProject's reconcile, from top to bottom. */
import { keyText, type ObjectKey } from '../../runtime/kube-object.ts';
import type { EventSink } from '../../runtime/objects.ts';
import { act } from './act.ts';
import type { Compilations } from './compilation.ts';
import { decide, type Settings } from './decide.ts';
import { gather } from './gather.ts';
import { type ObserveWith, observe } from './observe.ts';
import type { KeptConnections } from './rollout/kept-connections.ts';
import { type WantWith, wantOfControlPlane } from './want-of-control-plane.ts';
import { type Registries, withoutRegistry, withRegistry } from './with-registry.ts';

export interface GatewayProjectWith extends ObserveWith, WantWith {
  readonly events: EventSink;
  readonly compilations: Compilations;
  readonly settings: Settings;
  /** Absent in local mode, where nothing lies in registries. */
  readonly registries?: Registries;
  /** Absent in local mode, where there are no canaries. */
  readonly keptConnections?: KeptConnections;
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
    return undefined;
  }
  const gathered = gather(seen.project, seen.sources);
  const compilation = gathered.ok ? await using.compilations.compile(keyText(key), gathered.inputs) : undefined;
  const observed = using.registries ? await withRegistry(using.registries, seen, compilation) : withoutRegistry(seen);
  const decision = decide(observed, compilation, gathered.ok ? [] : gathered.problems, using.settings, new Date());
  await act(using.objects, using.events, observed.project, decision);
  using.registries?.images.forget(observed.project, decision.forget);
  const inputs = gathered.ok ? gathered.inputs : undefined;
  wantOfControlPlane(using, observed, { compilation, inputs }, decision);
  const decided = { ...observed.project, status: decision.status };
  using.keptConnections?.at(decided, observed.pods, Date.now());
  using.link?.decided(decided, compilation);
  return decision.again;
}
