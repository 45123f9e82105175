import { Effect, Schema, Struct } from "effect"
import { about, fieldsOf, moveOf, type PluginConfig, resource, Text } from "stoa/plugin"
import { Channels, manage, read, routes } from "./ChannelOptions.ts"
import { connectStore, domainFor, replaceCredentials } from "./Stores.ts"
import { type Store, store, stores } from "./StoreTables.ts"
import { unregisterTask } from "./Unregistration.ts"

const redacted = "[REDACTED]"
const Redacted = Schema.NullOr(Schema.Literal(redacted)).pipe(about("Null without one; its value is never shown."))

/** A store as the API shows it: whether it has secrets, and none of them. */
const ShownStore = Schema.Struct({
  ...Struct.omit(fieldsOf(stores), ["renewalUntil"]),
  credentials: Redacted,
  webhookSecret: Redacted
})

const shown = ({ renewalUntil: _, ...row }: Store): typeof ShownStore.Type => {
  const secret = row.status === "disconnected" ? null : redacted
  return { ...row, credentials: secret, webhookSecret: secret }
}

const view = {
  success: ShownStore,
  show: (rows: ReadonlyArray<Store>) => Effect.succeed(rows.map(shown))
}

const Secret = Schema.String.annotate({ format: "password" }).check(Schema.isBetweenLength(8, 255))
  .pipe(about("Signs the webhooks of the store; the default is a random one."))

/** Credentials as each adapter wants them; the adapter checks their form. */
const SentCredentials = Schema.Record(Text, Schema.Unknown).check(
  Schema.isMaxProperties(20),
  Schema.makeFilter((sent: object) => JSON.stringify(sent).length <= 8_000 || "must have at most 8,000 characters.")
).pipe(about("Credentials in the form of the adapter."))

const NewStore = Schema.Struct({
  provider: Text.pipe(about("Id of the adapter.")),
  storeDomain: Schema.String.check(Schema.isBetweenLength(1, 255))
    .pipe(about("Address of the store.")),
  credentials: SentCredentials,
  webhookSecret: Schema.optional(Secret)
})

/** Routes of stores (contract, plugins §13.3; contract-tills-channels, amendments 40 to 42 and 54). */
export const storeRoutes = (config: PluginConfig) => [
  ...resource(routes, "/stores", stores, {
    noun: "store",
    read,
    write: manage,
    filters: ["provider", "status"],
    without: [
      "provider",
      "storeDomain",
      "status",
      "lastError",
      "credentials",
      "webhookSecret",
      "credentialsExpireAt",
      "renewalUntil",
      "connectedAt",
      "webhooksCheckedAt",
      "catalogWriteEnabled",
      "catalogFieldMapping"
    ],
    view,
    create: {
      input: NewStore,
      summary: "Connect a store",
      description:
        "A job checks the credentials and registers webhooks. 404 for a provider without an adapter, 409 while the store is "
        + "connected, 422 for another address or other credentials.",
      answer: ({ db, input: { provider, storeDomain, ...secrets }, jobs }) =>
        Effect.gen(function*() {
          const adapter = yield* (yield* Channels).adapterOf(provider)
          const domain = yield* domainFor(adapter, storeDomain, config)
          return yield* connectStore({ db, jobs }, { adapter, domain, ...secrets })
        })
    },
    remove: false
  }),
  moveOf(routes, "/stores", store, "disconnect", {
    summary: "Disconnect a store",
    description:
      "A job ends its webhooks, where the store allows that, and deletes its credentials; what is known of its products stays. "
      + "404 without it, 422 when it is disconnected.",
    allowed: manage,
    view,
    change: () => ({ lastError: null, renewalUntil: null }),
    after: ({ id }, { jobs }) => jobs.enqueue(unregisterTask, { storeId: id })
  }),
  routes.put("/stores/:id/credentials", {
    summary: "Replace the credentials of a store",
    description: "A job checks them. 404 without the store, 409 when it is disconnected, 422 for other credentials.",
    permission: manage,
    input: Schema.Struct({ credentials: SentCredentials, webhookSecret: Schema.optional(Secret) }),
    success: ShownStore
  }).handle(({ db, input, jobs, params: { id } }) =>
    Effect.gen(function*() {
      const row = yield* db.table(stores).get(id)
      const adapter = yield* (yield* Channels).adapterOf(row.provider)
      return shown(yield* replaceCredentials({ db, jobs }, row, adapter, input))
    })
  )
]
