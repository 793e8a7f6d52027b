/** A Grafana dashboard of one gateway, or of all of them. */
import { createHash } from 'node:crypto';
import type { JsonObject } from '@gw/gateway/artifact';
import type { IConfigMap } from 'kubernetes-models/v1/ConfigMap';
import type { GatewayProject } from '../api/resources.ts';
import type { KubeObject } from '../kube/kube-object.ts';
import { manifest } from '../kube/manifest.ts';
import { dashboardPanels } from './dashboard-panels.ts';
import { gatewayName, ownedMeta } from './names.ts';

interface Shown {
  /** Uid of the dashboard in Grafana: at most 40 characters, unique. */
  readonly uid: string;
  readonly title: string;
  /** Which gateway it shows at first. */
  readonly gateway?: { readonly namespace: string; readonly name: string };
}

/** Returns the dashboard as Grafana imports it; its variables choose the data source, the namespace and the gateway. */
function grafanaDashboard({ uid, title, gateway }: Shown): JsonObject {
  const chosen = (value: string | undefined) =>
    value === undefined ? {} : { current: { text: value, value, selected: true } };
  const labelValues = (name: string, label: string, query: string, value: string | undefined) => ({
    name,
    label,
    type: 'query',
    datasource: { type: 'prometheus', uid: '$datasource' },
    query: { query, refId: name },
    refresh: 2,
    sort: 1,
    ...chosen(value),
  });
  return {
    uid,
    title,
    tags: ['gw'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
        labelValues('namespace', 'Namespace', 'label_values(gw_active_connections, namespace)', gateway?.namespace),
        labelValues(
          'gateway',
          'Gateway',
          'label_values(gw_active_connections{namespace="$namespace"}, job)',
          gateway?.name,
        ),
      ],
    },
    panels: dashboardPanels(),
  };
}

/** Returns the dashboard that docs/ offers for import. */
export function generalDashboard(): JsonObject {
  return grafanaDashboard({ uid: 'gw-gateways', title: 'gw: gateways' });
}

export function dashboardName(project: KubeObject): string {
  return `${gatewayName(project)}-dashboard`;
}

/** Returns the ConfigMap from which Grafana's sidecar reads a project's dashboard. */
export function dashboard(project: GatewayProject): KubeObject | undefined {
  const wanted = project.spec.monitoring.dashboard;
  if (!wanted) return undefined;
  const { name, namespace = 'default' } = project.metadata;
  const uid = `gw-${createHash('sha256').update(`${namespace}/${name}`).digest('hex').slice(0, 32)}`;
  const shown = grafanaDashboard({ uid, title: `gw: ${namespace}/${name}`, gateway: { namespace, name } });
  return manifest<IConfigMap>({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: ownedMeta(project, dashboardName(project), { labels: wanted.labels }),
    data: { [`gw-${namespace}-${name}.json`]: `${JSON.stringify(shown, null, 2)}\n` },
  });
}
