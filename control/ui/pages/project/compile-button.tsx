/** Compiles all specs of the project together, and shows its progress. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { client } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import { FormDialog } from '../../components/dialog.tsx';
import { Check } from '../../components/field.tsx';
import { useAction } from '../../data/use-action.ts';
import { useProject } from './project-context.ts';

export function CompileButton() {
  const { project, base } = useProject();
  const { route } = useLocation();
  const [open, setOpen] = useState(false);
  const [production, setProduction] = useState(false);
  const { run, busy, error, clear } = useAction(async () => {
    const input = { params: { id: project.id }, body: { production } };
    const { id } = await client.call('compilations.compileProject', input);
    setOpen(false);
    route(`${base}/compilations/${id}`);
  });
  const close = () => {
    setOpen(false);
    clear();
  };
  if (!may('editor')) return null;
  return (
    <>
      <button type="button" class="button primary" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        Compile
      </button>
      {open && (
        <FormDialog
          title="Compile the project"
          action="Compile"
          busy={busy}
          error={error}
          onSubmit={run}
          onClose={close}
        >
          <p>All specs of {project.name}, as they are now, with its plugins and upstreams.</p>
          <Check
            label="Production build"
            hint="Stricter: warnings about unknown extensions and missing dispatchers fail it, as do plaintext upstreams. Signed where the server has a key."
            checked={production}
            onChange={setProduction}
          />
        </FormDialog>
      )}
    </>
  );
}
