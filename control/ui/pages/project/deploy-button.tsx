/** Deploys an artifact, or goes back to one, and shows its progress. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { client } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import { FormDialog } from '../../components/dialog.tsx';
import { Check, Field } from '../../components/field.tsx';
import { Hash } from '../../components/values.tsx';
import { useAction } from '../../data/use-action.ts';
import { useList } from '../../data/use-list.ts';
import { useProject } from './project-context.ts';

interface DeployButtonProps {
  /** Null: what was deployed before the present artifact. */
  readonly artifactId: string | null;
  readonly hash: string;
  readonly primary?: boolean;
  readonly rollback?: boolean;
}

export function DeployButton({ artifactId, hash, primary = false, rollback = false }: DeployButtonProps) {
  const [open, setOpen] = useState(false);
  if (!may('deployer')) return null;
  return (
    <>
      <button
        type="button"
        class={primary ? 'button primary' : 'button small'}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        {rollback ? 'Roll back' : 'Deploy'}
      </button>
      {open && <DeployDialog artifactId={artifactId} hash={hash} rollback={rollback} onClose={() => setOpen(false)} />}
    </>
  );
}

interface DeployDialogProps extends DeployButtonProps {
  readonly onClose: () => void;
}

function DeployDialog({ artifactId, hash, rollback = false, onClose }: DeployDialogProps) {
  const { project, base, reload } = useProject();
  const { route } = useLocation();
  const [timeout, setTimeout] = useState('60');
  const [automatic, setAutomatic] = useState(true);
  const [percent, setPercent] = useState('50');
  const { run, busy, error } = useAction(async () => {
    const params = { id: project.id };
    const policy = {
      timeout_seconds: Number(timeout),
      rollback_threshold: automatic ? Number(percent) / 100 : null,
    };
    const body = artifactId === null ? policy : { ...policy, artifact_id: artifactId };
    const { deployment_id } =
      rollback || !('artifact_id' in body)
        ? await client.call('deployments.rollback', { params, body })
        : await client.call('deployments.deploy', { params, body });
    onClose();
    reload();
    route(`${base}/deployments/${deployment_id}`);
  });
  const history = useList('deployments.list', { params: { id: project.id } });
  const last = history.items?.find(
    ({ artifact_id, status }) => artifact_id === artifactId && ['succeeded', 'failed', 'rolled_back'].includes(status),
  );
  return (
    <FormDialog
      title={rollback ? 'Roll back?' : 'Deploy this artifact?'}
      action={rollback ? 'Roll back' : 'Deploy'}
      danger={rollback}
      busy={busy}
      error={error}
      onSubmit={run}
      onClose={onClose}
    >
      <p>
        {artifactId === null ? (
          <>What was served before, and has not failed, goes to all connected data planes of {project.name}.</>
        ) : (
          <>
            <Hash value={hash} /> goes to all connected data planes of {project.name}; those that connect later get it,
            too.
          </>
        )}
      </p>
      {artifactId !== null && last !== undefined && last.status !== 'succeeded' && (
        <p class="bad-text">
          This artifact failed when it was deployed before{last.reason === null ? '' : `: ${last.reason}`}.
        </p>
      )}
      <Field
        label="Seconds to wait for data planes"
        type="number"
        value={timeout}
        onInput={setTimeout}
        required
        min={1}
        max={3600}
      />
      <Check label="Roll back by itself when data planes refuse it" checked={automatic} onChange={setAutomatic} />
      {automatic && (
        <Field
          label="When more than this percentage of them refuses"
          type="number"
          value={percent}
          onInput={setPercent}
          required
          min={0}
          max={100}
        />
      )}
    </FormDialog>
  );
}
