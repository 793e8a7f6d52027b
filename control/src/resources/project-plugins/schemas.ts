/** Plugin configuration of projects in the REST API (reference 3, section 2). */
import Type, { type Static } from 'typebox';
import { AnyObject, Name, Named, Timestamp } from '../../http/schema-types.ts';
import { Version } from '../plugins/schemas.ts';

export const ProjectPlugin = Named(
  'ProjectPlugin',
  {
    plugin_name: Name('Of the plugin.'),
    plugin_version: Version('Of the plugin.'),
    enabled: Type.Boolean({ description: 'Operations can use it: one that does while it is disabled is E1040.' }),
    config: AnyObject('Below the config of operations, above the defaults of the schema (D1).'),
    created_at: Timestamp('When it was added.'),
    updated_at: Timestamp('When it was last changed.'),
  },
  'A plugin that a project uses.',
);
export type ProjectPlugin = Static<typeof ProjectPlugin>;

export const ProjectPluginInput = Named(
  'ProjectPluginInput',
  {
    plugin_name: Name('Of a registered plugin; in an update the same as in the path.'),
    plugin_version: Version('Of the plugin.'),
    enabled: Type.Optional(Type.Boolean({ default: true, description: 'Operations can use it.' })),
    config: Type.Optional(AnyObject("Checked against the plugin's schema. Default: empty.")),
  },
  'What a plugin of a project is made from; an update replaces all of it.',
);
export type ProjectPluginInput = Static<typeof ProjectPluginInput>;
