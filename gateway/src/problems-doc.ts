/** docs/problems.md, from the table of problem documents. */
import { PROBLEM_PREFIX, PROBLEMS } from './problems.ts';

export function renderProblems(): string {
  const rows = Object.entries(PROBLEMS).map(
    ([name, { status, title, when }]) => `| ${status} | \`${PROBLEM_PREFIX}${name}\` | ${title} | ${when} |`,
  );
  return `# Problem documents

Generated from the table in the gateway. Every refusal of the gateway and of its plugins is an RFC 9457 problem document, \`application/problem+json\`, with \`type\`, \`title\`, \`status\` and mostly \`detail\`. With \`--dev\`, validation failures also have \`errors\`: where (\`in\`, \`field\`) and why (\`reason\`); refusals of \`waf\` have \`rules\`: \`id\`, \`msg\` and \`variable\` of those that matched.

| status | type | title | when |
|---|---|---|---|
${rows.sort().join('\n')}
`;
}
