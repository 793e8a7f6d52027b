/** A GatewayProject's reconcile, from top to bottom. */
import { keyText, type ObjectKey } from '../../runtime/kube-object.ts';
import type { EventSink } from '../../runtime/objects.ts';
import { act } from './act.ts';
import type { Compilations } from './compilation.ts';
import { decide, type Settings } from './decide.ts';
import { gather } from './gather.ts';
import { type ObserveWith, observe } from './observe.ts';

export interface GatewayProjectWith extends ObserveWith {
  readonly events: EventSink;
  readonly compilations: Compilations;
  readonly settings: Settings;
}

/** Milliseconds after which to reconcile again, undefined when the project is gone. */
export async function reconcileGatewayProject(using: GatewayProjectWith, key: ObjectKey): Promise<number | undefined> {
  const observed = await observe(using, key);
  if (!observed) {
    using.compilations.forget(keyText(key));
    return undefined;
  }
  const gathered = gather(observed.project, observed.sources);
  const compilation = gathered.ok ? await using.compilations.compile(keyText(key), gathered.inputs) : undefined;
  const decision = decide(observed, compilation, gathered.ok ? [] : gathered.problems, using.settings, new Date());
  await act(using.objects, using.events, observed.project, decision);
  return decision.again;
}
