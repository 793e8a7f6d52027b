/** The server's own operations (docs/reference/control-plane.md#operations). */
import { operations } from '../../api/operation.ts';
import { Health } from './schemas.ts';

export const systemOperations = operations({
  'system.health': {
    tag: 'System',
    summary: 'Ask whether the server lives',
    method: 'GET',
    path: '/health',
    open: true,
    answers: { 200: Health },
  },
});
