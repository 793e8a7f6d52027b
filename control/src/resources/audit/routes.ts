/** The audit log over HTTP. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { ControlPlane } from '../../control-plane.ts';
import { operation } from '../../http/operation.ts';
import { sendPage } from '../../http/pagination.ts';
import { AuditQuery } from './schemas.ts';

export function auditRoutes(app: FastifyInstance, { audit }: ControlPlane): void {
  operation(app, {
    id: 'audit.list',
    tag: 'Access',
    summary: 'Read the audit log',
    description:
      'Every change: who made it, when, and what was before and after. Needs the role `admin`; an admin of one project sees what belongs to it.',
    method: 'GET',
    url: '/audit',
    query: AuditQuery,
    answers: { 200: Type.Array(Type.Ref('AuditEntry#')) },
    problems: ['not-found'],
    handle: async ({ actor, query, request, reply }) => sendPage(request, reply, await audit.list(actor, query)),
  });
}
