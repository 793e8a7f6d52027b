/** The table of values in a chart's README. */
import type { Value } from './values-file.ts';

export function valuesTable(values: readonly Value[]): string {
  return ['| value | default | meaning |', '|---|---|---|', ...values.flatMap(rows)].join('\n');
}

/** A map whose members are values has a row for what it is about, where a comment says that. */
function rows({ path, default: fallback, description, annotation, values }: Value): readonly string[] {
  if (values.length > 0) {
    const heading = description === '' ? [] : [`| \`${path}\` | | ${cell(description)} |`];
    return [...heading, ...values.flatMap(rows)];
  }
  const choices = typeof annotation === 'object' && Array.isArray(annotation['enum']) ? annotation['enum'] : [];
  const named = choices.filter((choice) => choice !== '').map((choice) => `\`${choice}\``);
  const oneOf = named.length > 0 ? ` One of ${named.join(', ')}.` : '';
  const shown = fallback === null ? '' : `\`${JSON.stringify(fallback)}\``;
  return [`| \`${path}\` | ${shown} | ${cell(description + oneOf)} |`];
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
