/** Which surface a request is for: its path says so (docs/decisions.md#ai-surfaces). */

export type SurfaceName = 'chat' | 'responses' | 'embeddings' | 'models';

export function surfaceOf(path: string): SurfaceName {
  if (path.endsWith('/v1/models')) return 'models';
  if (path.endsWith('/v1/embeddings')) return 'embeddings';
  return path.endsWith('/v1/responses') ? 'responses' : 'chat';
}
