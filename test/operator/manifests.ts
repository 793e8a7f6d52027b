/** Small objects: documents that a mock answers, and projects without pods. */
import type { Manifest } from './user.ts';

export function document(title: string, path = '/status'): string {
  return JSON.stringify({
    openapi: '3.1.0',
    info: { title, version: '1' },
    paths: { [path]: { get: { 'x-gw-dispatch': { name: 'mock', config: { status: 200, body: title } } } } },
  });
}

export function apiSpec(title: string, path?: string): Manifest {
  return { metadata: { labels: { app: 'books' } }, spec: { source: { inline: document(title, path) } } };
}

/** Without pods: what is looked at here is the operator. */
export function project(more: object = {}): Manifest {
  return {
    spec: {
      specs: { selector: { matchLabels: { app: 'books' } } },
      plugins: [{ name: 'mock' }],
      pods: { replicas: 0 },
      ...more,
    },
  };
}
