/** Sends one request through the pipeline, as a client would, and reports the decision of each stage. */
import { Exchange } from '../exchange.ts';
import { CapturedResponse } from '../own-request/captured-response.ts';
import { InMemoryBody } from '../own-request/in-memory-body.ts';
import type { Generation } from '../pipeline/generation.ts';
import { type PipelineOptions, serve } from '../pipeline/pipeline.ts';
import type { Problem } from '../problems.ts';
import { RequestTrace } from '../spans/request-trace.ts';
import { checkLimits } from '../validation/limits.ts';
import type { TraceReport, TraceStage } from './report.ts';
import type { TraceRequest } from './request.ts';
import { problemText, rounded, StageRecorder } from './stages.ts';

export interface TraceSettings {
  readonly generation: Generation;
  readonly pipeline: PipelineOptions;
  /** Address of the request's client: that of the trace's caller, which cannot claim another one. */
  readonly peer: string;
  readonly scheme: string;
}

const TIMEOUT_MS = 30_000;
/** Bytes of the response's body that are reported by default. */
const MOST_BODY = 64 << 10;

export async function traceRequest(request: TraceRequest, settings: TraceSettings): Promise<TraceReport> {
  const { generation, pipeline } = settings;
  // Loaded on demand, since most gateways never trace so.
  const { emptyResource } = await import('@opentelemetry/resources');
  const { body_limit: most = MOST_BODY } = request;
  const response = new CapturedResponse({ most, cutsOff: false });
  const exchange = exchangeOf(request, response, settings);
  const ended = Promise.withResolvers<void>();
  const recorder = new StageRecorder(emptyResource(), () => exchange, ended.resolve);
  const first: TraceStage[] = [];
  const within: InnerRequest[] = [];
  const tracing = {
    begin(served: Exchange) {
      const untimed = untimedStages(served, generation, pipeline);
      const inner =
        served === exchange
          ? null
          : new StageRecorder(
              emptyResource(),
              () => served,
              () => {},
            );
      if (inner === null) first.push(...untimed);
      else within.push({ exchange: served, recorder: inner, untimed });
      const own = inner ?? recorder;
      own.begin();
      return new RequestTrace(own, served, undefined);
    },
  };
  const timer = setTimeout(() => response.abort(exchange), request.timeout_ms ?? TIMEOUT_MS);
  serve(exchange, generation, { ...pipeline, tracing });
  await ended.promise;
  clearTimeout(timer);
  // A stream of events would not end by itself.
  if (!exchange.closed) response.abort(exchange);
  const { operation } = exchange;
  return {
    artifact_hash: generation.artifact.manifest.artifact_hash,
    request_id: exchange.requestId,
    trace_id: exchange.traceId,
    operation: operation && {
      path: operation.path,
      operation_id: operation.operationId ?? null,
      api: operation.api,
    },
    stages: explained(
      [...first, ...recorder.stages(), ...within.flatMap((each) => stagesOf(each, recorder.beganAt))],
      exchange.response.problem,
    ),
    response: {
      status: response.status,
      headers: pairs(response.headers),
      body: response.body.toString('utf8'),
      body_bytes: response.bodyBytes,
      truncated: response.truncated,
    },
    duration_ms: recorder.durationMs,
  };
}

/** Outcomes of stages that end a request and tell why. */
const ENDS: ReadonlySet<string> = new Set(['answered', 'failed', 'none', 'method not allowed']);

/** Adds why the request was refused: to the stage that refused it, else as a stage of its own. */
function explained(stages: readonly TraceStage[], problem: Problem | null): readonly TraceStage[] {
  if (problem === null) return stages;
  const at = stages.findLastIndex(({ outcome, depth }) => outcome === 'refused' && depth === 0);
  const refusing = stages[at];
  if (refusing?.detail !== undefined) return stages;
  if (refusing !== undefined) return stages.with(at, { ...refusing, detail: problemText(problem) });
  const isTold = stages.some(({ outcome }) => ENDS.has(outcome));
  const answer = { stage: 'answer', outcome: String(problem.status), detail: problemText(problem), depth: 0 };
  return isTold ? stages : [...stages, answer];
}

/** A request that the pipeline sent itself to answer the traced one, such as that of a tool. */
interface InnerRequest {
  readonly exchange: Exchange;
  readonly recorder: StageRecorder;
  readonly untimed: readonly TraceStage[];
}

/** `from`: when the traced request began. */
function stagesOf({ exchange, recorder, untimed }: InnerRequest, from: number | undefined): readonly TraceStage[] {
  const { beganAt } = recorder;
  const ended: Partial<TraceStage> =
    beganAt === undefined ? {} : { at_ms: rounded(beganAt - (from ?? beganAt)), duration_ms: recorder.durationMs };
  return [
    { stage: 'request', outcome: recorder.outcome, detail: `${exchange.method} ${exchange.path}`, ...ended, depth: 0 },
    ...[...untimed, ...recorder.stages(from)].map((each) => ({ ...each, depth: each.depth + 1 })),
  ];
}

function exchangeOf(request: TraceRequest, responder: CapturedResponse, { peer, scheme }: TraceSettings): Exchange {
  const { method = 'GET', target, headers = [], body, body_encoding: encoding = 'utf8' } = request;
  const bytes = body === undefined ? null : Buffer.from(body, encoding);
  const given = headers.flat();
  const has = (name: string) => headers.some(([each]) => each.toLowerCase() === name);
  if (!has('host')) given.push('host', 'localhost');
  if (bytes !== null && !has('content-length')) given.push('content-length', String(bytes.length));
  return new Exchange(responder, {
    method,
    target,
    scheme,
    headers: given,
    clientIp: peer,
    body: bytes === null ? null : new InMemoryBody(bytes),
  });
}

/** Returns the stages that are decided before spans begin. */
function untimedStages(exchange: Exchange, generation: Generation, { limits }: PipelineOptions): readonly TraceStage[] {
  const refusal = checkLimits(exchange, limits);
  if (refusal !== null) {
    return [{ stage: 'limits', outcome: 'refused', detail: refusal.problem.detail ?? refusal.problem.title, depth: 0 }];
  }
  const match = generation.router.find(exchange.method, exchange.path);
  const operation = match.value?.operation;
  const allow = match.value === null ? match.allow : [];
  const admitted = new Set<string>();
  for (let i = 0; i < exchange.headers.length; i += 2) admitted.add(String(exchange.headers[i]));
  const dropped = new Set<string>();
  for (let i = 0; i < exchange.rawHeaders.length; i += 2) {
    const name = String(exchange.rawHeaders[i]).toLowerCase();
    if (!admitted.has(name)) dropped.add(name);
  }
  return [
    { stage: 'limits', outcome: 'passed', depth: 0 },
    {
      stage: 'route',
      outcome: operation ? 'matched' : allow.length > 0 ? 'method not allowed' : 'none',
      detail: operation
        ? `${exchange.method} ${operation.path}`
        : allow.length > 0
          ? `allowed: ${allow.join(', ')}`
          : exchange.path,
      depth: 0,
    },
    {
      stage: 'headers',
      outcome: dropped.size > 0 ? 'dropped some' : 'admitted',
      detail: [...admitted].join(', ') + (dropped.size > 0 ? `; not ${[...dropped].join(', ')}` : ''),
      depth: 0,
    },
  ];
}

function pairs(headers: readonly string[]): readonly (readonly [string, string])[] {
  const found: (readonly [string, string])[] = [];
  for (let i = 0; i < headers.length; i += 2) found.push([String(headers[i]), String(headers[i + 1])]);
  return found;
}
