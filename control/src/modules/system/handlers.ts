/** What the server says of itself (docs/reference/control-plane.md#operations). */
import { VERSION } from '@gw/gateway/version';
import { resource } from '../../http/resource.ts';
import { systemOperations } from './operations.ts';

export const systemResource = resource(systemOperations, () => ({
  'system.health': () => ({ status: 'healthy' as const, version: VERSION }),
}));
