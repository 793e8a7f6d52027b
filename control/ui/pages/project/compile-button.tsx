/** Compiles all specs of the project together, and shows its progress. */
import { useLocation } from 'preact-iso/router';
import { client } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import { DialogButton } from '../../components/dialog-button.tsx';
import { Check } from '../../components/field.tsx';
import { useProject } from './project-context.ts';

export function CompileButton() {
  const { project, base } = useProject();
  const { route } = useLocation();
  if (!may('editor')) return null;
  return (
    <DialogButton
      primary
      label="Compile"
      title="Compile the project"
      action="Compile"
      start={{ production: false }}
      act={(body) => client.call('compilations.compileProject', { params: { id: project.id }, body })}
      onDone={({ id }) => route(`${base}/compilations/${id}`)}
    >
      {({ values, set }) => (
        <>
          <p>All specs of {project.name}, as they are now, with its plugins and upstreams.</p>
          <Check
            label="Production build"
            hint="Stricter: warnings about unknown extensions and missing dispatchers fail it, as do plaintext upstreams. Signed where the server has a key."
            checked={values.production}
            onChange={(production) => set({ production })}
          />
        </>
      )}
    </DialogButton>
  );
}
