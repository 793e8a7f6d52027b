/** Plain questions about excerpts of three public APIs find the right operation (docs/mcp.md#search). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type IndexedTool, ToolIndex } from './search.ts';
import { stem } from './words.ts';

type Row = readonly [id: string, route: string, tag: string, summary: string, description: string];

const EXCERPTS: Readonly<Record<string, readonly Row[]>> = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../test/fixtures/search/operations.json'), 'utf8'),
);

function indexOf(api: string): ToolIndex {
  const tools = (EXCERPTS[api] ?? []).map(([id, route, group, title, description]): IndexedTool => {
    const [method = '', path = ''] = route.split(' ');
    return { name: id, id, title, description, group, method, path, input: {} };
  });
  return new ToolIndex(tools);
}

const INDEXES = { github: indexOf('github'), stripe: indexOf('stripe'), slack: indexOf('slack') };

it.each([
  ['github', 'delete a branch', 'git/delete-ref'],
  ['github', 'who am I', 'users/get-authenticated'],
  ['github', 'get my profile', 'users/get-authenticated'],
  ['github', 'list pull requests of a repository', 'pulls/list'],
  ['github', 'open a new issue in a repository', 'issues/create'],
  ['github', 'close an issue', 'issues/update'],
  ['github', 'merge a pull request', 'pulls/merge'],
  ['github', 'which commits are in this pull request', 'pulls/list-commits'],
  ['github', 'list branches', 'repos/list-branches'],
  ['github', 'rerun a failed workflow', 'actions/re-run-workflow-failed-jobs'],
  ['github', 'remove a member from an organization', 'orgs/remove-member'],
  ['github', 'delete a repository', 'repos/delete'],
  ['github', 'star a repository', 'activity/star-repo-for-authenticated-user'],
  ['github', 'list my repositories', 'repos/list-for-authenticated-user'],
  ['github', 'Deleting branches', 'git/delete-ref'],
  ['stripe', 'create a customer', 'PostCustomers'],
  ['stripe', 'change a customer', 'PostCustomersCustomer'],
  ['stripe', 'delete a customer', 'DeleteCustomersCustomer'],
  ['stripe', 'list payouts', 'GetPayouts'],
  ['stripe', 'what is my current balance', 'GetBalance'],
  ['stripe', 'void an invoice', 'PostInvoicesInvoiceVoid'],
  ['stripe', 'who am I', 'GetAccount'],
  ['slack', 'send a message to a channel', 'chat_postMessage'],
  ['slack', 'delete a message', 'chat_delete'],
  ['slack', 'edit a message', 'chat_update'],
  ['slack', 'kick someone out of a channel', 'conversations_kick'],
  ['slack', 'list users', 'users_list'],
  ['slack', 'remove a reaction', 'reactions_remove'],
] as const)('of %s, %j is among the first three', (api, question, wanted) => {
  expect(INDEXES[api].search(question, 3)).toContain(wanted);
});

it.each([
  ['delete', 'deleting deletes deleted'],
  ['create', 'creates created creating creation'],
  ['authenticate', 'authenticated authentication authenticates'],
  ['ship', 'shipped shipping ships'],
  ['cancel', 'cancels canceled cancelled'],
  ['repository', 'repositories'],
  ['branch', 'branches'],
  ['address', 'addresses'],
  ['process', 'processes processed'],
  ['status', 'status'],
  ['star', 'starred starring stars'],
])('%s is one word in all its forms', (word, forms) => {
  expect(forms.split(' ').map(stem)).toEqual(forms.split(' ').map(() => stem(word)));
});

it('tells words apart that only look alike', () => {
  for (const [one, other] of [
    ['string', 'stre'],
    ['red', 'r'],
    ['bus', 'bu'],
    ['process', 'proce'],
    ['king', 'k'],
    ['user', 'use'],
  ] as const) {
    expect([one, stem(one)]).not.toEqual([one, stem(other)]);
  }
});

it('finds a tool by the words of one that the caller is not told of, and not that one', () => {
  const found = INDEXES.github.search('delete a repository', 5, (name) => name !== 'repos/delete');
  expect(found).toHaveLength(5);
  expect(found).not.toContain('repos/delete');
});

it('takes words without an end, and nothing of what is no word', () => {
  expect(INDEXES.slack.search('ed'.repeat(200), 5)).toEqual([]);
  expect(INDEXES.slack.search('__proto__ constructor', 5)).not.toContain(undefined);
  expect(INDEXES.slack.search('?!… ', 5)).toEqual([]);
});
