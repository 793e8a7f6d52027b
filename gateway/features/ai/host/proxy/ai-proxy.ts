/** The AI gateway of one config: reads a request, finds its targets, and asks one after another until one answers. */

import {
  type Answer,
  type Engine,
  type EngineResponse,
  type Exchange,
  get,
  headerOf,
  refusalOf,
} from '../../../kit.ts';
import type { AiServices, Asked } from './attempt-context.ts';
import type { ProviderFailed } from './conversation/provider-failure.ts';
import { AiRefused, invalid, refused } from './conversation/refusal.ts';
import { unanswered } from './conversation/provider-problems.ts';
import { estimatedCount } from './estimated-count.ts';
import { filesRequest } from './files/files-request.ts';
import { FilesProxy } from './files-proxy.ts';
import { listModels } from './model-list.ts';
import { ProviderAttempt } from './provider-attempt.ts';
import { realtime } from './realtime/surface.ts';
import { RealtimeAttempt } from './realtime-attempt.ts';
import { parsedRequest } from './request/parsed-request.ts';
import { chat } from './surfaces/chat.ts';
import { counting } from './surfaces/counting.ts';
import { embeddings } from './surfaces/embeddings.ts';
import { BETA, messages } from './surfaces/messages.ts';
import { notServed } from './surfaces/unsupported-paths.ts';
import { problemFor } from './surfaces/problem-for.ts';
import { bodyWith } from './surfaces/request-body.ts';
import { responses } from './surfaces/responses.ts';
import type { SurfaceRequest } from './surfaces/surface.ts';
import { surfaceOf } from './surfaces/surface-of.ts';
import { type Attempt, TargetRun } from './ask-target.ts';
import type { Provider } from './targets/provider.ts';
import { fallbacks, resolve, unknownTarget } from './targets/resolution.ts';
import type { AiSettings } from './targets/settings.ts';
import type { Target } from './targets/targets.ts';

const SURFACES = { chat, responses, embeddings, messages, counting, realtime };
type Served = keyof typeof SURFACES;
/** Longest model name accepted, in characters. */
const MAX_MODEL = 256;
const NO_BODY = new Uint8Array(0);
const NO_PROVIDER = 'No provider of this model could answer.';

export class AiProxy implements Engine {
  readonly #settings: AiSettings;
  readonly #services: AiServices;
  readonly #files: FilesProxy;

  constructor(settings: AiSettings, services: AiServices) {
    this.#settings = settings;
    this.#services = services;
    this.#files = new FilesProxy(settings, services);
  }

  async answer(exchange: Exchange, response: EngineResponse): Promise<void> {
    const files = filesRequest(exchange);
    if (files !== null) return this.#files.answer(exchange, response, files);
    const unserved = notServed(exchange.path);
    if (unserved !== null) return response.whole({ problem: problemFor(exchange, unserved.problem) });
    if (exchange.refusesJson(true) && exchange.answer !== null) return response.whole(exchange.answer);
    const surface = surfaceOf(exchange.path);
    const noWebSocket = surface === 'realtime' ? refusalOf(exchange) : null;
    if (noWebSocket !== null) return response.whole({ problem: noWebSocket });
    try {
      if (surface === 'models') await response.whole(await this.#models(exchange));
      else await this.#serve(exchange, response, surface);
    } catch (error) {
      if (!(error instanceof AiRefused)) throw error;
      await response.whole({ problem: problemFor(exchange, error.problem) });
    }
  }

  async #models(exchange: Exchange): Promise<Answer> {
    if (exchange.method !== 'GET') {
      const detail = 'The list of models is read with GET.';
      throw refused('method-not-allowed', 'method_not_allowed', detail, { headers: ['allow', 'GET'] });
    }
    return {
      status: 200,
      headers: ['content-type', 'application/json'],
      body: await listModels(exchange, this.#settings, this.#services),
    };
  }

  async #serve(exchange: Exchange, response: EngineResponse, name: Served): Promise<void> {
    const request = readRequest(exchange);
    const { model } = request;
    const { metrics, log } = this.#services;
    const unknown = unknownTarget(this.#settings, exchange);
    if (unknown !== null) log('warn', `ai.target names ${JSON.stringify(unknown)}, which is not in targets`, exchange);
    const resolved = resolve(this.#settings, exchange, model);
    const { target, resolution, alias } = resolved;
    metrics.resolved(resolution);
    if (name === 'counting' && target.provider !== 'provider_messages')
      return response.whole(estimatedCount(request.parsed));
    const surface = SURFACES[name];
    const named = requestFor(request, resolved.model);
    const first = this.#attempt(name, named, target.provider);
    const why = alias === null ? resolution : `${model} is ${resolved.model}, ${resolution}`;
    let failed = await this.#ask({ exchange, response, surface, request: named, model, why }, target, first);
    let from = target;
    for (const next of fallbacks(this.#settings, resolved)) {
      if (failed === null || exchange.closed) break;
      const spare = requestFor(request, next.model);
      const attempt = this.#fallbackAttempt(name, spare, next.target);
      if (attempt === null) continue;
      metrics.fellBack(from.provider, next.target.provider);
      const asked = { exchange, response, surface, request: spare, model, why: `${from.name} failed` };
      failed = await this.#ask(asked, next.target, attempt);
      from = next.target;
    }
    if (failed !== null) await response.whole({ problem: problemFor(exchange, unanswered(failed, NO_PROVIDER)) });
  }

  #ask(asked: Asked, target: Target, attempt: Attempt): Promise<ProviderFailed | null> {
    return new TargetRun(asked, target, attempt, this.#settings, this.#services).run();
  }

  /** Throws AiRefused if the provider cannot be asked for it. */
  #attempt(name: Served, request: SurfaceRequest, provider: Provider): Attempt {
    const [settings, services] = [this.#settings, this.#services];
    if (name === 'realtime') {
      realtime.refuseUnlessServed(provider);
      return (asked, at) => new RealtimeAttempt(asked, at, settings, services).run();
    }
    const translation = SURFACES[name].translate(request, provider, settings);
    return (asked, at) => new ProviderAttempt(asked, at, translation, settings, services).run();
  }

  /** Returns null if that provider does not support the request: the earlier failure remains the answer. */
  #fallbackAttempt(name: Served, request: SurfaceRequest, { provider }: Target): Attempt | null {
    try {
      return this.#attempt(name, request, provider);
    } catch (error) {
      if (error instanceof AiRefused) return null;
      throw error;
    }
  }
}

/** Throws AiRefused. */
function readRequest(exchange: Exchange): SurfaceRequest {
  const parsed = parsedRequest(exchange);
  const [model, stream] = [get(parsed, 'model'), get(parsed, 'stream') ?? false];
  if (typeof model !== 'string' || model === '') {
    throw refused('validation-failed', 'model_required', 'The request must name a model.', { param: 'model' });
  }
  if (model.length > MAX_MODEL) throw invalid('model', `at most ${MAX_MODEL} characters long`);
  if (typeof stream !== 'boolean') throw invalid('stream', 'true or false');
  return { body: exchange.body ?? NO_BODY, parsed, model, stream, beta: headerOf(exchange.headers, BETA) ?? null };
}

/** Returns the request with the model's own name, if the client asked for an alias. */
function requestFor(request: SurfaceRequest, model: string): SurfaceRequest {
  if (model === request.model) return request;
  const { body, parsed } = request;
  return { ...request, model, parsed: { ...parsed, model }, body: bodyWith(body, parsed, { model }) };
}
