/** Results for programs: `--format json` and `--format yaml` of every command line. */

/** Formats that programs read. */
export const DATA_FORMATS = ['json', 'yaml'] as const;

/** The value in a format for programs; null for a format for people. The YAML writer is loaded if it is needed. */
export async function structured(format: string, value: unknown): Promise<string | null> {
  if (format === 'json') return `${JSON.stringify(value)}\n`;
  if (format !== 'yaml') return null;
  const { stringify } = await import('./write-yaml.ts');
  // As JSON would have it: without members that are undefined.
  return stringify(JSON.parse(JSON.stringify(value)), { lineWidth: 0 });
}
