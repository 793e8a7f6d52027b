/** `host_directory_open` and `host_directory_verify`: names and passwords that a directory knows (LDAP). */

import {
  type Call,
  type CallState,
  capability,
  HostCallError,
  InitSlot,
  networkOf,
  OPENER,
  overloadedIfCrowded,
} from '../../../kit.ts';
import { DirectoryUnavailable } from './connection.ts';
import { Directories } from './directories.ts';
import type { Directory } from './directory.ts';
import type { DirectoryUser, Verdict } from './verified-credentials.ts';

const VERIFIED = 0;
const REJECTED = 1;
/** The plugin decides how to answer then. */
const UNAVAILABLE = 2;

/** Cost of the digests of a verification, in instructions. */
const DIGESTS = 10_000;
/** Each operation has its own time-out, which is shorter. */
const DEADLINE_MS = 300_000;

/** The user that the call has verified. */
class LastUser implements CallState {
  user: DirectoryUser | null = null;

  end(): void {
    this.user = null;
  }
}

export const directory = capability({
  open: ({ guard, state }) => ({ guard, cache: state.cache }),
  load: (process, artifact) => new Directories({ ...process, ...artifact }),
  bind: () => new InitSlot<Directory>('host_directory_open'),
  call: () => new LastUser(),
  close: (directories) => directories.close(),
  functions: {
    host_directory_open: {
      ...OPENER,
      meaning:
        'in `init`: opens the directory that the whole config describes, with the properties of `ldap-auth`; unusable settings reject the config',
      make:
        (call, { loaded, bound }) =>
        () =>
          bound().open(call, ({ config, name }) => loaded.open(config.whole, name)),
    },
    host_directory_verify: {
      signature: 'iiii:i',
      parameters: '(name, len, password, len) -> result',
      meaning: 'asks the directory: 0 verified, 1 rejected, 2 it cannot be reached (the reason is in the log)',
      waits: true,
      declared: true,
      make:
        (call, { bound, state }) =>
        (name, nameLength, password, passwordLength) => {
          const exchange = call.request();
          const directory = bound().get('host_directory_verify');
          call.burn(DIGESTS);
          call.charge(nameLength + passwordLength);
          state.user = null;
          const verdict = directory.verify(
            call.memory.text(name, nameLength),
            call.memory.text(password, passwordLength),
            networkOf(exchange),
          );
          if (!(verdict instanceof Promise)) return told(state, verdict);
          const settled = verdict.catch((error: unknown) => away(call, error));
          return call.wait(settled, DEADLINE_MS, (each) => (each === null ? UNAVAILABLE : told(state, each)));
        },
    },
    directory_user_get: {
      signature: 'iii:i',
      parameters: '(field, buf, cap) -> len',
      meaning: 'after `host_directory_verify` returned 0: 0 distinguished name, 1 consumer',
      make:
        (call, { state }) =>
        (field, buf, cap) => {
          const { dn, consumer } = userOf(state);
          return call.memory.writeText(field === 0 ? dn : field === 1 ? consumer : undefined, buf, cap);
        },
    },
    directory_group_count: {
      signature: ':i',
      parameters: '() -> n',
      meaning: "number of the user's groups",
      make:
        (_, { state }) =>
        () =>
          userOf(state).groups.length,
    },
    directory_group_get: {
      signature: 'iii:i',
      parameters: '(index, buf, cap) -> len',
      meaning: "the user's groups by name",
      make:
        (call, { state }) =>
        (index, buf, cap) =>
          call.memory.writeText(userOf(state).groups[index], buf, cap),
    },
  },
});

function userOf({ user }: LastUser): DirectoryUser {
  if (user === null) throw new HostCallError('nobody is verified: call host_directory_verify first');
  return user;
}

function told(last: LastUser, { user }: Verdict): number {
  last.user = user;
  return user === null ? REJECTED : VERIFIED;
}

/** An outage is logged once; the requests that it affects, at level debug. */
function away(call: Call, error: unknown): null {
  if (!(error instanceof DirectoryUnavailable)) throw overloadedIfCrowded(error);
  const { services, name } = call.binding;
  services.log('debug', name, `the directory cannot be queried: ${error.message}`, call.exchange);
  return null;
}
