import { Context, Effect, Layer } from "effect"
import { WorkflowEngine } from "effect/workflow"
import { OrderRepo } from "../../domain/orders/OrderRepo.ts"
import { Orders } from "../../domain/orders/Orders.ts"
import { UnpaidOrderRepo } from "../../domain/orders/UnpaidOrderRepo.ts"
import { PaymentEvents, type PendingCapture } from "../../domain/payments/PaymentEvents.ts"
import { type Actor, CurrentActor } from "../../domain/platform/access/Actor.ts"
import type { OrderId } from "../../domain/platform/ids/Id.ts"
import { StoreSettings } from "../../domain/platform/settings/StoreSettings.ts"
import { call, deadline } from "../../entities/EntityCall.ts"
import { OrderEntity } from "../../entities/OrderEntity.ts"
import { LateCapture } from "../checkout/Captures.ts"
import { OrphanedPayments } from "./OrphanedPayments.ts"
import { RefundSettlement } from "./RefundSettlement.ts"

interface StatusRequest {
  readonly status: string
  readonly reason?: string | null | undefined
  /** Only before any capture. */
  readonly unpaid?: boolean | undefined
}

/** Changes of an order's status from outside, with the money that follows them (contract §4.2, §11). */
export class StatusChanges extends Context.Service<StatusChanges>()("stoa/workflows/payments/StatusChanges", {
  make: Effect.gen(function*() {
    const actorOf = yield* OrderEntity.client
    const orders = yield* OrderRepo
    const statuses = yield* Orders
    const events = yield* PaymentEvents
    const orphaned = yield* OrphanedPayments
    const settlement = yield* RefundSettlement
    const settings = yield* StoreSettings
    const unconfirmed = yield* UnpaidOrderRepo
    const engine = yield* WorkflowEngine.WorkflowEngine

    /**
     * Runs the hooks, then writes through the order entity. A refund waits briefly for the provider, so that the
     * response can show the new `refundedTotal`.
     */
    const change = Effect.fn("StatusChanges.change")(
      function*(orderId: OrderId, { reason = null, status, unpaid }: StatusRequest) {
        const actor = yield* CurrentActor
        const request = { status, reason, source: "request", unpaid } as const
        const { order, refundId } = yield* statuses.changeStatus(
          orderId,
          request,
          Effect.fnUntraced(function*(change) {
            const until = yield* deadline
            return yield* call(actorOf(change.orderId).changeStatus({ ...change, actor, until }))
          })
        )
        if (refundId === null) return order
        yield* settlement.settle({ refundId, organizationId: actor.organizationId })
        return (yield* orders.find(orderId))?.order ?? order
      }
    )

    /** Where an operator captures, the order only stops to wait for its shopper. */
    const startCapture = (capture: PendingCapture) =>
      settings.capture === "manual" ?
        unconfirmed.confirmed(capture.orderId, capture.organizationId, capture.paymentId) :
        LateCapture.execute(capture, { discard: true, detached: true }).pipe(
          Effect.provideService(WorkflowEngine.WorkflowEngine, engine)
        )

    /**
     * Processes a provider event and starts its refund or capture. 409 while the order is being created: the provider
     * retries. Money of a refused checkout is refunded.
     */
    const receive = Effect.fn("StatusChanges.receive")(
      function*(headers: Readonly<Record<string, string | undefined>>, rawBody: string) {
        const receipt = yield* events.receive(headers, rawBody)
        if (receipt.absent !== null) yield* orphaned.resolve(receipt.absent)
        if (receipt.refund !== null) yield* settlement.start(receipt.refund)
        if (receipt.capture !== null) yield* startCapture(receipt.capture)
        return receipt
      }
    )

    /** For the order's holder, who needs no permission for it. */
    const cancelUnpaid = Effect.fn("StatusChanges.cancelUnpaid")((orderId: OrderId, reason: string | null) =>
      Effect.updateService(
        change(orderId, { status: "cancelled", reason, unpaid: true }),
        CurrentActor,
        (actor): Actor => ({ ...actor, permissions: [...actor.permissions, "orders:update"] })
      )
    )

    return { change, cancelUnpaid, receive }
  })
}) {
  static readonly layer = Layer.effect(StatusChanges, StatusChanges.make)
}
