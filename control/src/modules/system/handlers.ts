/** Handlers of the server's own operations (docs/reference/control-plane.md#operations). */
import { VERSION } from '@gw/gateway/version';
import { resource } from '../../http/resource.ts';
import { systemOperations } from './operations.ts';

export const systemResource = resource(systemOperations, () => ({
  'system.health': () => ({ status: 'healthy' as const, version: VERSION }),
}));
