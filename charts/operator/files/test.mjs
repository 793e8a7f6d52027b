// What `helm test` asks of the cluster: that a replica leads, that the kinds are served, and that what is wrong is
// refused by the webhook, on the way that every `kubectl apply` takes.
import { readFileSync } from 'node:fs';
import { request } from 'node:https';

const { NAMESPACE: namespace, WEBHOOK: webhook, KUBERNETES_SERVICE_HOST: host } = process.env;
const { KUBERNETES_SERVICE_PORT: port = '443', OBJECTS: objects } = process.env;
const account = '/var/run/secrets/kubernetes.io/serviceaccount';
const read = (name) => readFileSync(`${account}/${name}`, 'utf8');
const kinds = ['gatewayprojects', 'apispecs', 'pluginrefs', 'deployments'];
/** Milliseconds that there is for all of it: the operator may have started a moment ago. */
const deadline = Date.now() + 60_000;

function ask(method, path, body) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${read('token')}`, 'content-type': 'application/json' };
    const sent = request({ host, port, method, path, headers, ca: read('ca.crt'), timeout: 20_000 }, async (answer) => {
      let text = '';
      for await (const chunk of answer) text += chunk;
      try {
        resolve({ status: answer.statusCode, body: JSON.parse(text) });
      } catch {
        resolve({ status: answer.statusCode, body: { message: text } });
      }
    });
    sent.on('error', reject);
    sent.on('timeout', () => sent.destroy(new Error('no answer within 20 s')));
    sent.end(body && JSON.stringify(body));
  });
}

/** Throws what is wrong, as words. */
const checks = {
  async 'the kinds of gw.dev are served'() {
    const { status, body } = await ask('GET', '/apis/gw.dev/v1alpha1');
    const served = (body.resources ?? []).map(({ name }) => name);
    const missing = kinds.filter((kind) => !served.includes(kind));
    if (missing.length > 0) throw new Error(`${missing.join(', ')} missing (status ${status}): install the CRDs`);
  },
  async 'a replica of the operator leads'() {
    const { status, body } = await ask('GET', `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/gw-operator`);
    const { holderIdentity, renewTime } = body.spec ?? {};
    if (!holderIdentity) throw new Error(`the Lease gw-operator has no holder (status ${status}): look at the pods' logs`);
    if (Date.now() - Date.parse(renewTime) > 30_000) throw new Error(`${holderIdentity} last renewed it at ${renewTime}`);
  },
  async 'the webhook refuses what is wrong'() {
    if (webhook !== 'true') return;
    const wrong = {
      apiVersion: 'gw.dev/v1alpha1',
      kind: 'ApiSpec',
      metadata: { name: 'helm-test-of-the-webhook' },
      spec: { source: { inline: 'this is no document\n' } },
    };
    const path = `/apis/gw.dev/v1alpha1/namespaces/${objects}/apispecs?dryRun=All`;
    const { status, body } = await ask('POST', path, wrong);
    if (!/admission webhook "[a-z.]*gw\.dev" denied/.test(body.message ?? ''))
      throw new Error(`an ApiSpec without a document was not refused by it (status ${status}: ${body.message ?? 'created'})`);
  },
};

for (const [title, check] of Object.entries(checks)) {
  for (;;) {
    try {
      await check();
      console.log(`ok: ${title}`);
      break;
    } catch (error) {
      if (Date.now() > deadline) {
        console.error(`failed: ${title}: ${error.message}`);
        process.exit(1);
      }
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }
}
