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
import { askTarget } from './ask-target.ts';
import type { AiServices, ModelContext, TargetContext } from './attempt-context.ts';
import { noAnswerProblem } from './conversation/provider-problems.ts';
import { AiRefusal, invalid, refusal } from './conversation/refusal.ts';
import { filesRequest } from './files/files-request.ts';
import { FilesProxy } from './files-proxy.ts';
import { listModels } from './model-list.ts';
import { refuseUnlessRealtime } from './realtime/surface.ts';
import { parsedRequest } from './request/parsed-request.ts';
import { chat } from './surfaces/chat.ts';
import { counting } from './surfaces/counting.ts';
import { embeddings } from './surfaces/embeddings.ts';
import { BETA, messages } from './surfaces/messages.ts';
import { problemFor } from './surfaces/problem-for.ts';
import { bodyWith } from './surfaces/request-body.ts';
import { responses } from './surfaces/responses.ts';
import type { SurfaceRequest } from './surfaces/surface.ts';
import { surfaceOf } from './surfaces/surface-of.ts';
import { unsupportedPath } from './surfaces/unsupported-paths.ts';
import type { Provider } from './targets/provider.ts';
import { fallbacks, resolve, unknownTarget } from './targets/resolution.ts';
import type { AiSettings } from './targets/settings.ts';
import { estimateCount } from './token-estimate.ts';

const SURFACES = { chat, responses, embeddings, messages, counting };
type SurfaceWithModel = keyof typeof SURFACES | 'realtime';
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
    const unserved = unsupportedPath(exchange.path);
    if (unserved !== null) return response.whole({ problem: problemFor(exchange, unserved.problem) });
    if (exchange.refusesJson(true) && exchange.answer !== null) return response.whole(exchange.answer);
    const surface = surfaceOf(exchange.path);
    const noWebSocket = surface === 'realtime' ? refusalOf(exchange) : null;
    if (noWebSocket !== null) return response.whole({ problem: noWebSocket });
    try {
      if (surface === 'models') await response.whole(await this.#models(exchange));
      else await this.#serve(exchange, response, surface);
    } catch (error) {
      if (!(error instanceof AiRefusal)) throw error;
      await response.whole({ problem: problemFor(exchange, error.problem) });
    }
  }

  async #models(exchange: Exchange): Promise<Answer> {
    if (exchange.method !== 'GET') {
      const detail = 'The list of models is read with GET.';
      throw refusal('method-not-allowed', 'method_not_allowed', detail, { headers: ['allow', 'GET'] });
    }
    return {
      status: 200,
      headers: ['content-type', 'application/json'],
      body: await listModels(exchange, this.#settings, this.#services),
    };
  }

  async #serve(exchange: Exchange, response: EngineResponse, name: SurfaceWithModel): Promise<void> {
    const [settings, services] = [this.#settings, this.#services];
    const { metrics, log } = services;
    const sent = readRequest(exchange);
    const { model } = sent;
    const unknown = unknownTarget(settings, exchange);
    if (unknown !== null) log('warn', `ai.target names ${JSON.stringify(unknown)}, which is not in targets`, exchange);
    const resolved = resolve(settings, exchange, model);
    const { target, resolution, alias } = resolved;
    metrics.countResolution(resolution);
    if (name === 'counting' && target.provider !== 'provider_messages')
      return response.whole(await estimateCount(sent.parsed));
    const common = { exchange, response, settings, services, model };
    const why = alias === null ? resolution : `${model} is ${resolved.model}, ${resolution}`;
    const first = { ...common, request: requestFor(sent, resolved.model), why };
    let failure = await askTarget(contextFor(first, name, target.provider), target);
    let from = target;
    for (const spare of fallbacks(settings, resolved)) {
      if (failure === null || exchange.closed) break;
      const { provider } = spare.target;
      const next = { ...common, request: requestFor(sent, spare.model), why: `${from.name} failed` };
      const context = contextIfSupported(next, name, provider);
      if (context === null) continue;
      metrics.countFallback(from.provider, provider);
      failure = await askTarget(context, spare.target);
      from = spare.target;
    }
    if (failure !== null)
      await response.whole({ problem: problemFor(exchange, noAnswerProblem(failure, NO_PROVIDER)) });
  }
}

/** Throws AiRefusal if the provider does not support the request. */
function contextFor(model: ModelContext, name: SurfaceWithModel, provider: Provider): TargetContext {
  if (name === 'realtime') {
    refuseUnlessRealtime(provider);
    return { ...model, kind: 'realtime' };
  }
  const surface = SURFACES[name];
  return {
    ...model,
    kind: 'translated',
    surface,
    translation: surface.translate(model.request, provider, model.settings),
  };
}

/** Returns null if the provider does not support the request: the earlier failure remains the answer. */
function contextIfSupported(...inputs: Parameters<typeof contextFor>): ReturnType<typeof contextFor> | null {
  try {
    return contextFor(...inputs);
  } catch (error) {
    if (error instanceof AiRefusal) return null;
    throw error;
  }
}

/** Throws AiRefusal. */
function readRequest(exchange: Exchange): SurfaceRequest {
  const parsed = parsedRequest(exchange);
  const [model, stream] = [get(parsed, 'model'), get(parsed, 'stream') ?? false];
  if (typeof model !== 'string' || model === '') {
    throw refusal('validation-failed', 'model_required', 'The request must name a model.', { param: 'model' });
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
