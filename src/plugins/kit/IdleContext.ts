import { Effect } from "effect"
import type { CoreServices } from "../../domain/platform/modules/ServiceRegistry.ts"
import type { PluginConfig, PluginContext } from "./PluginContext.ts"

const absent = (): never => {
  throw new Error("Routes are declared without services: use them inside of handlers.")
}

/** What routes are declared with where nothing runs. */
export const idleContextWith = (config: PluginConfig): PluginContext => {
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
    config,
    // A property that no one reads may be taken apart: `routes: ({ services }) => …`.
    services: new Proxy<CoreServices>(Object.create(null), { get: absent }),
    db,
    database: { db, transaction: absent },
    digests: absent,
    logger: { info: absent, warn: absent, error: absent },
    call: Effect.sync(absent),
    ofRecord: absent,
    transport: absent
  }
}
