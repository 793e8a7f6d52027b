/**
 * Paths of the providers' APIs that the gateway does not serve (docs/decisions.md#ai-surfaces): treated as chat
 * completions, they would cost an answer that none of their clients can read. Keys and calls of realtime sessions are
 * never requested from a provider: clients would use them to bypass the gateway (docs/decisions.md#ai-realtime).
 */
import { AiRefusal, aiProblem, refusal } from '../conversation/refusal.ts';
import { routedPath, surfaceOf } from './surface-of.ts';

const REALTIME = [
  { name: 'realtime_keys', path: /\/v1\/realtime\/(?:client_secrets|sessions|transcription_sessions)$/ },
  { name: 'realtime_calls', path: /\/v1\/realtime\/calls(?:\/[^/]+\/[^/]+)?$/ },
];

/** Paths that are served, as clients write them. */
const SERVED: readonly string[] = [
  ...['/v1/chat/completions', '/v1/responses', '/v1/embeddings', '/v1/messages', '/v1/messages/count_tokens'],
  ...['/v1/models', '/v1/realtime', '/v1/files', '/v1/batches'],
];

/** Below `/v1`: paths of the APIs of OpenAI and Anthropic; first those without, then those with paths below them. */
const ALONE = 'completions|moderations|complete';
const WITH_MORE = [
  ...['audio', 'images', 'videos', 'conversations', 'assistants', 'threads', 'vector_stores', 'fine_tuning', 'evals'],
  ...['containers', 'uploads', 'skills', 'chatkit', 'organization', 'organizations'],
].join('|');
/** Served paths, whose subpaths are not served. */
const BELOW = 'chat/completions|responses|messages|models|embeddings';
const KNOWN = new RegExp(`/v1/(?:(?:${ALONE})|(?:${WITH_MORE})(?:/.+)?|(?:${BELOW})/.+)$`);

/** Returns the refusal of a request to this path; null if the path belongs to a surface or to the user's own API. */
export function unsupportedPath(path: string): AiRefusal | null {
  const routed = routedPath(path);
  const name = REALTIME.find((each) => each.path.test(routed))?.name;
  if (name !== undefined) {
    const what = name.replace('realtime_', 'realtime ');
    return refusal('validation-failed', `${name}_not_supported`, `The gateway does not pass ${what} on to a provider.`);
  }
  const isServed = surfaceOf(path) !== 'chat' || routed.endsWith('/v1/chat/completions');
  return isServed || !KNOWN.test(routed) ? null : unsupportedSurface();
}

function unsupportedSurface(): AiRefusal {
  const detail = `The gateway does not serve this path of the API. It serves ${SERVED.join(', ')}.`;
  const problem = aiProblem('not-found', 'unsupported_surface', detail);
  return new AiRefusal({ ...problem, members: { ...problem.members, served: SERVED } });
}

/** Clients of messages read errors of their own form here, too. */
export function isOfMessages(path: string): boolean {
  return /\/v1\/(?:messages\/.+|complete)$/.test(routedPath(path));
}
