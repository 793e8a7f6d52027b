import { crdYaml } from '../api/crd.ts';
import { kinds } from '../api/resources.ts';
import type { AddCommand } from '../program.ts';

/** `gw-operator crds`: prints the CustomResourceDefinitions. */
export const crdsCommand: AddCommand = (parent, { stdout }) => {
  parent
    .command('crds')
    .description('Print the CustomResourceDefinitions as YAML.')
    .addHelpText('after', '\nExamples:\n  $ gw-operator crds | kubectl apply --server-side -f -')
    .action(() => stdout(kinds.map((kind) => `---\n${crdYaml(kind)}`).join('')));
};
