/** Which surface a request is for: its path says so (docs/decisions.md#ai-surfaces). */

export type SurfaceName = 'chat' | 'responses' | 'models';

export function surfaceOf(path: string): SurfaceName {
  if (path.endsWith('/v1/models')) return 'models';
  return path.endsWith('/v1/responses') ? 'responses' : 'chat';
}
