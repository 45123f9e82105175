import { DateTime, Effect } from "effect"
import { NotFound, type PluginDatabase } from "stoa/plugin"
import { ChannelRefused, ChannelUnavailable } from "./ChannelErrors.ts"
import type { Channels } from "./ChannelOptions.ts"
import { failStore, openStore, withoutSecrets } from "./OpenedStore.ts"
import { type Store, stores } from "./StoreTables.ts"

/** Credentials are renewed so long before they end. */
const renewAheadMs = 5 * 60_000
/** How long one process has to renew them. */
const renewalMs = 60_000
const othersRenewalMs = 2_000

/** Takes the renewal of a store, by its row, which is not locked while the store is called; undefined: another process has it. */
const claim = (db: PluginDatabase, { credentialsExpireAt, id }: Store, now: Date) => {
  const renewalUntil = new Date(now.getTime() + renewalMs)
  const free = { or: [{ renewalUntil: null }, { renewalUntil: { lt: now } }] }
  return db.table(stores).updateMany(
    { id, credentialsExpireAt, status: { not: "disconnected" }, ...free },
    { renewalUntil }
  ).pipe(
    Effect.map(([row]) => row === undefined ? undefined : { renewalUntil }),
    Effect.orElseSucceed(() => undefined)
  )
}

/** Changes the store if its renewal is still this process's: credentials that were replaced meanwhile stay. */
const settle = (
  db: PluginDatabase,
  { id }: Store,
  claimed: { readonly renewalUntil: Date },
  change: { readonly credentials?: string; readonly credentialsExpireAt?: Date | null }
) =>
  db.table(stores).update(id, { ...change, renewalUntil: null }, claimed).pipe(
    Effect.asVoid,
    Effect.catch((error) => error instanceof NotFound ? Effect.fail(error) : Effect.void)
  )

/** False when another process renews them. */
const renew = Effect.fnUntraced(function*(channels: Channels["Service"], db: PluginDatabase, row: Store, now: Date) {
  const claimed = yield* claim(db, row, now)
  if (claimed === undefined) return false
  // Another renewal may have ended between the look at the row and the claim.
  const { adapter, channel, secrets } = yield* openStore(channels, db, row)
  const renewed = yield* Effect.result(channel.renew ?? Effect.succeed(null))
  if (renewed._tag === "Failure") {
    const error = withoutSecrets(renewed.failure, secrets)
    yield* error._tag === "ChannelUnavailable" ? settle(db, row, claimed, {}) : failStore(db, row.id, error.message)
    return yield* Effect.fail(error)
  }
  const fresh = adapter.readCredentials(renewed.success)
  if (fresh === undefined) return yield* new ChannelRefused({ message: "The renewed credentials cannot be read." })
  yield* settle(db, row, claimed, { credentials: fresh.text, credentialsExpireAt: fresh.expiresAt })
  return true
})

/**
 * The row of a store whose credentials hold for a while: those that end within five minutes are renewed before, by one process
 * at a time (contract-tills-channels, amendment 40). While they still hold, a store that does not answer is no reason to stop.
 */
export const renewedStore = Effect.fnUntraced(
  function*(channels: Channels["Service"], db: PluginDatabase, storeId: string) {
    const row = yield* db.table(stores).get(storeId)
    if (row.status === "disconnected") return yield* new ChannelRefused({ message: "The store is disconnected." })
    const now = yield* DateTime.nowAsDate
    const leftMs = (row.credentialsExpireAt?.getTime() ?? Infinity) - now.getTime()
    if (leftMs > renewAheadMs) return row
    const { channel } = yield* openStore(channels, db, row)
    if (channel.renew === undefined) return row
    const done = yield* renew(channels, db, row, now).pipe(
      Effect.catchTag("ChannelUnavailable", (error) => leftMs > 0 ? Effect.succeed(true) : Effect.fail(error))
    )
    if (!done && leftMs <= 0) {
      const message = "Another process renews the credentials."
      return yield* new ChannelUnavailable({ message, retryAfterMs: othersRenewalMs })
    }
    return yield* db.table(stores).get(storeId)
  }
)
