/** The audit log over HTTP. */
import type { ControlPlane } from '../../control-plane.ts';
import { resource } from '../../http/resource.ts';
import { auditOperations } from './operations.ts';

export const auditResource = resource(auditOperations, ({ audit }: ControlPlane) => ({
  'audit.list': ({ actor, query }) => audit.list(actor, query),
}));
