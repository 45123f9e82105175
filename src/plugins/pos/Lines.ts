import { DateTime, Effect } from "effect"
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
