/** Asks for a token, and goes on with one that this tab has. */
import { useState } from 'preact/hooks';
import { ApiError } from '../../src/client/api-error.ts';
import { client } from '../api/client.ts';
import { describeError } from '../api/describe-error.ts';
import { expired, identity, signIn, signOut, token } from '../api/session.ts';
import { Field } from '../components/field.tsx';
import { useTitle } from '../components/page-head.tsx';
import { Problem } from '../components/problem.tsx';
import { useAction } from '../data/use-action.ts';
import { announce } from '../shell/announcer.tsx';

export function SignIn() {
  useTitle('Sign in');
  const [given, setGiven] = useState('');
  const { run, busy, error } = useAction(async () => {
    const text = given.trim();
    const headers = { authorization: `Bearer ${text}` };
    signIn(text, await client.call('tokens.whoami', {}, { headers }));
  });
  return (
    <main id="main" class="sign-in" tabIndex={-1}>
      <h1>Sign in</h1>
      <p class="muted">
        With the admin token of the server, or an API token that someone made for you. It stays in this tab until you
        close it or sign out.
      </p>
      {expired.value && (
        <p class="notice warning" role="alert">
          {expired.value}
        </p>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          run();
        }}
      >
        <Field label="Token" type="password" value={given} onInput={setGiven} required autofocus />
        <Problem error={error} />
        <button type="submit" class="button primary" aria-disabled={busy}>
          {busy ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
    </main>
  );
}

/** After the page was loaded anew: asks whose the token of this tab is. */
export async function resume(): Promise<void> {
  if (token.value === null) return;
  try {
    identity.value = await client.call('tokens.whoami');
  } catch (error) {
    // Of 401 the client has ended the session.
    if (error instanceof ApiError && error.status === 401) return;
    signOut();
    announce(describeError(error).detail);
  }
}
