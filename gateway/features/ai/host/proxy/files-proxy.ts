/**
 * `/v1/files` and `/v1/batches` of one config: access by client, and the provider's target
 * (docs/reference/plugins.md#ai-files).
 */

import { type EngineResponse, type Exchange, headerOf } from '../../../kit.ts';
import { askEndpoint } from './ask-endpoint.ts';
import type { AiServices, FilesContext } from './attempt-context.ts';
import { noAnswerProblem } from './conversation/provider-problems.ts';
import { AiRefusal, refusal } from './conversation/refusal.ts';
import { type FilesRequest, filesUnsupported } from './files/files-request.ts';
import { type FilesCall, providerRequest } from './files/provider-request.ts';
import type { OwnedIds } from './targets/bound-ids.ts';
import { type FilesSettings, filesObstacle } from './targets/files-settings.ts';
import { chosenTarget } from './targets/resolution.ts';
import type { AiSettings } from './targets/settings.ts';
import type { Target } from './targets/targets.ts';

export class FilesProxy {
  readonly #settings: AiSettings;
  readonly #services: AiServices;

  constructor(settings: AiSettings, services: AiServices) {
    this.#settings = settings;
    this.#services = services;
  }

  async answer(exchange: Exchange, response: EngineResponse, request: FilesRequest): Promise<void> {
    try {
      const { files } = this.#settings;
      if (files === null) throw filesUnsupported(request.surface);
      const target = this.#targetFor(exchange, request, files);
      const call = callOf(request);
      const ids = ownedIds(exchange, files, target);
      // Parsed by the provider, too: readers must not differ on it.
      if (call.operation === 'create' && exchange.refusesJson(true) && exchange.answer !== null)
        return response.whole(exchange.answer);
      const sent = providerRequest(exchange, call, ids);
      await this.#ask(
        { kind: 'files', exchange, response, services: this.#services, call, ids, request: sent },
        target,
      );
    } catch (error) {
      if (!(error instanceof AiRefusal)) throw error;
      await response.whole({ problem: error.problem });
    }
  }

  async #ask(context: FilesContext, target: Target): Promise<void> {
    const { exchange, response } = context;
    const [endpoint] = target.endpoints;
    const result = await askEndpoint(context, { target, endpoint, headMs: this.#settings.timeoutMs, tries: null });
    if (result.type === 'failed') {
      const bodyError = exchange.bodyStream?.errored;
      if (bodyError) return response.bodyFailed(exchange, bodyError);
      return response.whole({ problem: noAnswerProblem(result.failure, 'The provider could not answer.') });
    }
    if (result.type !== 'broken') return;
    if (exchange.closed) response.done(exchange, 0);
    else response.broken(exchange, result.failure.message);
  }

  #targetFor(exchange: Exchange, { surface }: FilesRequest, { target: otherwise }: FilesSettings): Target {
    const target = chosenTarget(this.#settings, exchange) ?? otherwise;
    if (target.provider !== 'provider_chat') {
      const detail = `The provider has no ${surface} that the gateway passes.`;
      throw refusal('validation-failed', `${surface}_not_supported_for_provider`, detail);
    }
    // The config's own target was checked at load.
    const why = target === otherwise ? null : filesObstacle(target);
    if (why === null) return target;
    throw refusal(
      'validation-failed',
      `${surface}_not_supported_for_target`,
      `The target takes no ${surface}: ${why}.`,
    );
  }
}

function callOf({ operation, surface, id, methods }: FilesRequest): FilesCall {
  if (operation === null) {
    const headers = ['allow', methods.join(', ')];
    const detail = `The path has ${methods.join(' and ')}.`;
    throw refusal('method-not-allowed', 'method_not_allowed', detail, { headers });
  }
  if (operation === 'list') {
    const detail = `The provider would list the ${surface} of all consumers: keep the ids of yours.`;
    throw refusal('validation-failed', `${surface}_list_not_supported`, detail);
  }
  return { operation, surface, id };
}

function ownedIds(exchange: Exchange, { ids, allowsAnonymous }: FilesSettings, { name, endpoints }: Target): OwnedIds {
  const consumer = headerOf(exchange.headers, 'x-auth-consumer') ?? '';
  if (consumer === '' && !allowsAnonymous) {
    const detail = 'Files and batches belong to a consumer, and the request has none: authenticate.';
    throw refusal('forbidden', 'consumer_required', detail);
  }
  return ids.of({ consumer, account: `${name} ${endpoints[0].baseUrl}` });
}
