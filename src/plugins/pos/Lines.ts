import { DateTime, Effect, Struct } from "effect"
import { isDeepStrictEqual } from "node:util"
import { type Actor, newId } from "stoa/plugin"
import type { SaleLine } from "./Sales.ts"
import { authorOf } from "./Terminals.ts"

/** A line at the catalog's price, before it is priced. */
export const newLine = Effect.fnUntraced(function*(
  actor: Actor,
  transactionId: string,
  line: Pick<SaleLine, "entityId" | "position" | "quantity" | "variantId">
) {
  const now = yield* DateTime.nowAsDate
  const fresh: SaleLine = {
    ...line,
    id: newId(),
    transactionId,
    title: "-",
    metadata: {},
    notes: null,
    isCustomPrice: false,
    unitPrice: null,
    discountAmount: 0,
    discountReason: null,
    overrideBy: null,
    seat: null,
    course: null,
    price: 0,
    totalPrice: 0,
    addedBy: authorOf(actor),
    addedAt: now,
    removedAt: null,
    createdAt: now
  }
  return fresh
})

/** Whether lines are one (contract-tills-channels §A.5): each unit with the same discount. */
export const isEqualLine = (one: SaleLine, other: SaleLine): boolean => {
  const key = (line: SaleLine) =>
    Struct.pick(line, ["entityId", "variantId", "metadata", "unitPrice", "seat", "course"])
  return one.discountAmount * other.quantity === other.discountAmount * one.quantity &&
    isDeepStrictEqual(key(one), key(other))
}

/** The units of an equal line in this one. */
export const together = (line: SaleLine, other: SaleLine): SaleLine => ({
  ...line,
  quantity: line.quantity + other.quantity,
  discountAmount: line.discountAmount + other.discountAmount
})
