/** Options of `gw-control serve` about retention (docs/decisions.md#retention). */
import { wholeNumber } from '@gw/gateway/command-line';
import { Option } from 'commander';
import type { RetentionOptions } from '../retention/retention.ts';

export interface RetentionFlags {
  readonly retentionDays: number | null;
  readonly retentionDeployed: number;
}

const MAX_DAYS = 36_500;
const days = wholeNumber(1, MAX_DAYS);

export function retentionOptionList(): readonly Option[] {
  return [
    new Option(
      '--retention-days <days>',
      'days after which artifacts and compilations go that nothing needs any more, or "never"',
    )
      .argParser((text) => (text === 'never' ? null : days(text)))
      .default(30)
      .env('GW_CONTROL_RETENTION_DAYS'),
    new Option('--retention-deployed <number>', 'artifacts of a project that were deployed last and stay all the same')
      .argParser(wholeNumber(1, 1000))
      .default(10)
      .env('GW_CONTROL_RETENTION_DEPLOYED'),
  ];
}

export const retentionOptions = ({ retentionDays, retentionDeployed }: RetentionFlags): RetentionOptions => ({
  retentionDays,
  retentionDeployed,
});
