export interface DescribedMetric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
}

/** A metric whose values are read when it is scraped. */
export interface ScrapedMetric extends DescribedMetric {
  /** How values of several processes become one. */
  readonly aggregator: string;
  get(): Promise<object>;
}

export interface MetricsText {
  /** Content type. */
  readonly type: string;
  readonly text: string;
}
