/** What the server says of itself (docs/reference/control-plane.md#operations). */
import { VERSION } from '@gw/gateway/version';
import type { FastifyInstance } from 'fastify';
import { operation } from '../../http/operation.ts';
import { Health } from './schemas.ts';

export function systemRoutes(app: FastifyInstance): void {
  operation(app, {
    id: 'system.health',
    tag: 'System',
    summary: 'Ask whether the server lives',
    method: 'GET',
    url: '/health',
    open: true,
    answers: { 200: Health },
    handle: () => ({ status: 'healthy', version: VERSION }),
  });
}
