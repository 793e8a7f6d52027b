/** Every metric that the control plane exposes; docs/control-metrics.md is generated from it. */

/** Seconds, for everything that takes time. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Buckets in seconds for data planes and compilations. */
const LONG_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/** Values of a label: a list; or a text that names their source, which is never the client. */
type Values = readonly string[] | string;

const OPERATION = 'id of the operation, such as `projects.create`; `other` if no route matched';
const COMPILATION_ENDS = ['succeeded', 'failed'] as const;
const DEPLOYMENT_ENDS = ['succeeded', 'failed', 'timed_out', 'superseded', 'rolled_back'] as const;

interface MetricInfo {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: Readonly<Record<string, Values>>;
  /** Upper bounds; of histograms only. */
  readonly buckets?: readonly number[];
}

const table = {
  gw_control_http_requests_total: {
    type: 'counter',
    help: 'Requests answered, by operation and class of status',
    labels: { operation: OPERATION, status: ['1xx', '2xx', '3xx', '4xx', '5xx'] },
  },
  gw_control_http_request_duration_seconds: {
    type: 'histogram',
    help: 'Time from head to end of a request; event streams are left out',
    labels: { operation: OPERATION },
    buckets: DURATION_BUCKETS,
  },
  gw_control_authentication_failures_total: {
    type: 'counter',
    help: 'Requests answered with 401',
    labels: { reason: ['missing', 'refused'] },
  },
  gw_control_compilations: {
    type: 'gauge',
    help: 'Compilations that are not done, over all replicas',
    labels: { status: ['pending', 'compiling'] },
  },
  gw_control_compilations_total: {
    type: 'counter',
    help: 'Compilations that this replica has ended',
    labels: { status: COMPILATION_ENDS },
  },
  gw_control_compilation_duration_seconds: {
    type: 'histogram',
    help: 'Time that a compilation was at work on this replica',
    labels: { status: COMPILATION_ENDS },
    buckets: LONG_BUCKETS,
  },
  gw_control_data_planes_connected: {
    type: 'gauge',
    help: 'Data planes that are connected to this replica',
    labels: {},
  },
  gw_control_data_planes_pending: {
    type: 'gauge',
    help: 'Connections to this replica that have not been let in: without a hello, or with one that is not answered',
    labels: {},
  },
  gw_control_data_planes_drifted: {
    type: 'gauge',
    help: 'Data planes of this replica that serve another artifact than the wanted one',
    labels: {},
  },
  gw_control_data_plane_reports_total: {
    type: 'counter',
    help: 'What data planes of this replica said of artifacts that they were told of',
    labels: { outcome: ['applied', 'refused'] },
  },
  gw_control_deployments_total: {
    type: 'counter',
    help: 'Deployments that this replica has ended',
    labels: { status: DEPLOYMENT_ENDS },
  },
  gw_control_deployment_duration_seconds: {
    type: 'histogram',
    help: 'Time until all data planes of a deployment serve it, or it ended otherwise',
    labels: { status: DEPLOYMENT_ENDS },
    buckets: LONG_BUCKETS,
  },
  gw_control_replicas_lost_total: {
    type: 'counter',
    help: 'Other replicas that this one found dead',
    labels: {},
  },
  gw_control_database_connections: {
    type: 'gauge',
    help: 'Connections to the database: `busy` and `idle`, and requests that are `waiting` for one',
    labels: { state: ['busy', 'idle', 'waiting'] },
  },
} as const satisfies Readonly<Record<string, MetricInfo>>;

type Table = typeof table;
export type MetricName = keyof Table;
export type NameOf<T extends MetricInfo['type']> = {
  [N in MetricName]: Table[N]['type'] extends T ? N : never;
}[MetricName];

/** Values for all labels of a metric. */
export type LabelsOf<N extends MetricName> = {
  readonly [L in keyof Table[N]['labels']]: Table[N]['labels'][L] extends readonly (infer V)[] ? V : string;
};

export const METRICS: Readonly<Record<MetricName, MetricInfo>> = table;
