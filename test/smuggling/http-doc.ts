/** docs/http.md, from the cases of the suite and the differences from nginx. */
import { CASES } from './cases.ts';
import { DIFFERENCES } from './nginx-differences.ts';

const REFUSED = /^\d{3}$/;

export function renderHttpDoc(): string {
  const rows = DIFFERENCES.flatMap(({ cases, answers, why }) =>
    cases.map((name) => {
      const found = CASES.find((each) => each.name === name);
      if (!found) throw new Error(`nginx-differences.ts names ${name}, which is no case`);
      const { rfc, answers: ours } = found;
      return `| ${cell(name)} | ${rfc} | ${shown(ours)} | ${shown(answers)} | ${cell(why)} |`;
    }),
  );
  return `# Requests that are malformed or ambiguous

Generated from the suite in \`test/smuggling\`, which sends ${CASES.length} requests as bytes to \`gw serve\` and to nginx 1.22, each before an upstream that keeps what it gets. In ${CASES.length - rows.length} of them both do the same.

The gateway answers a malformed request with a 400 problem document (\`urn:gw:error:malformed-request\`) and closes the connection; no byte behind it is taken for a request. Nothing of it reaches a plugin or an upstream, and upstreams get a request that the gateway writes, never the client's bytes. Requests on one connection are served one after another, in their order.

Where nginx differs, \`served\` means that the request was passed on, and \`goes on\` that the connection was kept:

| request | RFC, section | gw | nginx | why |
|---|---|---|---|---|
${rows.join('\n')}
`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function shown(answers: readonly string[]): string {
  if (answers.length === 0) return 'closes';
  const [first = '', ...rest] = answers;
  const what = REFUSED.test(first) ? first : first.startsWith('not') ? 'served without a head' : 'served';
  return rest.length > 0 && rest.at(-1)?.startsWith('GET') ? `${what}, goes on` : what;
}
