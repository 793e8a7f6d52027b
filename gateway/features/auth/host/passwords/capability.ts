/** `host_password_verify`: users and passwords that never enter a plugin's memory. */

import { type CredentialEntry, Crowded, capability, messageOf, networkOf, PluginLoadError } from '../../../kit.ts';
import { markedTable } from '../marked-table.ts';
import { passwordHash } from './password-hash.ts';
import { PasswordTable } from './password-table.ts';

/** Too many passwords wait to be verified: the plugin decides how to answer. */
const BUSY = -2;
/** Cost of the digests of a verification, in instructions. */
const DIGESTS = 3_000;
/** The queue is short: a verification that does not start in this time has failed. */
const DEADLINE_MS = 60_000;

export const passwords = capability({
  bind: (_, config) => config.credentials('password', passwordTable),
  functions: {
    host_password_verify: {
      signature: 'iiiiii:i',
      parameters: '(table, len, name, len, password, len) -> index',
      meaning:
        'the entry of the config table at JSON pointer `table` (marked `x-gw-credentials` with kind `password`) with this name and password, or -1; -2 if too many verifications are waiting, and this client holds its share of them. An unknown name takes as long as a known one',
      waits: true,
      declared: true,
      make:
        (call, { bound }) =>
        (table, tableLength, name, nameLength, password, passwordLength) => {
          const exchange = call.request();
          const { memory } = call;
          const users = markedTable(
            call,
            bound(),
            [table, tableLength],
            ['host_password_verify', 'table of passwords'],
          );
          call.burn(DIGESTS);
          call.charge(nameLength + passwordLength);
          const found = users.verify(
            memory.text(name, nameLength),
            memory.text(password, passwordLength),
            networkOf(exchange),
          );
          return found instanceof Promise ? call.wait(found.catch(busy), DEADLINE_MS, (index) => index) : found;
        },
    },
  },
});

function busy(error: unknown): number {
  if (error instanceof Crowded) return BUSY;
  throw error;
}

function passwordTable(entries: readonly CredentialEntry[]): PasswordTable {
  return new PasswordTable(
    entries.map(({ at, property, name, secret }) => {
      try {
        return { name, hash: passwordHash(secret) };
      } catch (error) {
        throw new PluginLoadError(`${at}: ${property} ${messageOf(error)}`, { cause: error });
      }
    }),
  );
}
