/** Reads the text format that scrapers get. */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export class Scrape {
  readonly samples: readonly Sample[];
  /** By metric: its type. */
  readonly types: ReadonlyMap<string, string>;

  constructor(text: string) {
    const lines = text.split('\n');
    this.types = new Map(
      lines.flatMap((line) => {
        const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
        return name !== undefined && type !== undefined ? [[name, type]] : [];
      }),
    );
    this.samples = lines.filter((line) => line !== '' && !line.startsWith('#')).map(sample);
  }

  /** The one with these labels and no others; 0 where there is none. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number {
    const key = JSON.stringify(Object.entries(labels).sort());
    const found = this.samples.filter(
      (each) => each.name === name && JSON.stringify(Object.entries(each.labels).sort()) === key,
    );
    if (found.length > 1) throw new Error(`${name} ${key} is there ${found.length} times`);
    return found[0]?.value ?? 0;
  }

  /** Of a histogram with these labels: buckets by their bounds, sum, count. */
  histogram(name: string, labels: Readonly<Record<string, string>>) {
    const buckets = this.samples
      .filter((each) => each.name === `${name}_bucket`)
      .filter(({ labels: { le: _, ...others } }) =>
        Object.entries(labels).every(([key, value]) => others[key] === value),
      )
      .map((each) => [Number(each.labels['le']?.replace('+Inf', 'Infinity')), each.value] as const);
    return {
      buckets: new Map(buckets),
      sum: this.value(`${name}_sum`, labels),
      count: this.value(`${name}_count`, labels),
    };
  }

  /** Values that a label has in a metric. */
  values(name: string, label: string): string[] {
    const of = this.samples.filter((each) => each.name === name || each.name === `${name}_count`);
    return [...new Set(of.map(({ labels }) => labels[label] ?? ''))].sort();
  }
}

function sample(line: string): Sample {
  const match = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line);
  if (!match) throw new Error(`not a sample: ${line}`);
  const labels: Record<string, string> = {};
  for (const [, name = '', value = ''] of (match[2] ?? '').matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g))
    labels[name] = value;
  return { name: match[1] ?? '', labels, value: Number(match[3]) };
}

export async function scrape(admin: string): Promise<Scrape> {
  return new Scrape(await (await fetch(`${admin}/metrics`)).text());
}
