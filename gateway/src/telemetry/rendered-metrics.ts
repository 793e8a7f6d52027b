/**
 * Metrics in the text format of scrapers, and as JSON for other processes, by prom-client. Imported with the first
 * scrape, so that a gateway starts without it.
 */
import { AggregatorRegistry, Registry } from 'prom-client';
import type { MetricsText, ScrapedMetric } from './scraped-metric.ts';

export function renderMetrics(metrics: readonly ScrapedMetric[]): Promise<MetricsText> {
  return textOf(registryOf(metrics));
}

/** Returns one object for each metric. */
export function metricsAsJson(metrics: readonly ScrapedMetric[]): Promise<object[]> {
  return registryOf(metrics).getMetricsAsJSON();
}

/** Adds up what `metricsAsJson` returned in several processes. */
export function summedMetrics(snapshots: readonly (readonly object[])[]): Registry {
  return AggregatorRegistry.aggregate([...snapshots]);
}

export async function textOf(registry: Registry): Promise<MetricsText> {
  return { type: registry.contentType, text: await registry.metrics() };
}

function registryOf(metrics: readonly ScrapedMetric[]): Registry {
  const registry = new Registry();
  for (const each of metrics) registry.registerMetric(each as never);
  return registry;
}
