/** `/v1/models`: the models that all providers of a config list, as far as requests for them would be permitted. */

import { type Exchange, get, isObject, isQuickJson, jsonText, type Obj, parseAsWritten } from '../../../kit.ts';
import type { AiServices } from './attempt-context.ts';
import { ProviderFailure } from './conversation/provider-failure.ts';
import { failureOf } from './endpoint-answer.ts';
import type { Endpoint } from './targets/endpoint.ts';
import type { Provider } from './targets/provider.ts';
import { leadsTo, permittedAliases } from './targets/resolution.ts';
import type { AiSettings } from './targets/settings.ts';
import type { Target } from './targets/targets.ts';

/** Bytes of one provider's list. */
const MAX_LIST = 4 << 20;
/** Largest page that Messages providers return; it holds all of their models. */
const PAGE = 'limit=1000';

const aliasListed = (id: string): Model => ({ id, object: 'model', created: 0, owned_by: 'gw' });

interface Model extends Obj {
  readonly id: string;
}

/** JSON text. Providers are asked one after another; one that fails is a warning. */
export async function listModels(exchange: Exchange, settings: AiSettings, services: AiServices): Promise<string> {
  const models = new Map<string, Model>(permittedAliases(settings, exchange).map((id) => [id, aliasListed(id)]));
  const warnings: object[] = [];
  for (const targets of settings.catalogs) {
    const [target] = targets;
    const { provider } = target;
    try {
      for (const model of await modelsOf(exchange, target, settings.modelsTimeoutMs, services)) {
        if (!models.has(model.id) && leadsTo(settings, exchange, model.id, targets)) models.set(model.id, model);
      }
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error;
      if (exchange.closed) break;
      services.log('warn', `models of ${provider}, ${target.name}: ${error.message}`, exchange);
      services.metrics.countCatalogFailure(provider);
      warnings.push({ provider, status: error.status, detail: detailOf(error.status) });
    }
  }
  const partial = warnings.length === 0 ? {} : { partial: true, warnings };
  return JSON.stringify({ object: 'list', data: [...models.values()], ...partial });
}

/** Addresses of providers are for the log. */
function detailOf(status: number): string {
  if (status === 504) return 'The provider did not answer in time.';
  return status === 502 ? 'The provider could not be reached, or its answer was not valid.' : `It answered ${status}.`;
}

/** Returns a target's models: its endpoints have the same ones, so the first to answer in time is used. */
async function modelsOf(
  exchange: Exchange,
  { provider, endpoints }: Target,
  timeoutMs: number,
  services: AiServices,
): Promise<readonly Model[]> {
  const until = performance.now() + timeoutMs;
  let failed: ProviderFailure | null = null;
  for (const endpoint of endpoints) {
    const leftMs = Math.ceil(until - performance.now());
    if (failed !== null && (leftMs <= 0 || exchange.closed)) break;
    try {
      return await modelsAt(exchange, { provider, endpoint, timeoutMs: leftMs }, services);
    } catch (error) {
      failed = failureOf(error);
    }
  }
  throw failed ?? new ProviderFailure('it has no endpoint');
}

interface Listing {
  readonly provider: Provider;
  readonly endpoint: Endpoint;
  readonly timeoutMs: number;
}

async function modelsAt(
  exchange: Exchange,
  { provider, endpoint, timeoutMs }: Listing,
  { http }: AiServices,
): Promise<readonly Model[]> {
  const own = ['accept', 'application/json', 'accept-encoding', 'identity', 'user-agent', 'gw'];
  const headers = [...own, ...endpoint.headers];
  const url = endpoint.url('/models', provider === 'provider_messages' ? PAGE : '');
  const answer = await http.call({ method: 'GET', url, headers, timeoutMs, maxBytes: MAX_LIST, exchange });
  if (answer.status !== 200) throw new ProviderFailure(`it answered ${answer.status}`, answer.status);
  if (!isQuickJson(answer.body)) throw new ProviderFailure('its answer takes too long to parse');
  return modelsIn(jsonText(answer.body), provider);
}

function modelsIn(text: string, provider: Provider): readonly Model[] {
  let data: unknown;
  try {
    data = get(parseAsWritten(text), 'data');
  } catch {
    // Refused below.
  }
  if (!Array.isArray(data)) throw new ProviderFailure('its answer is not a list of models');
  return data.flatMap((each) => modelOf(each, provider) ?? []);
}

function modelOf(listed: unknown, provider: Provider): Model | null {
  const id = get(listed, 'id');
  if (!isObject(listed) || typeof id !== 'string') return null;
  if (provider !== 'provider_messages') return { ...listed, id };
  const createdAt = get(listed, 'created_at');
  const at = typeof createdAt === 'string' ? Date.parse(createdAt) : Number.NaN;
  return { id, object: 'model', created: Number.isNaN(at) ? 0 : Math.floor(at / 1000), owned_by: provider };
}
