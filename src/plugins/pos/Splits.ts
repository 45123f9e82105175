import { DateTime, Effect, Schema } from "effect"
import { about, allocate, conflict, CurrencyCode, invalid, newId, type PluginCall, uuid } from "stoa/plugin"
import { type MovedUnits, PosExtensions } from "./Extensions.ts"
import { isEqualLine, together } from "./Lines.ts"
import { overrideHeader, OverrideInvalid, OverrideRequired } from "./Overrides.ts"
import { isTaken, lines, sale, transactions, TransactionView } from "./Sales.ts"
import { changeSale, openSale, type Sale, shownSale, viewOf, whileMoved, writeDecided } from "./SaleStore.ts"
import { changeOf } from "./Sharing.ts"
import { count, shifts } from "./Shifts.ts"
import { operate, routes } from "./Terminals.ts"
import { startTransaction } from "./TransactionRoutes.ts"

class AlreadyPaid
  extends conflict("PosSplitPaid", "The transaction has payments: it cannot be split or merged any more.")
{}
class NotItsLine extends invalid(
  "PosSplitLineUnknown",
  (path: string) => path,
  (path: string) => `${path} must name a line of the transaction, and at most its units in all parts.`
) {}
class WaysOrParts
  extends invalid("PosPartsOrWays", "parts", "parts and ways exclude each other; one of them is needed.")
{}
class OtherTerms extends conflict("PosNotMergeable", "Only open sales of one currency can be merged.") {}

const Part = Schema.Struct({
  items: Schema.Array(Schema.Struct({ itemId: uuid.schema, quantity: lines.columns.quantity.schema }))
    .check(Schema.isBetweenLength(1, 500))
})
const Split = Schema.Struct({
  parts: Schema.optional(Schema.Array(Part).check(Schema.isBetweenLength(1, 50))).pipe(
    about("Lines of each new transaction; the rest stays.")
  ),
  ways: Schema.optional(
    Schema.Int.check(Schema.isBetween({ minimum: 2, maximum: 50 })).annotate({
      description: "Splits nothing: answers so many amounts to pay on the one bill."
    })
  )
})
const SplitAnswer = Schema.Struct({
  transactions: Schema.Array(TransactionView),
  amounts: Schema.Array(Schema.Int).annotate({ description: "For `ways`: minor units, which add up to the total." })
})

const informExtensions = (moved: ReadonlyArray<MovedUnits>) =>
  Effect.flatMap(
    PosExtensions,
    ({ all }) => Effect.forEach(all(), ({ linesMoved }) => linesMoved?.(moved) ?? Effect.void)
  )

const requireUnpaid = ({ payments }: Sale) => payments.some(isTaken) ? new AlreadyPaid() : Effect.void

/** Moves units of lines into new transactions of the same shift. */
const splitInto = Effect.fnUntraced(function*(
  call: PluginCall,
  id: string,
  parts: ReadonlyArray<typeof Part.Type>,
  token: string | undefined
) {
  const { db } = call
  const before = yield* openSale(db, id)
  const { spend } = yield* changeOf(call, [before.transaction], token)
  yield* requireUnpaid(before)
  const left = new Map(before.lines.map((line) => [line.id, line.quantity]))
  const moved = new Map<string, Array<number>>()
  for (const [at, { items }] of parts.entries()) {
    for (const [nth, { itemId, quantity }] of items.entries()) {
      const units = (left.get(itemId) ?? 0) - quantity
      if (units < 0) return yield* new NotItsLine(`parts.${at}.items.${nth}`)
      left.set(itemId, units)
      moved.set(itemId, [...moved.get(itemId) ?? [], quantity])
    }
  }
  const discounts = new Map(before.lines.map((line) => [line.id, sharesOf(line, moved.get(line.id) ?? [])]))
  const { currency, customerId, orderType, shiftId, terminalId } = before.transaction
  return yield* writeDecided(
    db,
    Effect.gen(function*() {
      const { version } = before.transaction
      yield* spend
      // The shift before its sales, as everywhere.
      yield* db.table(shifts).lock(shiftId)
      yield* db.table(transactions).update(id, { version: version + 1 }, { version, status: "open" })
      const removedAt = yield* DateTime.nowAsDate
      yield* db.table(lines).updateEach(
        before.lines.filter((line) => left.get(line.id) !== line.quantity).map((line) => {
          const quantity = left.get(line.id) ?? 0
          return {
            id: line.id,
            ...(quantity === 0 ? { removedAt } : { quantity, discountAmount: discounts.get(line.id)?.at(-1) ?? 0 })
          }
        })
      )
      const units: Array<MovedUnits> = []
      const ids = yield* Effect.forEach(parts, ({ items }) =>
        Effect.gen(function*() {
          const head = { shiftId, terminalId, currency: CurrencyCode.make(currency), orderType }
          const part = yield* startTransaction(call, { ...head, customerId }, { parentId: id })
          yield* db.table(lines).insertMany(items.flatMap(({ itemId, quantity }, position) => {
            const line = before.lines.find((one) => one.id === itemId)
            if (line === undefined) return []
            const { createdAt: _, ...copy } = line
            const to = newId()
            units.push({ from: itemId, to, quantity })
            return [{
              ...copy,
              id: to,
              transactionId: part.id,
              position,
              quantity,
              discountAmount: discounts.get(itemId)?.shift() ?? 0
            }]
          }))
          return part.id
        }))
      yield* informExtensions(units)
      return [id, ...ids]
    })
  )
}, Effect.retry(whileMoved))

/** Prices a transaction again: outside of the transaction that changed it, as everywhere. */
const repriced = (call: PluginCall, id: string) => Effect.map(changeSale(call, id, () => Effect.succeed({})), viewOf)

/** The discounts of units of a line that are moved, and of the rest of it. */
const sharesOf = ({ discountAmount, quantity }: Sale["lines"][number], moved: ReadonlyArray<number>): Array<number> =>
  discountAmount === 0
    ? []
    : [...allocate(discountAmount, [...moved, moved.reduce((rest, units) => rest - units, quantity)])]

/** Moves the lines of another open transaction here, and voids it. */
const merge = Effect.fn("Sales.merge")(
  function*(call: PluginCall, id: string, from: string, token: string | undefined) {
    const { db } = call
    const [target, source] = [yield* openSale(db, id), yield* openSale(db, from)]
    yield* requireUnpaid(source)
    const both = [target.transaction, source.transaction]
    const [into, { currency, shiftId }] = [target.transaction, source.transaction]
    const areSales = both.every(({ type }) => type === "sale")
    if (id === from || !areSales || into.currency !== currency) return yield* new OtherTerms()
    const { spend } = yield* changeOf(call, both, token)
    yield* writeDecided(
      db,
      Effect.gen(function*() {
        yield* spend
        const ids = [...new Set(both.map((one) => one.shiftId))].toSorted()
        const locked = yield* Effect.forEach(ids, (one) => db.table(shifts).lock(one))
        for (const one of [target, source].toSorted((a, b) => a.transaction.id < b.transaction.id ? -1 : 1)) {
          const { id: which, version } = one.transaction
          yield* db.table(transactions).update(which, { version: version + 1 }, { version, status: "open" })
        }
        const removedAt = yield* DateTime.nowAsDate
        const first = Math.max(0, ...target.lines.map(({ position }) => position)) + 1
        yield* db.table(lines).updateMany({ transactionId: from, removedAt: null }, { removedAt })
        const equal = new Map<string, Sale["lines"][number]>()
        const units: Array<MovedUnits> = []
        const others = source.lines.filter((line) => {
          const same = target.lines.find((one) => isEqualLine(equal.get(one.id) ?? one, line))
          if (same === undefined) return true
          const both = together(equal.get(same.id) ?? same, line)
          if (both.quantity > 9_999) return true
          equal.set(same.id, both)
          units.push({ from: line.id, to: same.id, quantity: line.quantity })
          return false
        })
        if (others.length > 0) {
          yield* db.table(lines).insertMany(others.map(({ createdAt: _, ...line }, at) => {
            const to = newId()
            units.push({ from: line.id, to, quantity: line.quantity })
            return { ...line, id: to, transactionId: id, position: first + at }
          }))
        }
        if (equal.size > 0) {
          yield* db.table(lines).updateEach(
            [...equal.values()].map(({ discountAmount, id: itemId, quantity }) => ({
              id: itemId,
              quantity,
              discountAmount
            }))
          )
        }
        yield* informExtensions(units)
        const voidReason = `Merged into ${into.receiptNumber}.`
        const nothing = { subtotal: 0, discountTotal: 0, taxTotal: 0, total: 0 }
        yield* db.use(sale).move("void", from, { ...nothing, voidReason, mergedIntoId: id })
        const shift = locked.find((one) => one.id === shiftId)
        if (shift?.status === "open") yield* count(db, shift, "voids", 0)
      })
    )
  },
  Effect.retry(whileMoved)
)

const shared = {
  permission: operate,
  headers: overrideHeader,
  strict: true,
  errors: [OverrideRequired, OverrideInvalid]
} as const

export const splitRoutes = [
  routes.post("/transactions/:id/split", {
    summary: "Split a transaction",
    description: "Into new ones of the same shift, or into amounts. 404; 409 once there are payments; 422.",
    ...shared,
    input: Split,
    success: SplitAnswer
  }).handle((call) =>
    Effect.gen(function*() {
      const { parts, ways } = call.input
      if ((parts === undefined) === (ways === undefined)) return yield* new WaysOrParts()
      if (ways !== undefined) {
        const { transaction } = yield* openSale(call.db, call.params.id)
        const amounts = allocate(transaction.total, Array.from({ length: ways }, () => 1))
        return { transactions: [yield* shownSale(call.db, transaction)], amounts }
      }
      const ids = yield* splitInto(call, call.params.id, parts ?? [], call.headers["x-pos-override"])
      return { transactions: yield* Effect.forEach(ids, (id) => repriced(call, id)), amounts: [] }
    })
  ),
  routes.post("/transactions/:id/merge", {
    summary: "Merge another transaction into this one",
    description:
      "The other one is voided. 404; 409 when it has payments or another currency; 422 unless both are open.",
    ...shared,
    input: Schema.Struct({ from: uuid.schema.pipe(about("Id of the transaction whose lines are taken over.")) }),
    success: TransactionView
  }).handle((call) => {
    const { input, headers, params: { id } } = call
    return Effect.andThen(merge(call, id, input.from, headers["x-pos-override"]), repriced(call, id))
  })
]
