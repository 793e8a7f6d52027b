/** The admin port (reference 1, section 4.2): health, readiness, metrics, provenance; no credentials. */
import { type Manifest, VERSION_FIELD } from '../artifact/format.ts';
import type { Artifact } from '../artifact/index.ts';
import type { Exchange, HeaderList } from '../exchange.ts';
import { healthOf } from '../health.ts';
import { type Problem, problem, renderProblem } from '../problems.ts';

export interface AdminState {
  /** What serves, or null before one is loaded. */
  artifact(): Artifact | null;
  draining(): boolean;
  /** In the text format of scrapers. */
  metrics(): Promise<{ readonly type: string; readonly text: string }>;
  /** Milliseconds on the monotonic clock. */
  readonly startedAt: number;
}

type Page = { readonly status: number; readonly type: string; readonly body: string };

/** Answers one request of the admin port. */
export function serveAdmin(x: Exchange, state: AdminState): void {
  answer(x, state).then(
    ({ status, type, body, headers }) => x.responder.send(x, status, ['content-type', type, ...headers], body),
    () => x.responder.abort(),
  );
}

async function answer(x: Exchange, state: AdminState): Promise<Page & { headers: HeaderList }> {
  if (x.method !== 'GET' && x.method !== 'HEAD') {
    const refusal = problem('method-not-allowed', 'The admin port is read with GET.');
    return { ...problemPage(refusal), headers: ['allow', 'GET, HEAD'] };
  }
  return { ...(await page(x.path, state)), headers: ['cache-control', 'no-store'] };
}

async function page(path: string, state: AdminState): Promise<Page> {
  const manifest = state.artifact()?.manifest;
  switch (path) {
    case '/health': {
      const uptime_secs = Math.floor((performance.now() - state.startedAt) / 1000);
      return json(200, { ...(manifest ? healthOf(manifest) : { status: 'healthy' }), uptime_secs });
    }
    case '/ready': {
      if (manifest && !state.draining()) return json(200, { status: 'ready', artifact_hash: manifest.artifact_hash });
      return json(503, { status: manifest ? 'draining' : 'no artifact' });
    }
    case '/metrics': {
      const { type, text } = await state.metrics();
      return { status: 200, type, body: text };
    }
    case '/provenance':
      if (manifest) return json(200, provenance(manifest));
      return problemPage(problem('route-not-found', 'No artifact is loaded.'));
    default:
      return problemPage(problem('route-not-found', 'The admin port has /health, /ready, /metrics and /provenance.'));
  }
}

function provenance(manifest: Manifest) {
  return {
    artifact_hash: manifest.artifact_hash,
    compiled_at: manifest.compiled_at,
    compiler_version: manifest.compiler_version,
    artifact_version: manifest[VERSION_FIELD],
    provenance: manifest.provenance,
    source_specs: manifest.source_specs.map(({ file, sha256, type }) => ({ file, sha256, type })),
    plugins: (manifest.plugins ?? []).map(({ name, version, sha256 }) => ({ name, version, sha256 })),
    // Only a control plane can see drift; without one there is none to report.
    drift_detected: false,
  };
}

function json(status: number, value: unknown): Page {
  return { status, type: 'application/json', body: JSON.stringify(value) };
}

function problemPage(refusal: Problem): Page {
  return { status: refusal.status, type: 'application/problem+json', body: renderProblem(refusal) };
}
