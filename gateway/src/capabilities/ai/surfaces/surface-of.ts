/** Which surface a request is for: its path says so (docs/decisions.md#ai-surfaces). */

export type SurfaceName = 'chat' | 'responses' | 'embeddings' | 'messages' | 'models';

export function surfaceOf(path: string): SurfaceName {
  if (path.endsWith('/v1/models')) return 'models';
  if (path.endsWith('/v1/embeddings')) return 'embeddings';
  if (path.endsWith('/v1/messages')) return 'messages';
  return path.endsWith('/v1/responses') ? 'responses' : 'chat';
}
