import { Effect } from "effect"
import type { PluginCall, Where } from "stoa/plugin"
import { logins } from "./Shifts.ts"

/** Ends the keys of these logins, in no transaction. */
export const endLogins = Effect.fnUntraced(function*(
  { asStore, db, services }: PluginCall,
  where: Where<typeof logins>
) {
  for (const { apiKeyId, id } of yield* db.table(logins).list(where)) {
    yield* Effect.catchTag(asStore(services.apiKeys.revoke(apiKeyId)), "NotFound/ApiKey", () => Effect.void)
    yield* Effect.catchTag(db.table(logins).delete(id), "NotFound/Row", () => Effect.void)
  }
})
