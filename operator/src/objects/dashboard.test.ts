/** The Grafana dashboard is about metrics that the gateway has, and about one gateway. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { METRICS } from '../../../gateway/features/metrics.ts';
import { gatewayProjects } from '../api/resources.ts';
import { dashboard, generalDashboard } from './dashboard.ts';
import { dashboardPanels } from './dashboard-panels.ts';

const queries = dashboardPanels().flatMap((panel) => {
  const found = JSON.stringify(panel['targets'] ?? []);
  const targets: readonly { readonly expr: string }[] = JSON.parse(found);
  return targets.map(({ expr }) => expr);
});

describe('the dashboard', () => {
  it('asks for metrics that there are, by labels that they have', () => {
    expect(queries.length).toBeGreaterThan(20);
    const known = Object.entries(METRICS);
    for (const query of queries) {
      const metrics = query.match(/gw_[a-z_]+/g) ?? [];
      expect(metrics.length).toBeGreaterThan(0);
      for (const metric of metrics) {
        const found = known.find(([name, { type }]) =>
          type === 'histogram' ? metric.replace(/_(bucket|sum|count)$/, '') === name : metric === name,
        );
        expect(found, `${metric} in ${query}`).toBeDefined();
        const labels = [...query.matchAll(/by \(([^)]*)\)/g)].flatMap(([, names]) => (names ?? '').split(/, */));
        for (const label of labels)
          expect(['le', 'pod', ...(found?.[1].labels ?? [])], `${label} in ${query}`).toContain(label);
      }
    }
  });

  it('asks for the series of one gateway only', () => {
    for (const query of queries) {
      const metrics = query.match(/gw_[a-z_]+/g) ?? [];
      expect(query.match(/\{namespace="\$namespace", job="\$gateway"/g)).toHaveLength(metrics.length);
    }
  });

  it('has a place of its own for each panel', () => {
    const taken = new Set<string>();
    const ids = new Set<unknown>();
    for (const { id, gridPos } of dashboardPanels()) {
      const { x, y, w, h }: Readonly<Record<string, number>> = JSON.parse(JSON.stringify(gridPos));
      expect(ids.has(id)).toBe(false);
      ids.add(id);
      expect((x ?? 0) + (w ?? 0)).toBeLessThanOrEqual(24);
      for (let row = y ?? 0; row < (y ?? 0) + (h ?? 0); row++)
        for (let column = x ?? 0; column < (x ?? 0) + (w ?? 0); column++) {
          expect(taken.has(`${row}/${column}`)).toBe(false);
          taken.add(`${row}/${column}`);
        }
    }
  });

  it('is another one for each project, and the general one is none of theirs', () => {
    const of = (name: string, namespace: string) => {
      const project = gatewayProjects.parse({
        metadata: { name, namespace, uid: 'u' },
        spec: { specs: { selector: {} }, monitoring: { dashboard: {} } },
      });
      const made = JSON.parse(JSON.stringify(dashboard(project)));
      expect(made.metadata.labels).toMatchObject({ grafana_dashboard: '1', 'gw.dev/project': name });
      return JSON.parse(made.data[`gw-${namespace}-${name}.json`]);
    };
    const [one, other] = [of('shop', 'a'), of('shop', 'b')];
    const uids = [one.uid, other.uid, generalDashboard()['uid']];
    expect(new Set(uids).size).toBe(3);
    for (const uid of uids) expect(uid.length).toBeLessThanOrEqual(40);
    expect(JSON.stringify(one.templating)).toContain('"current":{"text":"a","value":"a","selected":true}');
  });

  it('is offered in the charts as it is', () => {
    const file = join(import.meta.dirname, '..', '..', '..', 'charts', 'operator', 'files', 'dashboard.json');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(generalDashboard());
  });
});
