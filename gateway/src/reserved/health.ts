/**
 * Answers of both ports' health endpoints about an artifact (docs/reference/gateway.md#reserved-endpoints,
 * docs/reference/gateway.md#admin-port).
 */
import { type Manifest, VERSION_FIELD } from '../artifact/format.ts';

export interface Health {
  readonly status: 'healthy';
  readonly artifact_version: number;
  readonly compiler_version: string;
  readonly routes_count: number;
}

export function healthOf(manifest: Manifest): Health {
  return {
    status: 'healthy',
    artifact_version: manifest[VERSION_FIELD],
    compiler_version: manifest.compiler_version,
    routes_count: manifest.routes_count,
  };
}
