import { Effect } from "effect"
import { type OrderId, type RefundId, ReturnId, type RowOf } from "stoa/plugin"
import { Market } from "../Market.ts"
import type { Left, LeftLine } from "../refunds/RefundChoice.ts"
import type { returns } from "./Return.ts"

type Held = Pick<RowOf<typeof returns>, "coreReturnId">

/** Works on the core's return of a row; does nothing for rows from before. */
const withCore = <A, E, R>(
  { coreReturnId }: Held,
  work: (core: Market["Service"]["host"]["services"]["returns"], id: ReturnId) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function*() {
    if (coreReturnId === null) return undefined
    return yield* work((yield* Market).host.services.returns, ReturnId.make(coreReturnId))
  })

const atMost = ({ lines }: Left, most: ReadonlyArray<Pick<LeftLine, "lineItemId" | "quantity">>) => {
  const units = new Map(most.map(({ lineItemId, quantity }) => [lineItemId, quantity]))
  return lines.flatMap((line) => {
    const quantity = Math.min(line.quantity, units.get(line.lineItemId) ?? 0)
    return quantity === 0 ? [] : [{ ...line, quantity }]
  })
}

/** Limits lines to the units that no return of the core holds. */
export const returnableOf = Effect.fnUntraced(function*(orderId: OrderId, left: Left) {
  return atMost(left, yield* (yield* Market).host.services.returns.returnable(orderId))
})

/** Approves it, unless staff have. */
export const approveCore = (row: Held, orderId: OrderId) =>
  withCore(row, (core, id) =>
    Effect.gen(function*() {
      const { status } = yield* core.find(orderId, id)
      if (status === "requested") yield* core.approve(orderId, id, {})
    }))

/** Frees its units. */
export const rejectCore = (row: Held, orderId: OrderId, reason: string) =>
  withCore(row, (core, id) =>
    Effect.gen(function*() {
      const { status } = yield* core.find(orderId, id)
      if (status === "requested") yield* core.reject(orderId, id, reason)
      if (status === "approved") yield* core.cancel(orderId, id)
    }))

/** Limits what is left of a sub-order to the units that it holds. */
export const heldBy = (row: Held, orderId: OrderId) =>
  Effect.map(
    withCore(row, (core, id) => core.find(orderId, id)),
    (held) => (left: Left): Left => held === undefined ? left : { ...left, lines: atMost(left, held.lines) }
  )

/** Ends it with what was refunded; without a refund all that it holds came back for nothing. */
export const concludeCore = (row: Held, orderId: OrderId, refundId: RefundId | null) =>
  withCore(row, (core, id) =>
    Effect.gen(function*() {
      const { refunds } = (yield* Market).host.services
      const { lines } = refundId === null ? yield* core.find(orderId, id) : yield* refunds.get(refundId)
      yield* core.conclude(orderId, id, refundId, lines)
    }))
