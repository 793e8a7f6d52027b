/** Artifacts of a project: to be downloaded and deployed. */
import { client } from '../../api/client.ts';
import { saveFile } from '../../api/save-file.ts';
import { may } from '../../api/session.ts';
import type { Artifact } from '../../api/types.ts';
import { ConfirmButton } from '../../components/dialog-button.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Problem } from '../../components/problem.tsx';
import { ListView } from '../../components/table.tsx';
import { bytes, Command, CopyButton, Empty, Hash } from '../../components/values.tsx';
import { useLiveReload } from '../../data/live.ts';
import { useAction } from '../../data/use-action.ts';
import { useList } from '../../data/use-list.ts';
import { CompileButton } from './compile-button.tsx';
import { DeployButton } from './deploy-button.tsx';
import { useProject } from './project-context.ts';

export function Artifacts() {
  const { project, base } = useProject();
  const list = useList('artifacts.listOfProject', { params: { id: project.id } });
  const saving = useAction(async ({ id, artifact_hash }: Artifact) => {
    const file = await client.response('artifacts.download', { params: { id } });
    await saveFile(file, `${project.name}-${artifact_hash.slice(7, 15)}.gwa`);
  });
  useLiveReload(['compilation', 'deployment'], list.reload);
  return (
    <>
      <PageHead title="Artifacts">
        <CompileButton />
      </PageHead>
      <Problem error={saving.error} />
      <ListView
        caption="Artifacts"
        list={list}
        rowKey={({ id }) => id}
        empty={
          <Empty title="There is no artifact yet">
            <p>Compile the project, and what comes of it is here.</p>
            <Command text={`gw-control compile --project ${project.name} --wait`} />
          </Empty>
        }
        columns={({ actions, time }) => [
          {
            label: 'Hash',
            kind: 'grow',
            cell: (artifact) => (
              <div class="row">
                <Hash value={artifact.artifact_hash} />
                <CopyButton text={artifact.artifact_hash} what="hash" />
                {project.deployed_artifact_id === artifact.id && <span class="status good">deployed</span>}
                {artifact.production && <span class="status quiet">production</span>}
                {artifact.signed && <span class="status quiet">signed</span>}
              </div>
            ),
          },
          { label: 'Routes', kind: 'number', cell: ({ routes_count }) => routes_count },
          {
            label: 'Tools',
            cell: ({ id, artifact_hash }) => (
              <a href={`${base}/artifacts/${id}/tools`} aria-label={`Tools of ${artifact_hash.slice(7, 17)}`}>
                tools
              </a>
            ),
          },
          {
            label: 'Reference',
            cell: ({ id, artifact_hash }) => (
              // Another page: with the whole address, the router leaves it to the browser.
              <a
                href={`${location.origin}/ui/reference/?artifact=${id}`}
                aria-label={`API reference of ${artifact_hash.slice(7, 17)}`}
              >
                reference
              </a>
            ),
          },
          { label: 'Size', kind: 'number', cell: ({ size }) => bytes(size) },
          time('Compiled', ({ created_at }) => created_at),
          actions((artifact) => (
            <div class="row end">
              {may('deployer') && (
                <button type="button" class="button small" onClick={() => saving.run(artifact)}>
                  Download
                </button>
              )}
              <DeployButton artifactId={artifact.id} hash={artifact.artifact_hash} />
              {may('editor') && project.deployed_artifact_id !== artifact.id && (
                <ConfirmButton
                  label="Delete"
                  title="Delete this artifact?"
                  action="Delete"
                  act={() => client.call('artifacts.delete', { params: { id: artifact.id } })}
                  done="Deleted the artifact."
                  onDone={list.reload}
                >
                  <p>
                    <Hash value={artifact.artifact_hash} /> can no longer be deployed or rolled back to.
                  </p>
                </ConfirmButton>
              )}
            </div>
          )),
        ]}
      />
    </>
  );
}
