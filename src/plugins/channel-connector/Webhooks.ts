import { Effect } from "effect"
import { apiError, conflict, NotFound, notFound, type PluginCall, type PluginContext, Text } from "stoa/plugin"
import type { WebhookRequest } from "./ChannelAdapter.ts"
import { Channels, ConnectorNotFound, routes } from "./ChannelOptions.ts"
import type { ComplianceRequest } from "./ChannelRecords.ts"
import { claimDelivery, disconnect } from "./Deliveries.ts"
import { orderExports } from "./OrderTables.ts"
import { StoreSessions } from "./StoreSessions.ts"
import { exportsOf, forgetMap, storesAt } from "./StoresRepo.ts"
import { stores } from "./StoreTables.ts"

class NotSigned extends apiError("NotSigned", { status: 401, code: "UNAUTHORIZED" }, "The signature is not right.") {}
class StoreNotFound extends notFound("ConnectedStore", "Store not found.") {}
class StoreDisconnected extends conflict("StoreDisconnected", "The store is disconnected.") {}
class NotImplemented extends apiError(
  "NotImplemented",
  { status: 501, code: "NOT_IMPLEMENTED" },
  "The adapter takes no requests of the provider."
) {}

const answered = (body: object) => ({
  status: 200,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ received: true, ...body })
})

const signed = "Its signature says who sends it."

/** `POST /webhooks/{storeId}` (contract-tills-channels, amendment 50): nothing is read before the signature is checked. */
const webhookRoute = ({ ofRecord }: PluginContext) =>
  routes.raw("POST", "/webhooks/:storeId", {
    summary: "Receive a webhook of a store",
    description: "A job handles it. 404 for an unknown store, 409 for a disconnected one, 401 without its signature. "
      + "What cannot be read is noted.",
    public: signed,
    errors: [NotSigned]
  }, ({ body, headers, params: { storeId } }) =>
    ofRecord(stores, storeId)((call) =>
      Effect.gen(function*() {
        const { channelOf } = yield* StoreSessions
        const row = yield* call.db.table(stores).get(storeId)
        if (row.status === "disconnected") return yield* new StoreDisconnected()
        const { webhooks } = yield* Effect.mapError(channelOf(call.db, row), () => new StoreDisconnected())
        const request: WebhookRequest = { body, headers }
        if (webhooks === undefined || !webhooks.isGenuine(request)) return yield* new NotSigned()
        const delivery = webhooks.read(request)
        const status = delivery === undefined ? "unreadable" : "received"
        const isNew = yield* claimDelivery(call, storeId, { ...delivery, status })
        return answered(isNew ? {} : { duplicate: true })
      })
    ).pipe(Effect.catchIf((error) => error instanceof NotFound, () => new StoreNotFound())))

/** Does for one store what its provider asks of the app; what it answers is for the provider. */
const complied = Effect.fnUntraced(function*({ db }: PluginCall, storeId: string, request: ComplianceRequest) {
  if (!("email" in request)) {
    // The job that handles it asks the store first: the merchant may have installed the app again.
    if (request.kind === "uninstalled") return {}
    yield* disconnect(db, storeId)
    const forgotten = yield* db.table(orderExports).updateMany(
      { storeId, customerData: { not: null } },
      { customerData: null }
    )
    yield* db.use(forgetMap)(storeId)
    return { redacted: forgotten.length }
  }
  const found = yield* db.use(exportsOf)(storeId, request.remoteOrderIds, request.email)
  if (request.kind === "customerData") {
    return { data: found.map(({ customerData, orderId }) => ({ orderId, customerData })) }
  }
  yield* db.table(orderExports).updateMany({ id: { in: found.map(({ id }) => id) } }, { customerData: null })
  return { redacted: found.length }
})

/** The answer for one organization. */
interface Complied {
  readonly data?: ReadonlyArray<unknown>
  readonly redacted?: number
  readonly duplicate?: true
}

/** The same for all organizations that the store is connected to. */
const combined = (answers: ReadonlyArray<Complied>): Complied => {
  const data = answers.flatMap((one) => one.data === undefined ? [] : [one.data])
  const counts = answers.flatMap(({ redacted }) => redacted ?? [])
  return {
    ...(data.length > 0 && { data: data.flat() }),
    ...(counts.length > 0 && { redacted: counts.reduce((sum, count) => sum + count, 0) }),
    ...(answers.length > 0 && answers.every(({ duplicate }) => duplicate) && { duplicate: true })
  }
}

/**
 * `POST /compliance/{provider}`: an app has one address for all stores, so the request names its store. What a provider asks is
 * done in the transaction that claims the delivery.
 */
const complianceRoute = ({ db, ofRecord }: PluginContext) =>
  routes.raw("POST", "/compliance/:provider", {
    summary: "Receive a request of a provider about an app",
    description:
      "Data of a customer, redaction, and removal of the app. 404 and 501 without an adapter that takes them, 401 without "
      + "the signature of the app.",
    public: signed,
    params: { provider: Text },
    errors: [NotSigned, ConnectorNotFound, NotImplemented]
  }, ({ body, headers, params: { provider } }) =>
    Effect.gen(function*() {
      const { app } = yield* (yield* Channels).adapterOf(provider)
      if (app === undefined) return yield* new NotImplemented()
      if (!app.isGenuine({ body, headers })) return yield* new NotSigned()
      const read = app.read({ body, headers })
      if (read === undefined) return answered({})
      const concerned = yield* db.use(storesAt)(provider, read.domain)
      const answers = yield* Effect.forEach(concerned, (id) =>
        ofRecord(stores, id)((call) =>
          call.db.transaction(Effect.gen(function*() {
            const isNew = yield* claimDelivery(call, id, {
              deliveryId: read.deliveryId,
              topic: read.topic,
              ...(read.request.kind === "uninstalled"
                ? { status: "received", hints: [{ kind: "uninstalled" }] }
                : { status: "handled" })
            })
            return isNew ? yield* complied(call, id, read.request) : { duplicate: true as const }
          }))
        ))
      return answered(combined(answers))
    }))

export const webhookRoutes = (context: PluginContext) => [webhookRoute(context), complianceRoute(context)]
