/** Answers of the traffic port before an artifact is loaded (docs/decisions.md#artifact-optional-when-connected). */
import type { Exchange } from '../exchange.ts';
import { Admission } from '../headers/admission.ts';
import { addStandardHeaders, identify } from '../headers/standard.ts';
import { problem } from '../problems.ts';
import type { PipelineOptions } from './pipeline.ts';
import { setResponse } from './response.ts';

const BASELINE = new Admission([]);

/** Every request, health included: load balancers are to go elsewhere. */
export function refuseWithoutArtifact(x: Exchange, { client, recorder, dev }: PipelineOptions): void {
  x.headers = BASELINE.admit(x.rawHeaders).headers;
  x.clientIp = client.of(x.peer, x.headers);
  identify(x);
  const detail = 'This gateway waits for its first artifact from the control plane.';
  setResponse(x, { problem: problem('no-artifact', detail, { headers: ['retry-after', '5'] }) }, dev);
  const { responseStatus: status, responseHeaders: headers, responseBody: body } = x;
  addStandardHeaders(x, headers);
  x.responder.send(x, status, headers, body);
  recorder.finished(x, recorder.metrics.unmatched(x.method), x.closedWith || status, body?.length ?? 0);
}
