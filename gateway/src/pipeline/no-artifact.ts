/** Answers of the traffic port before an artifact is loaded (docs/decisions.md#artifact-optional-when-connected). */
import type { Exchange } from '../exchange.ts';
import { Admission } from '../headers/admission.ts';
import { addStandardHeaders, identify } from '../headers/standard.ts';
import { problem } from '../problems.ts';
import type { PipelineOptions } from './pipeline.ts';
import { setResponse } from './response.ts';

const BASELINE = new Admission([]);

/** Every request, health included: load balancers are to go elsewhere. */
export function refuseWithoutArtifact(exchange: Exchange, { client, recorder, dev }: PipelineOptions): void {
  exchange.headers = BASELINE.admit(exchange.rawHeaders).headers;
  exchange.clientIp = client.of(exchange.peer, exchange.headers);
  identify(exchange);
  const detail = 'This gateway waits for its first artifact from the control plane.';
  setResponse(exchange, { problem: problem('no-artifact', detail, { headers: ['retry-after', '5'] }) }, dev);
  const { status, headers, body } = exchange.response;
  addStandardHeaders(exchange, headers);
  exchange.responder.send(exchange, status, headers, body);
  recorder.finished(
    exchange,
    recorder.metrics.unmatched(exchange.method),
    exchange.closedWith || status,
    body?.length ?? 0,
  );
}
