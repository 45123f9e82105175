import { Effect, Result, Schema } from "effect"
import { randomUUID } from "node:crypto"
import { Conflict, conflict, invalid, InvalidTransition, type PluginCall, type PluginConfig } from "stoa/plugin"
import type { ChannelAdapter } from "./ChannelAdapter.ts"
import { registerTask } from "./Registration.ts"
import { canonicalDomain, NoStoreDomain } from "./StoreDomain.ts"
import { type Store, store, stores } from "./StoreTables.ts"

class AlreadyConnected extends conflict("AlreadyConnected", "This store is connected already.") {}
export class NotConnected extends conflict("NotConnected", "The store is disconnected: connect it again.") {}

class NoCredentials extends invalid(
  "Credentials",
  "credentials",
  (form: string, provider: string) => `credentials must be ${form} of ${provider}.`
) {}

/** What writes of stores need. */
type Tools = Pick<PluginCall, "db" | "jobs">

const readCredentials = (adapter: ChannelAdapter, sent: unknown) => {
  const found = adapter.readCredentials(sent)
  // The refusal shows nothing that was sent.
  return found === undefined
    ? Effect.fail(new NoCredentials(adapter.credentialsForm, adapter.id))
    : Effect.succeed(found)
}

/** The domain of a store of this adapter, in its canonical form. */
export const domainFor = (adapter: ChannelAdapter, text: string, { environment }: PluginConfig) =>
  Effect.fromResult(Result.flatMap(canonicalDomain(text, environment), (domain) =>
    adapter.admits?.(domain) === false
      ? Result.fail(new NoStoreDomain(`must be an address of ${adapter.id}.`))
      : Result.succeed(domain)))

const secretsOf = ({ expiresAt, text }: { readonly expiresAt: Date | null; readonly text: string }) => ({
  credentials: text,
  credentialsExpireAt: expiresAt,
  renewalUntil: null,
  lastError: null
})

/** Enqueues the check of the store in the transaction of the write. */
const checked = (jobs: Tools["jobs"]) => ({ id }: Store) => jobs.enqueue(registerTask, { storeId: id })

/** A store to connect; `domain` is canonical. */
export interface NewConnection {
  readonly adapter: ChannelAdapter
  readonly domain: string
  readonly credentials: unknown
  readonly webhookSecret?: string | undefined
}

/**
 * Connects a store, and calls nothing: a job does. One that was disconnected gets its row back, and with it what is known of
 * its products. 409 while it is connected, 422 for other credentials than the adapter's.
 */
export const connectStore = Effect.fn("Stores.connect")(
  function*({ db, jobs }: Tools, { adapter, credentials, domain, webhookSecret = randomUUID() }: NewConnection) {
    const values = { ...secretsOf(yield* readCredentials(adapter, credentials)), webhookSecret }
    const named = { provider: adapter.id, storeDomain: domain }
    const before = yield* db.table(stores).first({ ...named, status: "disconnected" })
    const row = before === undefined
      ? db.table(stores).insert({ ...named, ...values })
      : db.use(store).move("reconnect", before.id, values)
    return yield* Effect.tap(row, checked(jobs))
  },
  (work, { db }) =>
    Effect.catchIf(
      db.transaction(work),
      (error) => error instanceof Conflict || error instanceof InvalidTransition || Schema.is(Conflict)(error),
      () => new AlreadyConnected()
    )
)

/** Replaces the credentials of a store, also those that a process is renewing. 409 when it is disconnected. */
export const replaceCredentials = Effect.fn("Stores.replaceCredentials")(
  function*(
    { db, jobs }: Tools,
    { id }: Store,
    adapter: ChannelAdapter,
    { credentials, webhookSecret }: { readonly credentials: unknown; readonly webhookSecret?: string | undefined }
  ) {
    const values = { ...secretsOf(yield* readCredentials(adapter, credentials)), webhookSecret }
    const row = db.table(stores).update(id, values, { status: { in: ["connected", "error"] } })
    return yield* Effect.tap(row, checked(jobs))
  },
  (work, { db }) =>
    Effect.catchIf(db.transaction(work), (error) => error instanceof InvalidTransition, () => new NotConnected())
)

/** What a disconnected store no longer has. */
export const nothingLeft = { credentials: null, webhookSecret: null, credentialsExpireAt: null, renewalUntil: null }
