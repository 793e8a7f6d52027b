/** The named upstreams of a process, whose ejections are counted and logged. */
import type { Bindings } from '../egress/named/bindings.ts';
import { UpstreamBindings } from '../egress/named/upstream-bindings.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';

export function boundUpstreams(
  { bindings, log: { logger } }: { readonly bindings: Bindings; readonly log: Log },
  metrics: Metrics,
): UpstreamBindings {
  return new UpstreamBindings(bindings, {
    ejected(upstream, address) {
      metrics.ejected(upstream);
      logger.warn({ upstream, address }, 'an address of an upstream failed repeatedly: it gets no requests');
    },
    restored(upstream, address) {
      logger.info({ upstream, address }, 'an address of an upstream answers: it gets requests again');
    },
  });
}
