/** A plugin runtime that loads modules and binds configs, without serving requests. */

import { rootCertificates } from 'node:tls';
import type { Features } from '../../capability/features.ts';
import { openCapabilities } from '../../capability/open-capabilities.ts';
import { EgressGuard } from '../../egress/guard.ts';
import { MemoryState } from '../../state/memory-state.ts';
import { LabelledCounter } from '../../telemetry/labelled-counter.ts';
import { LabelledHistogram } from '../../telemetry/labelled-histogram.ts';
import { createPluginRuntime, functionsOf, type PluginFunctions, type PluginRuntime } from '../../wasm/index.ts';
import type { DataEntry } from './config-data.ts';

/**
 * Lets plugins open in `init` whatever they may open in a gateway, without a network or files behind it
 * (docs/decisions.md#references-stay-inside).
 */
export async function loadOnlyRuntime(
  { capabilities: all }: Pick<Features, 'capabilities'>,
  plugins: readonly PluginFunctions[],
  data: readonly DataEntry[],
): Promise<{ readonly runtime: PluginRuntime; readonly close: () => void }> {
  const never = new Promise<never>(() => {});
  const open = openCapabilities(all, {
    state: new MemoryState(),
    http: { call: () => never, open: () => never, upgrade: () => never },
    guard: new EgressGuard({ allowInternal: false, allow: [] }),
    counter: (_, { labels }) => new LabelledCounter(Object.keys(labels)),
    histogram: (_, { labels, buckets }) => new LabelledHistogram(Object.keys(labels), buckets),
    sampled: () => {},
    log: () => {},
  });
  // Some certificate: which one it will be is not known here.
  const artifact = {
    readPem: () => rootCertificates[0] ?? '',
    data: new Map(data.map(({ path, bytes }) => [path, bytes])),
    log: () => {},
  };
  const capabilities = await open.load(artifact, functionsOf(plugins));
  const runtime = createPluginRuntime({
    capabilities: capabilities.list,
    openUpstream: (url) => ({ name: url }),
    log: () => {},
    observe: () => () => {},
  });
  return {
    runtime,
    close: () => {
      runtime.close();
      capabilities.close();
    },
  };
}
