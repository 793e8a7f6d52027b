/** Renders docs/error-codes.md from the table. */
import { ERROR_CODES, type ErrorCode } from './error-codes.ts';

export function renderErrorCodes(): string {
  const rows = Object.entries<ErrorCode>(ERROR_CODES).map(([code, { category, severity, production, title, hint }]) => {
    const level = production ? `${severity}; error in production builds` : severity;
    return `| ${code} | ${category} | ${level} | ${cell(title)} | ${cell(hint)} |`;
  });
  return `# Compile error codes

Generated from \`gateway/src/spec/error-codes.ts\` by \`npm run generate\`. Every diagnostic is
\`{code, severity, message, hint, file, pointer, line, column}\`: \`pointer\` is a JSON pointer into the file, \`line\` and
\`column\` count from 1. A build with an error writes no artifact; warnings do not stop it.

| Code | Category | Severity | Meaning | What to do |
|---|---|---|---|---|
${rows.join('\n')}
`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
