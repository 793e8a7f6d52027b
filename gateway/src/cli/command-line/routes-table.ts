/** The routes of an artifact, as commands show them. */
import type { Artifact } from '../../artifact/index.ts';
import { table } from './table.ts';

export interface Route {
  readonly method: string;
  readonly path: string;
  readonly operation_id: string | undefined;
  readonly dispatcher: string;
  readonly middlewares: readonly string[];
  readonly spec: string;
  readonly deprecated: boolean;
}

export function routesOf({ routes }: Artifact): readonly Route[] {
  return routes.operations.map(({ method, path, operation_id, dispatch, middlewares, spec, deprecated }) => ({
    ...{ method, path, operation_id, dispatcher: dispatch.name, middlewares: middlewares.map(({ name }) => name) },
    ...{ spec, deprecated: deprecated === true },
  }));
}

export function renderRoutes(routes: readonly Route[]): string {
  const rows = routes.map(({ method, path, dispatcher, middlewares, operation_id, spec, deprecated }) => [
    ...[method, path, dispatcher, middlewares.join(', ') || '-', operation_id ?? '-'],
    deprecated ? `${spec} (deprecated)` : spec,
  ]);
  return table([['METHOD', 'PATH', 'DISPATCHER', 'MIDDLEWARES', 'OPERATION', 'SPEC'], ...rows]);
}
