import { Api } from "../../../http/Api.ts"
import { documentOf } from "../../../http/docs/Docs.ts"
import type { AppSettings } from "../../../layers/config/AppConfig.ts"
import { idleContextWith } from "../IdleContext.ts"
import type { Plugin } from "../Plugin.ts"
import type { PluginContext } from "../PluginContext.ts"
import { groupOf, recordedIn } from "../routes/RouteShape.ts"

/** What routes of a deployment are declared with where nothing runs. */
export const idleContext = ({ access, deployment, environment }: AppSettings): PluginContext =>
  idleContextWith({
    defaultCurrency: deployment.store.defaultCurrency,
    timeZone: deployment.store.timeZone,
    defaultOrganizationId: access.defaultOrganizationId,
    environment
  })

/** The document of the core and of the plugins of a deployment, of which nothing has to run; in OpenAPI 3.0 by default. */
export const documentWith = (
  settings: AppSettings,
  plugins: ReadonlyArray<Plugin>,
  version: string,
  of: typeof documentOf = documentOf
) => {
  const context = idleContext(settings)
  const [first, ...others] = plugins.flatMap(({ describe, examples }) =>
    describe(context).map((route) => recordedIn(examples, groupOf(route)))
  )
  return first === undefined
    ? of(Api, version)
    : of(others.reduce((api, group) => api.add(group), Api.add(first)), version)
}
