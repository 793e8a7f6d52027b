/**
 * The webhooks of the operator, on the listener of every replica, at paths that only API servers know
 * (docs/decisions.md#webhook-paths).
 */
import { TLSSocket } from 'node:tls';
import { type HttpsRoutes, nothingHere, type RequestHandler } from '../runtime/https-server.ts';
import { type AdmissionAnswer, type AdmissionRequest, admissionHandler } from './admission.ts';
import { type InjectorWith, reviewPod } from './injector.ts';
import { boundedReview, type ReviewWith } from './review-object.ts';
import { FIXED_PATH, type Webhook } from './webhook-paths.ts';

export interface WebhooksWith extends ReviewWith, InjectorWith {
  /** Returns the webhook at the path of a request; undefined if the path is unknown. */
  readonly webhookAt: (pathname: string) => Webhook | undefined;
  /** Whether an API server must show a certificate of the authority that the listener has been given. */
  readonly clientCertificates: boolean;
  readonly onReviewed?: (webhook: Webhook, allowed: boolean, seconds: number) => void;
}

const LIMITS = { maxRunning: 16, maxRunningOfNamespace: 4 };

export function serveWebhooks(routes: HttpsRoutes, deps: WebhooksWith): void {
  const { onError } = deps;
  const handlers: Readonly<Record<Webhook, RequestHandler>> = {
    validate: admissionHandler(timed('validate', boundedReview(LIMITS), deps), onError),
    pods: admissionHandler(timed('pods', reviewPod, deps), onError),
  };
  routes.handle(`${FIXED_PATH}/`, (request, response, url) => {
    const webhook = deps.webhookAt(url.pathname);
    const isShown = !deps.clientCertificates || (request.socket instanceof TLSSocket && request.socket.authorized);
    if (!webhook || !isShown) return nothingHere(response);
    return handlers[webhook](request, response, url);
  });
}

function timed(
  webhook: Webhook,
  review: (deps: WebhooksWith, request: AdmissionRequest) => Promise<AdmissionAnswer>,
  deps: WebhooksWith,
) {
  return async (request: AdmissionRequest) => {
    const started = performance.now();
    const answer = await review(deps, request);
    deps.onReviewed?.(webhook, answer.allowed, (performance.now() - started) / 1000);
    return answer;
  };
}
