/** Tells the surface of a request by its path (docs/decisions.md#ai-surfaces). */

export type SurfaceName = 'chat' | 'responses' | 'embeddings' | 'messages' | 'counting' | 'models' | 'realtime';

const ENCODED_NAME = /%(?:3\d|[46][1-9a-f]|[57][\da])/gi;

export function surfaceOf(path: string): SurfaceName {
  const read = routedPath(path);
  if (read.endsWith('/v1/models')) return 'models';
  if (read.endsWith('/v1/embeddings')) return 'embeddings';
  if (read.endsWith('/v1/messages')) return 'messages';
  if (read.endsWith('/v1/messages/count_tokens')) return 'counting';
  if (read.endsWith('/v1/realtime')) return 'realtime';
  return read.endsWith('/v1/responses') ? 'responses' : 'chat';
}

/** Decodes letters and digits as the router does: `%66iles` leads to the operation of `files`, and is its surface. */
export function routedPath(path: string): string {
  return path.includes('%') ? path.replaceAll(ENCODED_NAME, decodeURIComponent) : path;
}
