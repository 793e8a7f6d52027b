/** The audit log over HTTP. */
import { resource } from '../../http/resource.ts';
import { auditOperations } from './operations.ts';
import type { Audit } from './service.ts';

export const auditResource = resource(auditOperations, ({ audit }: { readonly audit: Audit }) => ({
  'audit.list': ({ actor, query }) => audit.list(actor, query),
}));
