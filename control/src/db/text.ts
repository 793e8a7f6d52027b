/** Text in queries. */

/** Pattern of LIKE for what contains the text, whatever characters it has. */
export function containing(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
}
