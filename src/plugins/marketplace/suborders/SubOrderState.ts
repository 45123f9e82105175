import { Schema, Struct } from "effect"
import { itemLabel, newId } from "stoa/plugin"
import { type CommissionTerms, plainTerms } from "../commissions/CommissionTerms.ts"
import type { OrderFacts, VendorLine } from "./OrderFactsRepo.ts"
import { KeptLine, SubOrder } from "./SubOrder.ts"
import { type LineShare, nothingPosted, type Owed, owedLine, owedOf, Posted } from "./SubOrderShares.ts"

type KeptLine = typeof KeptLine.Type

/** A sub-order as it is kept, or has to be. */
const KeptSubOrder = Schema.Struct({
  ...Struct.pick(SubOrder.fields, ["id", "orderId", "vendorId", "currency", "status", "cancellationReason"]),
  ...Struct.pick(SubOrder.fields, ["subtotal", "refundedAmount", "commissionAmount", "payoutAmount"]),
  lines: Schema.Array(KeptLine)
})
type KeptSubOrder = typeof KeptSubOrder.Type

/** A sub-order as it was found, with what the ledger says of it. */
export const FoundSubOrder = Schema.Struct({ ...KeptSubOrder.fields, posted: Posted })
export type FoundSubOrder = typeof FoundSubOrder.Type

/** A sub-order as its order wants it. */
export interface WantedSubOrder extends KeptSubOrder {
  readonly owed: Owed
  readonly posted: Posted
  readonly isCancelled: boolean
  readonly isNew: boolean
  /** Something of it is other than it was found. */
  readonly isChanged: boolean
}

const removed = "Its lines were taken out of the order."

/** Its order is cancelled, or it has lost all of its lines; what was delivered stays so. Lines that come back revive it. */
const statusOf = (found: FoundSubOrder | undefined, order: OrderFacts, lines: ReadonlyArray<VendorLine>) => {
  const status = found?.status ?? "pending"
  const reason = found?.cancellationReason ?? null
  if (status === "delivered") return { status, reason }
  if (status === "cancelled") {
    const revived = !order.isCancelled && lines.length > 0 && found?.lines.length === 0
    return revived ? { status: "pending" as const, reason: null } : { status, reason }
  }
  if (order.isCancelled) return { status: "cancelled" as const, reason: order.cancellationReason }
  return lines.length === 0 ? { status: "cancelled" as const, reason: removed } : { status, reason }
}

const sameLine = (one: KeptLine, other: KeptLine | undefined): boolean =>
  other !== undefined && one.quantity === other.quantity && one.totalPrice === other.totalPrice &&
  one.refundedAmount === other.refundedAmount && one.commissionAmount === other.commissionAmount

const isSame = (wanted: KeptSubOrder, found: FoundSubOrder): boolean =>
  wanted.status === found.status && wanted.subtotal === found.subtotal &&
  wanted.refundedAmount === found.refundedAmount && wanted.commissionAmount === found.commissionAmount &&
  wanted.lines.length === found.lines.length &&
  wanted.lines.every((line) => sameLine(line, found.lines.find(({ id }) => id === line.id)))

/** What has to be known beside the order: what its lines were charged, and terms of those that are new. */
interface Given {
  readonly found: FoundSubOrder | undefined
  readonly vendorId: string
  readonly shares: ReadonlyMap<string, LineShare>
  readonly terms: ReadonlyMap<string, CommissionTerms>
}

/** A line keeps the terms that it was sold under. */
const partOf = (line: VendorLine, { found, shares, terms }: Given, isCancelled: boolean) => {
  const kept = found?.lines.find(({ orderLineId }) => orderLineId === line.id)
  const { fixedFeeCents, maxFeeCents, minFeeCents, rateBps, ruleId } = kept ?? terms.get(line.id) ?? plainTerms(0)
  const own = { ruleId, rateBps, fixedFeeCents, minFeeCents, maxFeeCents }
  const owed = owedLine(shares.get(line.id) ?? { charged: 0, refunded: 0 }, own, isCancelled)
  const amounts = { totalPrice: owed.charged, refundedAmount: owed.refunded, commissionAmount: owed.commission }
  const { entityId, id: orderLineId, quantity, variantId } = line
  return {
    owed,
    line: {
      ...own,
      ...amounts,
      id: kept?.id ?? newId(),
      orderLineId,
      entityId,
      variantId,
      title: itemLabel(line),
      quantity
    }
  }
}

/** A vendor's part of an order as it has to be. */
export const wantedSubOrder = (order: OrderFacts, given: Given): WantedSubOrder => {
  const { found, vendorId } = given
  const own = order.lines.filter((line) => line.vendorId === vendorId)
  const { reason, status } = statusOf(found, order, own)
  const isCancelled = order.isCancelled || status === "cancelled"
  const parts = own.map((line) => partOf(line, given, isCancelled))
  const owed = owedOf(parts.map((part) => part.owed))
  const wanted = {
    id: found?.id ?? newId(),
    orderId: order.id,
    vendorId,
    currency: order.currency,
    status,
    cancellationReason: reason,
    subtotal: owed.subtotal,
    refundedAmount: owed.refunded,
    commissionAmount: owed.commission,
    payoutAmount: owed.payout,
    lines: parts.map(({ line }) => line)
  }
  const [posted, isChanged] = [found?.posted ?? nothingPosted, found === undefined || !isSame(wanted, found)]
  return { ...wanted, owed, posted, isCancelled, isNew: found === undefined, isChanged }
}
