/** The audit log. */
import { operations } from '../../api/operation.ts';
import { ArrayOf } from '../../api/schema-types.ts';
import { AuditEntry, AuditQuery } from './schemas.ts';

export const auditOperations = operations({
  'audit.list': {
    tag: 'Access',
    summary: 'Read the audit log',
    description:
      'Every change: who made it, when, and what was before and after. Needs the role `admin`; an admin of one project sees what belongs to it.',
    method: 'GET',
    path: '/audit',
    query: AuditQuery,
    answers: { 200: ArrayOf(AuditEntry) },
    problems: ['not-found'],
  },
});
