import { Effect } from "effect"
import { Api } from "../../../http/Api.ts"
import { documentOf } from "../../../http/docs/Docs.ts"
import type { AppSettings } from "../../../layers/config/AppConfig.ts"
import type { Plugin } from "../Plugin.ts"
import type { PluginContext } from "../PluginContext.ts"
import { groupOf } from "../routes/RouteShape.ts"

const absent = (): never => {
  throw new Error("Routes are declared without services: use them inside of handlers.")
}

/** What routes are declared with where nothing runs. */
export const idleContext = ({ access, deployment, environment }: AppSettings): PluginContext => {
  const db: PluginContext["db"] = {
    get plugin() {
      return absent()
    },
    table: absent,
    use: absent,
    transaction: absent,
    announce: absent,
    nextNumber: absent,
    turn: absent,
    get sql() {
      return absent()
    }
  }
  return {
    config: {
      defaultCurrency: deployment.store.defaultCurrency,
      defaultOrganizationId: access.defaultOrganizationId,
      environment
    },
    get services() {
      return absent()
    },
    db,
    database: { db, transaction: absent },
    digests: absent,
    logger: { info: absent, warn: absent, error: absent },
    call: Effect.sync(absent),
    ofRecord: absent,
    transport: absent
  }
}

/** The OpenAPI 3.0 document of the core and of the plugins of a deployment, of which nothing has to run. */
export const documentWith = (settings: AppSettings, plugins: ReadonlyArray<Plugin>, version: string) => {
  const context = idleContext(settings)
  const [first, ...others] = plugins.flatMap(({ describe }) => describe(context)).map(groupOf)
  return first === undefined
    ? documentOf(Api, version)
    : documentOf(others.reduce((api, group) => api.add(group), Api.add(first)), version)
}
