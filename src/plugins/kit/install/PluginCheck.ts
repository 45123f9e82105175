import { Effect } from "effect"
import type { Roles } from "../../../domain/platform/access/Permission.ts"
import { emittedTypes } from "../../../domain/platform/events/Event.ts"
import { InvalidSetting } from "../../../layers/config/Settings.ts"
import { modules } from "../../../layers/modules/Modules.ts"
import type { Plugin } from "../Plugin.ts"
import { flawsOf } from "./PluginRules.ts"

/** Plugins that cannot stand beside each other or beside the core end the start, before anything is built. */
export const checkPlugins = (plugins: ReadonlyArray<Plugin>, roles: Roles) => {
  const [flaw] = flawsOf(plugins, {
    roles: Object.keys(roles),
    modules: modules.map(({ id }) => id),
    permissions: modules.flatMap(({ permissions }) => permissions.map(({ scope }) => scope)),
    events: emittedTypes
  })
  return flaw === undefined ? Effect.void : Effect.fail(new InvalidSetting({ message: flaw }))
}
