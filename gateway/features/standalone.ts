/** The capabilities without a gateway: for tests and benchmarks, with open egress. */
import { readFileSync } from 'node:fs';
import type { LoadedCapability, ProcessServices } from '../src/capability/capability.ts';
import { openAll } from '../src/capability/open-capabilities.ts';
import { EgressGuard } from '../src/egress/guard.ts';
import { type HttpCaller, HttpClient } from '../src/egress/http-client.ts';
import { BufferBudget } from '../src/memory/buffer-budget.ts';
import { MemoryState } from '../src/state/memory-state.ts';
import type { State } from '../src/state/state.ts';
import { LabelledCounter } from '../src/telemetry/labelled-counter.ts';
import { LabelledHistogram } from '../src/telemetry/labelled-histogram.ts';
import { allCapabilities } from './features.ts';

export interface StandaloneOptions {
  /** Default: in this process. */
  readonly state?: State;
  /** Default: nothing is logged. */
  readonly log?: ProcessServices['log'];
  /** Makes HTTP calls. Default: a client of its own. */
  readonly http?: HttpCaller;
  /** Entries of an artifact that configs name, by path. Default: none. */
  readonly data?: ReadonlyMap<string, Uint8Array>;
  /** Refuses every connection with this message. Default: all are allowed. */
  readonly closed?: string;
}

export interface Standalone {
  readonly capabilities: readonly LoadedCapability[];
  close(): void;
}

export async function standaloneCapabilities({
  state = new MemoryState(),
  log = () => {},
  http,
  data = new Map(),
  closed,
}: StandaloneOptions = {}): Promise<Standalone> {
  const guard = new EgressGuard({ allowInternal: true, allow: [], ...(closed === undefined ? {} : { closed }) });
  const client = new HttpClient({
    guard,
    allowPlaintext: true,
    maxResponseBytes: 16 << 20,
    budget: new BufferBudget(256 << 20),
  });
  const counter: ProcessServices['counter'] = (_, { labels }) => new LabelledCounter(Object.keys(labels));
  const histogram: ProcessServices['histogram'] = (_, { labels, buckets }) =>
    new LabelledHistogram(Object.keys(labels), buckets);
  const loaded = openAll(
    [...(await allCapabilities()).values()],
    { state, http: http ?? client, guard, counter, histogram, sampled: () => {}, log },
    { readPem: (path) => readFileSync(path, 'utf8'), data, log: (level, _plugin, message) => log(level, message) },
  );
  return {
    capabilities: loaded.list,
    close: () => {
      loaded.close();
      void client.close();
    },
  };
}
