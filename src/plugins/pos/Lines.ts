import { DateTime, Effect, Struct } from "effect"
import { isDeepStrictEqual } from "node:util"
import { type Actor, newId, type PluginCall } from "stoa/plugin"
import { lines, type SaleLine } from "./Sales.ts"
import { loadSale, viewOf } from "./SaleStore.ts"
import { authorOf } from "./Terminals.ts"

/** A line at the catalog's price, before it is priced. */
export const newLine = Effect.fnUntraced(function*(
  actor: Actor,
  transactionId: string,
  { id = newId(), ...line }: Pick<SaleLine, "entityId" | "position" | "quantity" | "variantId"> & {
    readonly id?: string | undefined
  }
) {
  const now = yield* DateTime.nowAsDate
  const fresh: SaleLine = {
    ...line,
    id,
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

/** Says under the key of a request that its units are in another line: a row that is removed from its beginning. */
export const noteOf = (same: SaleLine, line: SaleLine): SaleLine => ({
  ...line,
  title: same.title,
  price: same.price,
  removedAt: line.addedAt
})

/** What a request of the same key added, whose process died. */
export const addedBefore = Effect.fnUntraced(
  function*({ actor: { executionId: id }, db }: PluginCall, transactionId: string) {
    const line = id === undefined ? undefined : yield* db.table(lines).find({ id, transactionId })
    if (line === undefined) return undefined
    const sale = yield* loadSale(db, transactionId)
    const now = sale.lines.find((one) => one.id === line.id) ?? sale.lines.find((one) => isEqualLine(one, line)) ?? line
    return { ...now, transaction: viewOf(sale) }
  }
)
