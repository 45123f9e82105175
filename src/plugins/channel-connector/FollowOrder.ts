import { Data, DateTime, Effect, Schema } from "effect"
import { InvalidTransition, ValidationFailed } from "stoa/plugin"
import { type ChannelError, ChannelUnavailable } from "./ChannelErrors.ts"
import type { RemoteOrder } from "./ChannelRecords.ts"
import { eachExport } from "./ExportPages.ts"
import { type OrderExport, orderExports } from "./OrderTables.ts"
import { enqueuePush, isUntouched, notCancelled } from "./PushOrder.ts"
import { isOver, type OrderCall, type SoldByStore, soldByStore } from "./SoldByStore.ts"
import { takeCancellation, takeRefund } from "./StoreRefunds.ts"
import type { StoreSession } from "./StoreSessions.ts"

class AlreadyTaken extends Data.TaggedError("AlreadyTaken") {}

const note = ({ db }: OrderCall, { id, lastError }: OrderExport, message: string) =>
  message === lastError
    ? Effect.void
    : Effect.asVoid(db.table(orderExports).update(id, { lastError: message.slice(0, 2_000) }))

interface Shipment extends Pick<RemoteOrder["fulfillments"][number], "externalId" | "trackingNumber" | "trackingUrl"> {
  /** Null: all units. */
  readonly lines: RemoteOrder["fulfillments"][number]["lines"] | null
}

/** A store that says only that everything is sent has one shipment. */
const shipmentsOf = ({ fulfillments, remoteOrderId, status }: RemoteOrder): ReadonlyArray<Shipment> =>
  fulfillments.length === 0 && status === "fulfilled"
    ? [{ externalId: `all:${remoteOrderId}`, lines: null, trackingNumber: null, trackingUrl: null }]
    : fulfillments

const isWebAddress = (text: string | null): text is string =>
  text !== null && /^https?:\/\//.test(text) && URL.canParse(text)

/** Fulfills what the store sent, once: the export notes the shipment in the transaction of the fulfillment. */
const takeShipment = Effect.fnUntraced(
  function*({ db, services }: OrderCall, { id, orderId }: OrderExport, { own }: SoldByStore, shipment: Shipment) {
    const { externalId, lines, trackingNumber, trackingUrl } = shipment
    const idsOf = (variant?: string) =>
      own.flatMap(({ externalVariantId, line }) =>
        variant === undefined || externalVariantId === variant ? [line.id] : []
      )
    const wanted = lines === null
      ? [{ lineIds: idsOf() }]
      : lines.map(({ externalVariantId, quantity }) => ({ lineIds: idsOf(externalVariantId), quantity }))
    const parcel = {
      status: "shipped" as const,
      ...(trackingNumber !== null && { trackingNumber }),
      ...(isWebAddress(trackingUrl) && { trackingUrl })
    }
    const noted = Effect.gen(function*() {
      const { shipments } = yield* db.table(orderExports).lock(id)
      if (shipments.includes(externalId)) return yield* new AlreadyTaken()
      yield* db.table(orderExports).update(id, { shipments: [...shipments, externalId] })
    })
    yield* services.fulfillment.sendLines(orderId, wanted, parcel, () => noted)
  },
  Effect.catchTag("AlreadyTaken", () => Effect.void)
)

const isRefusal = Schema.is(Schema.Union([InvalidTransition, ValidationFailed]))

const endings = {
  open: { lastError: notCancelled },
  cancelled: { lastError: "The store cancelled the order." },
  fulfilled: {}
}

/** Brings the order to where the store has it. Each step can be repeated, and the export has ended when all were made. */
const converge = Effect.fnUntraced(
  function*(call: OrderCall, { store }: StoreSession, row: OrderExport, remote: RemoteOrder) {
    const sold = yield* soldByStore(call, row)
    for (const shipment of shipmentsOf(remote).filter(({ externalId }) => !row.shipments.includes(externalId))) {
      yield* takeShipment(call, row, sold, shipment).pipe(
        Effect.catchIf(
          isRefusal,
          ({ error }) => note(call, row, `A shipment of the store was refused: ${error.message}`)
        )
      )
    }
    const { status } = sold.order
    // The money of an order that was cancelled here is on its way back.
    if (status !== "cancelled" && status !== "refunded") {
      for (const refund of remote.refunds) yield* takeRefund(call, store, sold, refund)
      if (remote.status === "cancelled") yield* takeCancellation(call, store, sold, remote.remoteOrderId)
    }
    if (row.endedAt !== null) return
    if (remote.status === "open") {
      // Its job cancels it at the store.
      if (isOver(sold) && isUntouched(remote)) yield* enqueuePush(call, row)
      const isGivenBackThere = remote.refunds.length > 0 && sold.order.payment.status !== "refunded"
      if (!isOver(sold) || isUntouched(remote) || isGivenBackThere) return
    }
    const endedAt = yield* DateTime.nowAsDate
    yield* call.db.table(orderExports).update(row.id, { endedAt, ...endings[remote.status] })
  },
  // What the core refuses now, such as a change at the same time, it may take later.
  Effect.mapError(({ error: { message } }): ChannelError => new ChannelUnavailable({ message }))
)

/** What a store refuses about an order is noted there, and stops no other. */
const follow = Effect.fnUntraced(function*(call: OrderCall, session: StoreSession, row: OrderExport) {
  const { orders } = session.channel
  if (orders === undefined || row.remoteOrderId === null) return
  const noted = (message: string) =>
    note(call, row, message).pipe(Effect.mapError(({ error }) => new ChannelUnavailable({ message: error.message })))
  yield* orders.get(row.remoteOrderId).pipe(
    Effect.flatMap((remote) =>
      remote === undefined ? noted("The store no longer has the order.") : converge(call, session, row, remote)
    ),
    Effect.catchTag("ChannelRefused", ({ message }) => noted(message))
  )
})

/** Reads an order at its store and takes over what happened to it there; false for an order that is none of ours. */
export const followOrder = Effect.fn("FollowOrder.one")(
  function*(call: OrderCall, session: StoreSession, remoteOrderId: string) {
    const row = yield* call.db.table(orderExports).first({ storeId: session.store.id, remoteOrderId })
    if (row === undefined) return false
    if (row.state === "confirmed") yield* follow(call, session, row)
    return true
  }
)

/** The same for all orders of a store that it has neither sent nor cancelled; gives how many there are. */
export const followOpenOrders = (call: OrderCall, session: StoreSession) =>
  eachExport(
    call.db,
    { storeId: session.store.id, state: "confirmed", endedAt: null },
    (row) => follow(call, session, row)
  )

/** Changes are looked for from so long before on: clocks differ, and a search finds a change only after a while. */
const overlapMs = 3_600_000

/** The same for a page of those that have ended, and that the store changed since then without a webhook that arrived. */
export const followChangedOrders = Effect.fn("FollowOrder.changed")(
  function*(call: OrderCall, session: StoreSession, since: Date, cursor: string | null) {
    const { channel: { orders }, store } = session
    if (orders === undefined) return null
    const { ids, nextCursor } = yield* orders.changedSince(new Date(since.getTime() - overlapMs), cursor)
    yield* eachExport(
      call.db,
      { storeId: store.id, state: "confirmed", endedAt: { not: null }, remoteOrderId: { in: [...ids] } },
      (row) => follow(call, session, row)
    )
    return nextCursor
  }
)
