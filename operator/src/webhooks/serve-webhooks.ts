/** The webhooks of the operator, on the listener of every replica; the chart's configurations name their paths. */
import type { HttpsRoutes } from '../runtime/https-server.ts';
import { type InjectorWith, reviewPod } from '../sidecar/injector.ts';
import { type AdmissionAnswer, type AdmissionRequest, admissionHandler } from './admission.ts';
import { boundedReview, type ReviewWith } from './review-object.ts';

export interface WebhooksWith extends ReviewWith, InjectorWith {
  readonly onReviewed?: (webhook: 'validate' | 'pods', allowed: boolean, seconds: number) => void;
}

const LIMITS = { atOnce: 16, ofNamespace: 4 };

export function serveWebhooks(routes: HttpsRoutes, using: WebhooksWith): void {
  const { onError } = using;
  routes.handle('/webhooks/validate', admissionHandler(timed('validate', boundedReview(LIMITS), using), onError));
  routes.handle('/webhooks/pods', admissionHandler(timed('pods', reviewPod, using), onError));
}

function timed(
  webhook: 'validate' | 'pods',
  review: (using: WebhooksWith, request: AdmissionRequest) => Promise<AdmissionAnswer>,
  using: WebhooksWith,
) {
  return async (request: AdmissionRequest) => {
    const started = performance.now();
    const answer = await review(using, request);
    using.onReviewed?.(webhook, answer.allowed, (performance.now() - started) / 1000);
    return answer;
  };
}
