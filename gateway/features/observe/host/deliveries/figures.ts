/** Outcomes of deliveries after requests, by plugin. */
import type { LabelledValue, SampledInfo } from '../../../kit.ts';

/** Acknowledged by the target; never sent, for lack of room or because the gateway ended; sent without success. */
export type Delivered = 'sent' | 'dropped' | 'failed';

const PLUGIN = 'name of the plugin';

export const DELIVERIES: SampledInfo = {
  type: 'counter',
  help: 'Log entries and copies of requests that plugins deliver, by result',
  labels: {
    plugin: PLUGIN,
    outcome:
      '`sent`, `dropped` (the queue was full, the circuit breaker open, the body too long, or the gateway ended) or `failed` (the target did not take it)',
  },
};
export const QUEUED: SampledInfo = {
  type: 'gauge',
  help: 'Log entries and copies of requests that wait for delivery, or are being delivered',
  labels: { plugin: PLUGIN },
};
export const QUEUED_BYTES: SampledInfo = { type: 'gauge', help: 'Their bytes', labels: { plugin: PLUGIN } };

/** Figures of one plugin, over all its configs and artifacts. */
export class PluginDeliveries {
  readonly outcomes: Record<Delivered, number> = { sent: 0, dropped: 0, failed: 0 };
  queued = 0;
  queuedBytes = 0;
}

export class DeliveryFigures {
  readonly #plugins = new Map<string, PluginDeliveries>();

  of(plugin: string): PluginDeliveries {
    const figures = this.#plugins.get(plugin) ?? new PluginDeliveries();
    this.#plugins.set(plugin, figures);
    return figures;
  }

  get deliveries(): LabelledValue[] {
    return [...this.#plugins].flatMap(([plugin, { outcomes }]) =>
      Object.entries(outcomes).map(([outcome, value]) => ({ labels: { plugin, outcome }, value })),
    );
  }

  gauge(figure: 'queued' | 'queuedBytes'): LabelledValue[] {
    return [...this.#plugins].map(([plugin, figures]) => ({ labels: { plugin }, value: figures[figure] }));
  }
}
