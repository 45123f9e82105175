import { Schema, Struct } from "effect"
import type { CommissionTerms } from "../commissions/CommissionTerms.ts"
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

/** What has to be known beside the order: terms of lines and ids, for those that are new. */
export interface Given {
  readonly found: FoundSubOrder | undefined
  readonly vendorId: string
  readonly shares: ReadonlyMap<string, LineShare>
  readonly termsOf: (line: VendorLine) => CommissionTerms
  readonly newId: () => string
}

const sameLine = (one: KeptLine, other: KeptLine | undefined): boolean =>
  other !== undefined && one.quantity === other.quantity && one.totalPrice === other.totalPrice &&
  one.refundedAmount === other.refundedAmount && one.commissionAmount === other.commissionAmount

const isSame = (wanted: KeptSubOrder, found: FoundSubOrder): boolean =>
  wanted.status === found.status && wanted.subtotal === found.subtotal &&
  wanted.refundedAmount === found.refundedAmount && wanted.commissionAmount === found.commissionAmount &&
  wanted.lines.length === found.lines.length &&
  wanted.lines.every((line) => sameLine(line, found.lines.find(({ id }) => id === line.id)))

/** A vendor's part of an order as it has to be. */
export const wantedSubOrder = (order: OrderFacts, given: Given): WantedSubOrder => {
  const { found, vendorId } = given
  const own = order.lines.filter((line) => line.vendorId === vendorId)
  const { reason, status } = statusOf(found, order, own)
  const isCancelled = order.isCancelled || status === "cancelled"
  const parts = own.map((line) => {
    const kept = found?.lines.find(({ orderLineId }) => orderLineId === line.id)
    const { commissionRuleTerms, owed } = partOf(line, kept, given, isCancelled)
    const { entityId, id: orderLineId, quantity, title, variantId } = line
    const amounts = {
      totalPrice: owed.charged,
      refundedAmount: owed.refunded,
      commissionAmount: owed.commission
    }
    const id = kept?.id ?? given.newId()
    return { owed, line: { ...commissionRuleTerms, ...amounts, id, orderLineId, entityId, variantId, title, quantity } }
  })
  const owed = owedOf(parts.map((part) => part.owed))
  const wanted = {
    id: found?.id ?? given.newId(),
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
  return {
    ...wanted,
    owed,
    posted: found?.posted ?? nothingPosted,
    isCancelled,
    isNew: found === undefined,
    isChanged: found === undefined || !isSame(wanted, found)
  }
}

/** A line keeps the terms that it was sold under. */
const partOf = (line: VendorLine, kept: KeptLine | undefined, { shares, termsOf }: Given, isCancelled: boolean) => {
  const { fixedFeeCents, maxFeeCents, minFeeCents, rateBps, ruleId } = kept ?? termsOf(line)
  const commissionRuleTerms = { ruleId, rateBps, fixedFeeCents, minFeeCents, maxFeeCents }
  const share = shares.get(line.id) ?? { charged: 0, refunded: 0 }
  return { commissionRuleTerms, owed: owedLine(share, commissionRuleTerms, isCancelled) }
}
