/** The operator's chart: rights, arguments, webhooks, CustomResourceDefinitions. */
import { describe, expect, it } from 'vitest';
import {
  CERTIFICATE_RULES,
  CLUSTER_RULES,
  EDIT_RULES,
  LINK_CLUSTER_RULES,
  LINK_RULES,
  OWN_RULES,
  RULES,
  type Rule,
  VIEW_RULES,
  WEBHOOK_PATH_RULES,
  WEBHOOK_RULES,
} from '../../operator/src/install/rbac.ts';
import { execute } from '../e2e/kubectl.ts';
import { GW_OPERATOR } from '../programs/gw-operator.ts';
import { at, fromValues, hasHelm, type Manifest, ofKind, render, valuesFiles, withoutHelm } from './helm.ts';

const set = (...values: readonly string[]) => values.flatMap((value) => ['--set', value]);
const operator = (...values: readonly string[]) => render('operator', ...set(...values));

/** Whether it is aggregated to a ClusterRole of users. */
function isForUsers(role: Manifest): boolean {
  return Object.keys(Object(at(role, 'metadata.labels'))).some((name) => name.includes('/aggregate-to-'));
}

/** Rules of the operator's roles of a kind, without those of `helm test`. */
function rulesOf(objects: readonly Manifest[], kind: string): readonly unknown[] {
  return ofKind(objects, kind)
    .filter((role) => at(role, 'metadata.annotations') === undefined && !isForUsers(role))
    .map((role) => role['rules']);
}

function argumentsOf(objects: readonly Manifest[]): readonly string[] {
  const args = at(ofKind(objects, 'Deployment')[0], 'spec.template.spec.containers.0.args');
  return Array.isArray(args) ? args : [];
}

function webhooksOf(objects: readonly Manifest[], kind: string): readonly Manifest[] {
  const webhooks = ofKind(objects, kind)[0]?.['webhooks'];
  return Array.isArray(webhooks) ? webhooks : [];
}

describe.skipIf(!hasHelm)(`the operator's chart${withoutHelm}`, () => {
  it('gives the rights of the list and no others', async () => {
    const plain = (rules: readonly Rule[]) => rules.map(({ why: _, ...rule }) => rule);
    const named = WEBHOOK_RULES.map(({ why: _, ...rule }) => ({ ...rule, resourceNames: ['gw-operator.gw-system'] }));
    const own = [...OWN_RULES, ...CERTIFICATE_RULES, ...WEBHOOK_PATH_RULES, ...LINK_RULES];
    const everywhere = await operator();
    expect(rulesOf(everywhere, 'ClusterRole')).toEqual([
      [...plain([...RULES, ...CLUSTER_RULES, ...LINK_CLUSTER_RULES]), ...named],
    ]);
    expect(rulesOf(everywhere, 'Role')).toEqual([plain(own)]);
    const two = await operator('watchNamespaces={a,b}');
    expect(rulesOf(two, 'ClusterRole')).toEqual([[...plain(LINK_CLUSTER_RULES), ...named]]);
    expect(rulesOf(two, 'Role')).toEqual([plain(own), plain(RULES), plain(RULES)]);
    const least = ['watchNamespaces={a}', 'webhooks.certManager.enabled=true', 'link.enabled=false'];
    expect(rulesOf(await operator(...least), 'ClusterRole')).toEqual([named]);
    expect(rulesOf(await operator(...least), 'Role')).toEqual([
      plain([...OWN_RULES, ...WEBHOOK_PATH_RULES]),
      plain(RULES),
    ]);
    expect(rulesOf(await operator(...least, 'webhooks.enabled=false'), 'ClusterRole')).toEqual([]);
  });

  it.each(valuesFiles('operator'))('passes with %s no argument that the program does not know', async (file) => {
    const known = await execute(process.execPath, [GW_OPERATOR, 'run', '--help']);
    const options = argumentsOf(await render('operator', ...fromValues('operator', file))).filter((each) =>
      each.startsWith('--'),
    );
    expect(options.length).toBeGreaterThan(0);
    for (const option of options) expect(known).toMatch(new RegExp(`${option}\\b`));
  });

  it('sends pods that ask for a sidecar to the webhook, each to one, and never its own or those that refuse', async () => {
    const asks = (webhook: Manifest, pod: string | undefined, namespace: string | undefined, name: string) =>
      matches(at(webhook, 'objectSelector'), { 'gw.dev/sidecar': pod }) &&
      matches(at(webhook, 'namespaceSelector'), { 'gw.dev/sidecar': namespace, 'kubernetes.io/metadata.name': name });
    const webhooks = webhooksOf(await operator(), 'MutatingWebhookConfiguration');
    const count = (...given: readonly [string | undefined, string | undefined, string]) =>
      webhooks.filter((webhook) => asks(webhook, ...given)).length;
    expect(count('true', undefined, 'shop')).toBe(1);
    expect(count('true', 'true', 'shop')).toBe(1);
    expect(count(undefined, 'true', 'shop')).toBe(1);
    expect(count('true', 'false', 'shop')).toBe(1);
    expect(count('false', 'true', 'shop')).toBe(0);
    expect(count(undefined, undefined, 'shop')).toBe(0);
    expect(count('true', 'true', 'gw-system')).toBe(0);
    expect(count('true', 'true', 'kube-system')).toBe(0);
    const [validating] = webhooksOf(await operator('watchNamespaces={a,b}'), 'ValidatingWebhookConfiguration');
    const watched = (name: string) =>
      matches(at(validating, 'namespaceSelector'), { 'kubernetes.io/metadata.name': name });
    expect(['a', 'b', 'c'].map(watched)).toEqual([true, true, false]);
  });

  it('looks at namespaces by name or by label, not both', async () => {
    const objects = await operator('watchNamespaceLabels.team=shop');
    const env = at(ofKind(objects, 'Deployment')[0], 'spec.template.spec.containers.0.env');
    expect(env).toContainEqual({ name: 'GW_OPERATOR_NAMESPACE_SELECTOR', value: 'team=shop' });
    const [validating] = webhooksOf(objects, 'ValidatingWebhookConfiguration');
    expect(matches(at(validating, 'namespaceSelector'), { team: 'shop' })).toBe(true);
    expect(matches(at(validating, 'namespaceSelector'), { team: 'billing' })).toBe(false);
    await expect(operator('watchNamespaceLabels.team=shop', 'watchNamespaces={a}')).rejects.toThrow('not both');
  });

  it('leaves certificates to cert-manager where that is wanted', async () => {
    const objects = await operator('webhooks.certManager.enabled=true');
    for (const kind of ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'])
      expect(at(ofKind(objects, kind)[0], 'metadata.annotations')).toEqual({
        'cert-manager.io/inject-ca-from': 'gw-system/gw-operator',
      });
    expect(argumentsOf(objects).join(' ')).toContain('--tls-dir /var/run/gw-operator/tls');
    // Their path is the operator's affair all the same.
    expect(argumentsOf(objects)).toContain('--validating-webhook');
    expect(ofKind(objects, 'Issuer')).toHaveLength(2);
    // What pods were given to check the link with outlives each renewal: an authority signs, not the certificate itself.
    const named = (name: string) => ofKind(objects, 'Certificate').find((each) => at(each, 'metadata.name') === name);
    expect(at(named('gw-operator-ca'), 'spec')).toMatchObject({ isCA: true, issuerRef: { name: 'gw-operator' } });
    expect(at(named('gw-operator'), 'spec.issuerRef.name')).toBe('gw-operator-ca');
    const theirs = await operator('webhooks.certManager.enabled=true', 'webhooks.certManager.issuerRef.name=ca');
    expect(ofKind(theirs, 'Issuer')).toEqual([]);
    expect(at(ofKind(theirs, 'Certificate')[0], 'spec.issuerRef.name')).toBe('ca');
  });

  it('lets who may view, edit or administer a namespace do so with its kinds, and nobody write status', async () => {
    const roles = ofKind(await operator(), 'ClusterRole').filter(isForUsers);
    const rulesFor = (name: string) =>
      roles
        .filter(
          (role) => Object(at(role, 'metadata.labels'))[`rbac.authorization.k8s.io/aggregate-to-${name}`] === 'true',
        )
        .flatMap((role) => (Array.isArray(role['rules']) ? role['rules'] : []));
    const plain = (rules: readonly Rule[]) => rules.map(({ why: _, ...rule }) => rule);
    expect(rulesFor('view')).toEqual(plain(VIEW_RULES));
    expect(rulesFor('edit')).toEqual(plain(EDIT_RULES));
    expect(rulesFor('admin')).toEqual(plain(EDIT_RULES));
    expect(JSON.stringify(roles)).not.toContain('status');
    expect(ofKind(await operator('rbac.aggregate=false'), 'ClusterRole').filter(isForUsers)).toEqual([]);
  });

  it('leaves the path of webhooks to the operator', async () => {
    const objects = await operator();
    for (const kind of ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'])
      for (const webhook of webhooksOf(objects, kind))
        expect(Object.keys(Object(at(webhook, 'clientConfig.service')))).not.toContain('path');
  });

  it('says how far projects may go, and that they may name the control plane beside it', async () => {
    const plain = argumentsOf(await operator()).join(' ');
    expect(plain).toContain('--egress-allow gw-control.gw-system.svc');
    expect(plain).not.toMatch(/--allow-|--template-patches|--require-secret-grants|--webhook-client-ca/);
    const args = argumentsOf(
      await operator(
        ...['egress.controlPlane=', 'policy.allowImages={registry.example.org/*}', 'policy.templatePatches=false'],
        ...['policy.allowPodFields={containers,hostNetwork}', 'policy.requireSecretGrants=true'],
        'webhooks.clientCaSecret=api-server-ca',
      ),
    ).join(' ');
    expect(args).not.toContain('--egress-allow');
    expect(args).toContain('--allow-images registry.example.org/* --allow-pod-fields containers,hostNetwork');
    expect(args).toContain('--template-patches=off --require-secret-grants');
    expect(args).toContain('--webhook-client-ca /var/run/gw-operator/client-ca/ca.crt');
  });

  it('has no listener, and no Service, where nothing is served', async () => {
    const objects = await operator('webhooks.enabled=false', 'link.enabled=false');
    expect(
      ['Service', 'ValidatingWebhookConfiguration', 'Certificate'].flatMap((kind) => ofKind(objects, kind)),
    ).toEqual([]);
    expect(rulesOf(objects, 'Role')).toEqual([OWN_RULES.map(({ why: _, ...rule }) => rule)]);
    const withoutLink = await operator('link.enabled=false');
    expect(ofKind(withoutLink, 'MutatingWebhookConfiguration')).toEqual([]);
    expect(argumentsOf(withoutLink)).not.toContain('--mutating-webhook');
  });

  it('installs the CustomResourceDefinitions, kept or not, or leaves them out', async () => {
    const policies = (objects: readonly Manifest[]) =>
      ofKind(objects, 'CustomResourceDefinition').map((object) => at(object, 'metadata.annotations'));
    expect(policies(await operator())).toEqual(Array(4).fill({ 'helm.sh/resource-policy': 'keep' }));
    expect(policies(await operator('crds.keep=false'))).toEqual(Array(4).fill(undefined));
    expect(policies(await operator('crds.install=false'))).toEqual([]);
  });

  it.each([
    'bogus=1',
    'image.tagg=x',
    'replicas=-1',
    'logLevel=loud',
    'watchNamespaces={A_b}',
    'webhooks.failurePolicy=x',
  ])('refuses %s', async (value) => {
    await expect(operator(value)).rejects.toThrow(/don't meet the specifications of the schema/);
  });
});

/** Whether labels match a selector, as the API server decides. */
function matches(selector: unknown, labels: { readonly [name: string]: string | undefined }): boolean {
  const wanted = Object.entries(Object(at(selector, 'matchLabels')));
  const expressions = at(selector, 'matchExpressions');
  return (
    wanted.every(([name, value]) => labels[name] === value) &&
    (Array.isArray(expressions) ? expressions : []).every(({ key, operator: how, values }) => {
      const among = labels[key] !== undefined && values.includes(labels[key]);
      return how === 'In' ? among : !among;
    })
  );
}
