/**
 * `on_files` of a policy: how it treats files and batches, whose prompts no policy reads (docs/decisions.md#ai-files).
 */

import type { Exchange, JsonObject } from '../../../kit.ts';
import { type FilesRequest, filesRequest, filesUnsupported } from '../proxy/files/files-request.ts';
import type { Decision } from './decision.ts';

export type FilesRule = (exchange: Exchange, request: FilesRequest) => Decision | Promise<Decision>;

/** `allowed`: applied if the config lets them through; default: they pass. */
export function filesRule(config: JsonObject, allowed: FilesRule = () => null): FilesRule {
  return allowsFiles(config) ? allowed : refuses;
}

export function allowsFiles(config: JsonObject): boolean {
  return config['on_files'] === 'allow';
}

/** A request without a body has no prompt: ai-proxy handles it. */
function refuses(exchange: Exchange, { surface }: FilesRequest): Decision {
  return exchange.body === null && exchange.bodyStream === null ? null : filesUnsupported(surface);
}

/** Reports whether policies need the body in memory: files pass as they come. */
export function readsBody(exchange: Exchange): boolean {
  return filesRequest(exchange) === null;
}
