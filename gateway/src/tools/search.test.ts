/** The right operation among the first five for plain questions, over real API descriptions (docs/mcp.md#search). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Document, withMocks } from '../../../test/mocked-document.ts';
import { readArtifact } from '../artifact/read.ts';
import { compile } from '../compiler/index.ts';
import { loadBuiltinPlugin } from '../plugins/builtin.ts';
import { indexedTool, ToolIndex } from './search.ts';

/** Of 53. */
const LEAST = 51;
const folder = process.env['GW_DOCUMENTS'] ?? '';

const QUESTIONS: readonly (readonly [file: string, questions: readonly (readonly [string, string])[]])[] = [
  [
    'github.json',
    [
      ['open a new issue in a repository', 'issues/create'],
      ['add labels to an issue', 'issues/add-labels'],
      ['how do I lock the conversation of an issue', 'issues/lock'],
      ['merge a pull request', 'pulls/merge'],
      ['open a pull request', 'pulls/create'],
      ['which commits are in this pull request', 'pulls/list-commits'],
      ['cancel a workflow run', 'actions/cancel-workflow-run'],
      ['fork a repository', 'repos/create-fork'],
      ['show the readme of a repository', 'repos/get-readme'],
      ['list releases', 'repos/list-releases'],
      ['invite a collaborator to a repository', 'repos/add-collaborator'],
      ['who has starred this repository', 'activity/list-stargazers-for-repo'],
      ['what is my rate limit', 'rate-limit/get'],
      ['block a user in an organization', 'orgs/block-user'],
      ['create a webhook for a repository', 'repos/create-webhook'],
      ['secrets that were found by secret scanning in a repository', 'secret-scanning/list-alerts-for-repo'],
      ['make a gist', 'gists/create'],
      ['create a team', 'teams/create'],
      ['delete a branch', 'git/delete-ref'],
      ['who am I', 'users/get-authenticated'],
      ['list pull requests of a repository', 'pulls/list'],
    ],
  ],
  [
    'stripe.json',
    [
      ['create a customer', 'PostCustomers'],
      ['refund a payment', 'PostRefunds'],
      ['cancel a payment intent', 'PostPaymentIntentsIntentCancel'],
      ['capture a payment intent', 'PostPaymentIntentsIntentCapture'],
      ['void an invoice', 'PostInvoicesInvoiceVoid'],
      ['send an invoice to the customer', 'PostInvoicesInvoiceSend'],
      ['what is my current balance', 'GetBalance'],
      ['start a subscription', 'PostSubscriptions'],
      ['cancel a subscription', 'DeleteSubscriptionsSubscriptionExposedId'],
      ['create a coupon', 'PostCoupons'],
      ['list all disputes', 'GetDisputes'],
      ['create a payment link', 'PostPaymentLinks'],
      ['make a new tax rate', 'PostTaxRates'],
    ],
  ],
  [
    'slack.json',
    [
      ['send a message to a channel', 'chat_postMessage'],
      ['schedule a message for later', 'chat_scheduleMessage'],
      ['delete a message', 'chat_delete'],
      ['create a channel', 'conversations_create'],
      ['invite users to a channel', 'conversations_invite'],
      ['rename a channel', 'conversations_rename'],
      ['add a reaction to a message', 'reactions_add'],
      ['upload a file', 'files_upload'],
      ['find a user by email', 'users_lookupByEmail'],
      ['pin an item to a channel', 'pins_add'],
    ],
  ],
  [
    'digitalocean.json',
    [
      ['create a droplet', 'droplets_create'],
      ['list all droplets', 'droplets_list'],
      ['create a kubernetes cluster', 'kubernetes_create_cluster'],
      ['download the kubeconfig of a cluster', 'kubernetes_get_kubeconfig'],
      ['add a user to a database cluster', 'databases_add_user'],
      ['list backups of a database', 'databases_list_backups'],
      ['create a load balancer', 'loadBalancers_create'],
      ['add a dns record to a domain', 'domains_create_record'],
      ['create a firewall', 'firewalls_create'],
    ],
  ],
];

async function indexOf(file: string) {
  const document: Document = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  withMocks(document);
  const bytes = Buffer.from(JSON.stringify({ ...document, 'x-gw-mcp': { enabled: true, search: 40 } }));
  const project = { specs: [file], files: [{ name: file, bytes }], plugins: [loadBuiltinPlugin('mock')], flags: {} };
  const result = await compile(project, { loadsPlugins: false });
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics.slice(0, 3)));
  const { tools, routes } = await readArtifact(result.artifact);
  expect(tools?.search).toBe(true);
  const served = (tools?.tools ?? []).flatMap((tool) => {
    const operation = routes.operations[tool.operation];
    return operation ? [{ tool, operation }] : [];
  });
  const ids = new Map(served.map(({ tool, operation }) => [tool.name, operation.operation_id]));
  return {
    index: new ToolIndex(served.map(({ tool, operation }) => indexedTool(tool, operation))),
    ids,
    count: served.length,
  };
}

describe.skipIf(folder === '')('53 plain questions (needs GW_DOCUMENTS)', () => {
  it('find the right operation among the first five', { timeout: 120_000 }, async () => {
    const missed: string[] = [];
    let [asked, first] = [0, 0];
    for (const [file, questions] of QUESTIONS) {
      const { index, ids, count } = await indexOf(file);
      const places = questions.map(([question, wanted]) => {
        const found = index.search(question, 5).map((name) => ids.get(name));
        if (!found.includes(wanted)) missed.push(`${question}: ${wanted} is not in ${found.join(', ')}`);
        return found.indexOf(wanted);
      });
      const good = places.filter((place) => place >= 0).length;
      console.log(`${file}: ${count} tools, ${good} of ${questions.length} among the first five`);
      asked += questions.length;
      first += places.filter((place) => place === 0).length;
    }
    console.log(`${asked - missed.length} of ${asked} among the first five, ${first} first\n${missed.join('\n')}`);
    expect(asked).toBe(53);
    expect(asked - missed.length, missed.join('\n')).toBeGreaterThanOrEqual(LEAST);
  });
});

it('nothing is found for words that are nowhere, nor for none', () => {
  const index = new ToolIndex([]);
  expect([index.search('anything', 5), index.search('', 5)]).toEqual([[], []]);
});
