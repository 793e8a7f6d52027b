/** `host_directory_open` and `host_directory_verify`: names and passwords that a directory knows (LDAP). */

import type { Call } from '../../wasm/call.ts';
import { HostCallError } from '../../wasm/failures.ts';
import type { HostFunctions } from '../../wasm/host/host-function.ts';
import { DirectoryUnavailable } from './connection.ts';
import type { DirectoryUser, Verdict } from './directory.ts';

const VERIFIED = 0;
const REJECTED = 1;
/** The plugin decides what that means for the request. */
const UNAVAILABLE = 2;

/** What the digests of a verification cost, in instructions. */
const DIGESTS = 10_000;
/** Each operation has its own time-out, which is shorter. */
const DEADLINE_MS = 300_000;

export const directoryFunctions: HostFunctions = {
  host_directory_open: {
    signature: ':i',
    declared: true,
    make: (call) => () => {
      if (call.hook !== 'init') throw new HostCallError('host_directory_open is for init');
      const { config, services } = call.binding;
      config.directory ??= services.directories.open(config.whole);
      return 0;
    },
  },
  host_directory_verify: {
    signature: 'iiii:i',
    waits: true,
    declared: true,
    make: (call) => (name, nameLength, password, passwordLength) => {
      call.request();
      const { directory } = call.binding.config;
      if (directory === null) throw new HostCallError('host_directory_verify: call host_directory_open in init');
      call.burn(DIGESTS);
      call.charge(nameLength + passwordLength);
      call.directoryUser = null;
      const verdict = directory.verify(call.memory.text(name, nameLength), call.memory.text(password, passwordLength));
      if (!(verdict instanceof Promise)) return told(call, verdict);
      const settled = verdict.catch((error: unknown) => away(call, error));
      return call.wait(settled, DEADLINE_MS, (each) => (each === null ? UNAVAILABLE : told(call, each)));
    },
  },
  directory_user_get: {
    signature: 'iii:i',
    make: (call) => (field, buf, cap) => {
      const { dn, consumer } = userOf(call);
      return call.memory.writeText(field === 0 ? dn : field === 1 ? consumer : undefined, buf, cap);
    },
  },
  directory_group_count: { signature: ':i', make: (call) => () => userOf(call).groups.length },
  directory_group_get: {
    signature: 'iii:i',
    make: (call) => (index, buf, cap) => call.memory.writeText(userOf(call).groups[index], buf, cap),
  },
};

function userOf(call: Call): DirectoryUser {
  if (call.directoryUser === null) throw new HostCallError('nobody is verified: call host_directory_verify first');
  return call.directoryUser;
}

function told(call: Call, { user }: Verdict): number {
  call.directoryUser = user;
  return user === null ? REJECTED : VERIFIED;
}

/** What is wrong is in the log once; which requests it concerned, at level debug. */
function away(call: Call, error: unknown): null {
  if (!(error instanceof DirectoryUnavailable)) throw error;
  const { services, name } = call.binding;
  services.log('debug', name, `the directory cannot be asked: ${error.message}`, call.exchange);
  return null;
}
