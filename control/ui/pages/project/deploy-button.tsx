/** Deploys an artifact, or goes back to one, and shows its progress. */

import { useLocation } from 'preact-iso/router';
import { client } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import { DialogButton } from '../../components/dialog-button.tsx';
import { Check, Field } from '../../components/field.tsx';
import { Hash } from '../../components/values.tsx';
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
  const { project, base, reload } = useProject();
  const { route } = useLocation();
  if (!may('deployer')) return null;
  const label = rollback ? 'Roll back' : 'Deploy';
  return (
    <DialogButton
      label={label}
      primary={primary}
      title={rollback ? 'Roll back?' : 'Deploy this artifact?'}
      action={label}
      danger={rollback}
      start={{ timeout: '60', automatic: true, percent: '50' }}
      act={({ timeout, automatic, percent }) => {
        const params = { id: project.id };
        const policy = {
          timeout_seconds: Number(timeout),
          rollback_threshold: automatic ? Number(percent) / 100 : null,
        };
        if (artifactId === null) return client.call('deployments.rollback', { params, body: policy });
        const body = { ...policy, artifact_id: artifactId };
        return client.call(rollback ? 'deployments.rollback' : 'deployments.deploy', { params, body });
      }}
      onDone={({ deployment_id }) => {
        reload();
        route(`${base}/deployments/${deployment_id}`);
      }}
    >
      {({ values: { timeout, automatic, percent }, set }) => (
        <>
          <p>
            {artifactId === null ? (
              <>What was served before, and has not failed, goes to all connected data planes of {project.name}.</>
            ) : (
              <>
                <Hash value={hash} /> goes to all connected data planes of {project.name}; those that connect later get
                it, too.
              </>
            )}
          </p>
          {artifactId !== null && <FailureBefore artifactId={artifactId} />}
          <Field
            label="Seconds to wait for data planes"
            type="number"
            value={timeout}
            onInput={(timeout) => set({ timeout })}
            required
            min={1}
            max={3600}
          />
          <Check
            label="Roll back by itself when data planes refuse it"
            checked={automatic}
            onChange={(automatic) => set({ automatic })}
          />
          {automatic && (
            <Field
              label="When more than this percentage of them refuses"
              type="number"
              value={percent}
              onInput={(percent) => set({ percent })}
              required
              min={0}
              max={100}
            />
          )}
        </>
      )}
    </DialogButton>
  );
}

/** A warning if the artifact failed when it was deployed last. */
function FailureBefore({ artifactId }: { readonly artifactId: string }) {
  const { project } = useProject();
  const history = useList('deployments.list', { params: { id: project.id } });
  const last = history.items?.find(
    ({ artifact_id, status }) => artifact_id === artifactId && ['succeeded', 'failed', 'rolled_back'].includes(status),
  );
  if (last === undefined || last.status === 'succeeded') return null;
  return (
    <p class="bad-text">
      This artifact failed when it was deployed before{last.reason === null ? '' : `: ${last.reason}`}.
    </p>
  );
}
