/**
 * The admin port (docs/reference/gateway.md#admin-port): health, readiness, metrics, provenance, log level; no
 * credentials.
 */
import { type Manifest, VERSION_FIELD } from '../artifact/format.ts';
import type { Artifact } from '../artifact/index.ts';
import type { NamedUpstreamFigures } from '../egress/named/upstream-bindings.ts';
import type { Exchange, HeaderList } from '../exchange.ts';
import { problem } from '../problems.ts';
import { healthOf } from '../reserved/health.ts';
import { type Level, LOG_LEVELS, type Log } from '../telemetry/log.ts';
import { memberOf } from './body.ts';
import type { AdminCallers } from './caller.ts';
import { jsonPage, type Page, problemPage } from './page.ts';
import { REFERENCE_PATH, TRY_PATH } from './reference-paths.ts';
import { type TraceState, tracePage } from './trace.ts';

export interface AdminState extends ConnectionsState, LogLevelState, TraceState {
  readonly callers: AdminCallers;
  /** The artifact being served, or null before one is loaded. */
  artifact(): Artifact | null;
  draining(): boolean;
  /** Returns false when no more connections are taken. */
  accepting(): boolean;
  /** Readiness waits for the artifact that the control plane wants; false without one. */
  awaiting(): boolean;
  /** The control plane said that another artifact should be served; false without one. */
  drifted(): boolean;
  /** Named upstreams of the served artifact. */
  upstreams(): Promise<readonly NamedUpstreamFigures[]>;
  /** In the text format of scrapers. */
  metrics(): Promise<{ readonly type: string; readonly text: string }>;
  /** There is the inspector of tools. */
  readonly inspector: boolean;
  /**
   * Serves the API reference, whose requests go to `tryOrigin` (`http://…`; null: it sends no requests); null: not
   * served.
   */
  readonly reference: { readonly tryOrigin: () => string | null } | null;
  /** Milliseconds on the monotonic clock. */
  readonly startedAt: number;
}

const PAGES = '/health, /ready, /metrics, /provenance, /upstreams, /log-level, /connections/close and /trace';
const NOT_STORED: HeaderList = ['cache-control', 'no-store'];

type AnsweredPage = Page & { readonly headers: HeaderList };

/** Answers one request of the admin port. */
export function serveAdmin(exchange: Exchange, state: AdminState): void {
  if (state.reference !== null && exchange.path.startsWith(TRY_PATH)) {
    tried(exchange, state, state.reference.tryOrigin()).catch(() => exchange.responder.abort());
    return;
  }
  answer(exchange, state).then(
    ({ status, type, body, headers }) =>
      exchange.responder.send(exchange, status, ['content-type', type, ...headers], body),
    () => exchange.responder.abort(),
  );
}

/** Passes a request of the reference page to the traffic port. */
async function tried(exchange: Exchange, { callers }: AdminState, origin: string | null): Promise<void> {
  const refusal =
    origin === null
      ? problem(
          'forbidden',
          'Requests go through the reference page only without TLS and with --admin-bind on a loopback address.',
        )
      : (callers.tryRefusal(exchange) ?? (await (await import('./try-it.ts')).tryIt(exchange, origin)));
  if (refusal === null) return;
  const { status, type, body } = problemPage(refusal);
  exchange.responder.send(exchange, status, ['content-type', type, ...NOT_STORED], body);
}

async function answer(exchange: Exchange, state: AdminState): Promise<AnsweredPage> {
  const action = ACTIONS[`${exchange.method} ${exchange.path}`];
  const reads = exchange.method === 'GET' || exchange.method === 'HEAD';
  if (!action && (!reads || ONLY_ACTIONS.has(exchange.path))) return wrongMethod(exchange.path);
  const refusal = state.callers.refusal(exchange);
  if (refusal !== null) return { ...problemPage(refusal), headers: NOT_STORED };
  const answered = await (action ? action(exchange, state) : page(exchange, state));
  return { ...answered, headers: [...NOT_STORED, ...(answered.headers ?? [])] };
}

/** Requests that change something, by method and path. */
const ACTIONS: { readonly [request: string]: (exchange: Exchange, state: AdminState) => Promise<Page> } = {
  'PUT /log-level': changeLogLevel,
  'POST /connections/close': closeConnections,
  'POST /trace': tracePage,
};
const ONLY_ACTIONS: ReadonlySet<string> = new Set(['/connections/close', '/trace']);

/** Answers to other methods than GET, by path: detail and `Allow`. */
const METHODS: { readonly [path: string]: readonly [detail: string, allow: string] } = {
  '/log-level': ['The log level is read with GET and changed with PUT.', 'GET, HEAD, PUT'],
  '/connections/close': ['Connections are closed with POST.', 'POST'],
  '/trace': ['A request is traced with POST.', 'POST'],
};

function wrongMethod(path: string): AnsweredPage {
  const [detail, allow] = METHODS[path] ?? ['The admin port is read with GET.', 'GET, HEAD'];
  return { ...problemPage(problem('method-not-allowed', detail)), headers: ['allow', allow] };
}

async function page({ path, query }: Exchange, state: AdminState): Promise<Page> {
  const manifest = state.artifact()?.manifest;
  switch (path) {
    case '/health': {
      const uptime_secs = Math.floor((performance.now() - state.startedAt) / 1000);
      return jsonPage(200, { ...(manifest ? healthOf(manifest) : { status: 'healthy' }), uptime_secs });
    }
    case '/ready':
      return readiness(manifest, state, query === 'draining=ok' ? !state.accepting() : state.draining());
    case '/metrics': {
      const { type, text } = await state.metrics();
      return { status: 200, type, body: text };
    }
    case '/provenance':
      if (manifest) return jsonPage(200, provenance(manifest, state.drifted()));
      return problemPage(problem('route-not-found', 'No artifact is loaded.'));
    case '/upstreams':
      return jsonPage(200, { upstreams: await state.upstreams() });
    case '/log-level':
      return logLevelPage(state);
    case '/':
      if (state.reference !== null && state.artifact()?.tools === null) return redirect(REFERENCE_PATH);
      return state.inspector ? redirect('/inspector') : unknownPage();
    default:
      return (await inspected(path, state)) ?? (await referred(path, state)) ?? unknownPage();
  }
}

function redirect(path: string): Page {
  return { status: 302, type: 'text/plain', body: '', headers: ['location', path] };
}

function unknownPage(): Page {
  return problemPage(problem('route-not-found', `The admin port has ${PAGES}.`));
}

/** Returns null if the page does not exist, or the gateway is not a developer's. */
async function inspected(path: string, { inspector }: AdminState): Promise<Page | null> {
  return inspector ? (await import('./inspector.ts')).inspectorPage(path) : null;
}

/** Returns null if the page does not exist, or the gateway does not serve the API reference. */
async function referred(path: string, { reference, artifact }: AdminState): Promise<Page | null> {
  if (reference === null) return null;
  return (await import('./reference.ts')).referencePage(path, artifact(), reference.tryOrigin());
}

function readiness(manifest: Manifest | undefined, state: AdminState, ending: boolean): Page {
  if (!manifest) return jsonPage(503, { status: 'no artifact' });
  if (ending) return jsonPage(503, { status: 'draining' });
  if (state.awaiting()) return jsonPage(503, { status: 'awaiting the control plane' });
  return jsonPage(200, { status: 'ready', artifact_hash: manifest.artifact_hash });
}

function provenance(manifest: Manifest, drifted: boolean) {
  return {
    artifact_hash: manifest.artifact_hash,
    compiled_at: manifest.compiled_at,
    compiler_version: manifest.compiler_version,
    artifact_version: manifest[VERSION_FIELD],
    provenance: manifest.provenance,
    source_specs: manifest.source_specs.map(({ file, sha256, type }) => ({ file, sha256, type })),
    plugins: (manifest.plugins ?? []).map(({ name, version, sha256 }) => ({ name, version, sha256 })),
    drift_detected: drifted,
  };
}

interface ConnectionsState {
  closeKept(withinMs: number): void;
}

/** Seconds. */
const MOST_WITHIN = 3600;

/**
 * `/connections/close`: has clients connect anew, such as to reach pods that came later. Takes `{"within_seconds": 10}`.
 */
async function closeConnections(exchange: Exchange, state: ConnectionsState): Promise<Page> {
  const seconds = secondsOf(await memberOf(exchange, 'within_seconds'));
  if (seconds === undefined) {
    return problemPage(problem('validation-failed', `Send {"within_seconds": 10}: from 0 to ${MOST_WITHIN}.`));
  }
  state.closeKept(seconds * 1000);
  return jsonPage(200, { within_seconds: seconds });
}

function secondsOf(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= MOST_WITHIN ? value : undefined;
}

interface LogLevelState {
  readonly log: Pick<Log, 'level' | 'configuredLevel'>;
  setLogLevel(level: Level): Promise<void>;
}

function logLevelPage({ log }: LogLevelState): Page {
  return jsonPage(200, { level: log.level, configured: log.configuredLevel });
}

/** `/log-level`: changes the level of logs, until the process ends. Takes `{"level": "debug"}`. */
async function changeLogLevel(exchange: Exchange, state: LogLevelState): Promise<Page> {
  const level = levelOf(await memberOf(exchange, 'level'));
  if (level === undefined) {
    return problemPage(problem('validation-failed', `Send {"level": "debug"}: one of ${LOG_LEVELS.join(', ')}.`));
  }
  await state.setLogLevel(level);
  return logLevelPage(state);
}

function levelOf(value: unknown): Level | undefined {
  return LOG_LEVELS.find((each) => each === value);
}
