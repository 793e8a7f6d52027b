/** Operations of API tokens, and of the caller's identity. */
import { operations } from '../../api/operation.ts';
import { ArrayOf, Closed, Uuid } from '../../api/schema-types.ts';
import { Identity, NewToken, Token, TokenInput, TokenQuery } from './schemas.ts';

const TokenParams = Closed({ id: Uuid('Of the token.') });
const tag = 'Access';

export const tokenOperations = operations({
  'tokens.list': {
    tag,
    summary: 'List API tokens',
    description: 'Without the tokens themselves; those that were revoked, too. Needs the role `admin`.',
    method: 'GET',
    path: '/tokens',
    query: TokenQuery,
    answers: { 200: ArrayOf(Token) },
  },
  'tokens.create': {
    tag,
    summary: 'Create an API token',
    description:
      'Needs the role `admin`, of all projects or of that of the token. The token is in this answer only. An Idempotency-Key is refused (400): an answer that holds a secret is not kept.',
    method: 'POST',
    path: '/tokens',
    body: TokenInput,
    answers: { 201: NewToken },
    problems: ['not-found', 'conflict'],
  },
  'tokens.revoke': {
    tag,
    summary: 'Revoke an API token',
    description: 'At once; event streams that are open with it end. Needs the role `admin`.',
    method: 'DELETE',
    path: '/tokens/{id}',
    params: TokenParams,
    answers: { 204: { description: 'It opens nothing any more', types: [] } },
    problems: ['not-found'],
  },
  'tokens.whoami': {
    tag,
    summary: 'Ask who the caller is',
    method: 'GET',
    path: '/whoami',
    answers: { 200: Identity },
  },
});
