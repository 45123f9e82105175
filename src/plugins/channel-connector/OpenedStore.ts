import { Effect, Redacted, Schema } from "effect"
import type { PluginDatabase } from "stoa/plugin"
import { type ChannelError, ChannelRefused, ChannelUnavailable, CredentialsRefused } from "./ChannelErrors.ts"
import type { Channels } from "./ChannelOptions.ts"
import { type Store, store, stores } from "./StoreTables.ts"

/** The texts inside of a JSON value. */
const textsIn = (value: unknown): ReadonlyArray<string> =>
  typeof value === "string" ? [value] : Object.values(Object(value)).flatMap(textsIn)

const json = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Unknown))

/** Replaces secrets, which an adapter may have put into a message. Short texts are no secrets. */
const redacted = (text: string, secrets: ReadonlyArray<string>): string =>
  secrets.filter(({ length }) => length >= 6).reduce((rest, one) => rest.replaceAll(one, "[REDACTED]"), text)

/** An error as a person may read it. */
export const withoutSecrets = (error: ChannelError, secrets: ReadonlyArray<string>): ChannelError => {
  const message = redacted(error.message, secrets)
  if (error._tag === "ChannelRefused") return new ChannelRefused({ message })
  if (error._tag === "CredentialsRefused") return new CredentialsRefused({ message })
  const { retryAfterMs } = error
  return new ChannelUnavailable({ message, ...(retryAfterMs !== undefined && { retryAfterMs }) })
}

const secretText = (secret: Redacted.Redacted<string> | null) => secret === null ? "" : Redacted.value(secret)

/** Reads the secrets of a store and gives its channel; two statements, no call. */
export const openStore = Effect.fnUntraced(
  function*({ adapterOf, httpOf }: Channels["Service"], db: PluginDatabase, row: Store) {
    const { id: storeId, provider, storeDomain: domain } = row
    const credentials = yield* db.table(stores).secret(storeId, "credentials")
    const webhookSecret = yield* db.table(stores).secret(storeId, "webhookSecret")
    if (credentials === null) return yield* new ChannelRefused({ message: "The store is disconnected." })
    const adapter = yield* Effect.mapError(adapterOf(provider), ({ message }) => new ChannelRefused({ message }))
    const secret = webhookSecret ?? Redacted.make("")
    const channel = yield* adapter.connect({
      storeId,
      domain,
      credentials,
      webhookSecret: secret,
      http: httpOf(storeId)
    })
    const secrets = [...textsIn(json(Redacted.value(credentials))), secretText(webhookSecret)]
    return { adapter, channel, secrets }
  }
)

/** Writes why a store is in error; one that was disconnected meanwhile stays so. */
export const failStore = (db: PluginDatabase, storeId: string, message: string) =>
  db.use(store).move("fail", storeId, { lastError: message.slice(0, 2_000), renewalUntil: null }).pipe(
    Effect.catch(() => Effect.void),
    Effect.andThen(Effect.logWarning(`The connected store ${storeId} is in error: ${message}`))
  )
