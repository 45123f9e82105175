import { DateTime, Effect } from "effect"
import { defineTask, type PluginTaskCall } from "stoa/plugin"
import type { ChannelSettings } from "./ChannelOptions.ts"
import { nothingLeft } from "./Stores.ts"
import { forgetDeliveries, forgetGrants, keptSecrets } from "./StoresRepo.ts"
import { stores } from "./StoreTables.ts"

const pageSize = 1_000

/** Deletes webhooks that arrived long ago, and consents that were asked for and are too late. */
export const forgetting = ({ keepDays }: ChannelSettings) =>
  defineTask({
    slug: "channel/forget",
    schedule: "41 * * * *",
    everyOrganization: true,
    handler: Effect.fn("Channels.forget")(function*({ ctx: { db } }: PluginTaskCall) {
      const now = yield* DateTime.nowAsDate
      const before = new Date(now.getTime() - keepDays * 86_400_000)
      while ((yield* db.use(forgetDeliveries)(before, pageSize)) === pageSize);
      yield* db.use(forgetGrants)(now)
      const left = yield* db.use(keptSecrets)(new Date(now.getTime() - 3_600_000))
      yield* Effect.forEach(left, ({ id }) =>
        Effect.ignore(db.table(stores).update(id, nothingLeft, { status: "disconnected" })))
    })
  })
