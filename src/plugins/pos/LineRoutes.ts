import { DateTime, Effect, Schema, Struct } from "effect"
import { EntityId, FreeText, invalid, type NotFound, notFound, type PluginCall, Text, VariantId } from "stoa/plugin"
import { type LineMove, PosExtensions } from "./Extensions.ts"
import { addedBefore, isEqualLine, newLine, noteOf, together } from "./Lines.ts"
import { type Action, approvalFor, overrideHeader, OverrideInvalid, OverrideRequired } from "./Overrides.ts"
import { PosOptions } from "./PosOptions.ts"
import { lines, LineView, type SaleLine, TransactionView } from "./Sales.ts"
import { changeSale, priced, type Sale, viewOf } from "./SaleStore.ts"
import { changeOf } from "./Sharing.ts"
import { admin, manage, operate, routes, SentAmount } from "./Terminals.ts"

class LineNotFound extends notFound("PosLine", "The transaction has no such line.") {}
class ReasonMissing extends invalid("DiscountReason", "reason", "reason is required with a discount.", "required") {}
class TooMany extends invalid("TooManyUnits", "quantity", "quantity of a line must be at most 9999.") {}
class TooManyLines extends invalid(
  "TooManyLines",
  "entityId",
  "entityId must be of a line that is there: a sale has at most 500 lines."
) {}
class OneDiscount
  extends invalid("OneDiscount", "discountPercent", "discountPercent and discountAmount exclude each other.")
{}

/** As carts have. */
const mostLines = 500

const sent = {
  quantity: Schema.optional(lines.columns.quantity.schema),
  metadata: Schema.optional(lines.columns.metadata.sent),
  notes: Schema.optional(Schema.NullOr(FreeText.check(Schema.isMaxLength(500)))),
  seat: Schema.optional(lines.columns.seat.schema),
  course: Schema.optional(lines.columns.course.schema),
  unitPrice: Schema.optional(
    Schema.NullOr(SentAmount).annotate({
      description:
        "In place of the catalog's price, in minor units; null: the catalog's. Needs pos:manage or an override."
    })
  ),
  discountAmount: Schema.optional(
    SentAmount.annotate({ description: "Off the whole line, in minor units. Needs pos:manage or an override." })
  ),
  discountPercent: Schema.optional(
    Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 100 })).annotate({
      description: "The same in percent."
    })
  ),
  reason: Schema.optional(Text.annotate({ description: "Why there is a discount." }))
}
const NewLine = Schema.Struct({ entityId: EntityId, variantId: Schema.optional(Schema.NullOr(VariantId)), ...sent })
const LineChange = Schema.Struct(sent)
type Sent = typeof LineChange.Type

/** A line with the totals of its transaction. */
const Changed = Schema.Struct({
  ...LineView.fields,
  transaction: Schema.Struct(
    Struct.pick(TransactionView.fields, [
      "id",
      "subtotal",
      "discountTotal",
      "taxTotal",
      "total",
      "amountDue",
      "version"
    ])
  )
})

const worthOf = ({ price, quantity, unitPrice }: SaleLine): number => (unitPrice ?? price) * quantity

/** What a change of prices needs: pos:manage, and pos:admin above the threshold. */
const approval = Effect.fnUntraced(function*(
  call: PluginCall,
  token: string | undefined,
  transactionId: string,
  before: SaleLine | undefined,
  after: SaleLine
) {
  const { discountOverrideThreshold } = yield* PosOptions
  const isPriced = after.isCustomPrice && (!before?.isCustomPrice || before.unitPrice !== after.unitPrice)
  // The same discount is a larger one of fewer or cheaper units.
  const isDiscounted = after.discountAmount > 0 &&
    (after.discountAmount !== before?.discountAmount || worthOf(after) < worthOf(before))
  if (!isPriced && !isDiscounted) return undefined
  const isLarge = isDiscounted && after.discountAmount * 100 > worthOf(after) * discountOverrideThreshold
  const action: Action = isPriced ? "price" : "discount"
  return yield* approvalFor(call, { action, permission: isLarge ? admin : manage, token, transactionId })
})

/** The line with the price of the catalog, which a percentage counts on. */
const withPrice = Effect.fnUntraced(function*(call: PluginCall, sale: Sale, line: SaleLine) {
  const others = sale.lines.filter(({ id }) => id !== line.id)
  const { lines } = yield* priced(call, { ...sale, lines: [...others, { ...line, discountAmount: 0 }] })
  return lines.at(-1) ?? line
})

/** Applies what was sent to a line. */
const applied = Effect.fnUntraced(function*(call: PluginCall, sale: Sale, line: SaleLine, change: Sent) {
  const { discountAmount, discountPercent, reason = line.discountReason, unitPrice } = change
  const { course = line.course, metadata = line.metadata, notes = line.notes, quantity = line.quantity } = change
  const plain = { course, metadata, notes, quantity, seat: change.seat ?? line.seat }
  if (discountAmount !== undefined && discountPercent !== undefined) return yield* new OneDiscount()
  const custom = unitPrice === undefined ? {} : { isCustomPrice: unitPrice !== null, unitPrice }
  const next: SaleLine = { ...line, ...plain, ...custom }
  const isDiscounted = (discountAmount ?? discountPercent ?? next.discountAmount) > 0
  if (!isDiscounted) return { ...next, discountAmount: 0, discountReason: null }
  if (reason === null) return yield* new ReasonMissing()
  const { price } = yield* withPrice(call, sale, next)
  const discount = discountPercent === undefined
    ? discountAmount ?? next.discountAmount
    : Math.round(price * next.quantity * discountPercent / 100)
  return { ...next, price, discountAmount: discount, discountReason: reason }
})

export interface Changing {
  readonly transactionId: string
  readonly token: string | undefined
}

export const changingOf = ({ headers, params }: {
  readonly headers: { readonly "x-pos-override"?: string | undefined }
  readonly params: { readonly id: string }
}): Changing => ({ transactionId: params.id, token: headers["x-pos-override"] })

/** The approvals that other plugins ask for a change of a line, or for its removal. */
const extensionApprovals = (move: LineMove) =>
  Effect.flatMap(
    PosExtensions,
    ({ all }) => Effect.forEach(all(), ({ lineChanging }) => lineChanging?.(move) ?? Effect.undefined)
  )

/** Writes a line of a sale: `lineOf` gives it, and the one that it was. */
const writeLine = Effect.fnUntraced(function*(
  call: PluginCall,
  { token, transactionId }: Changing,
  change: Sent,
  lineOf: (sale: Sale) => Effect.Effect<{ readonly base: SaleLine; readonly before?: SaleLine }, NotFound>
) {
  let written = ""
  const after = yield* changeSale(call, transactionId, (sale) =>
    Effect.gen(function*() {
      const { base, before } = yield* lineOf(sale)
      const shared = yield* changeOf(call, [sale.transaction], token)
      const line = yield* applied(call, sale, base, change)
      const allowed = yield* approval(call, token, transactionId, before, line)
      const others = before === undefined
        ? []
        : yield* extensionApprovals({ sale, before, after: line, reason: change.reason, token })
      const same = before === undefined ? sale.lines.find((one) => isEqualLine(one, line)) : undefined
      const merged = same === undefined ? line : together(same, line)
      if (merged.quantity > 9_999) return yield* new TooMany()
      written = merged.id
      const known = sale.lines.some(({ id }) => id === merged.id)
      if (!known && sale.lines.length >= mostLines) return yield* new TooManyLines()
      const marked = { ...merged, overrideBy: allowed?.by ?? merged.overrideBy }
      const lines = known ? sale.lines.map((one) => one.id === merged.id ? marked : one) : [...sale.lines, marked]
      return {
        lines: same === undefined || call.actor.executionId === undefined ? lines : [...lines, noteOf(same, line)],
        also: Effect.forEach([shared, allowed, ...others], (one) => one?.spend ?? Effect.void)
      }
    }))
  return yield* shownLine(after, written)
})

const shownLine = Effect.fnUntraced(function*(sale: Sale, id: string) {
  const line = sale.lines.find((one) => one.id === id)
  return line === undefined ? yield* new LineNotFound() : { ...line, transaction: viewOf(sale) }
})

const lineIn = (itemId: string) => ({ lines }: Sale) => {
  const line = lines.find(({ id }) => id === itemId)
  return line === undefined ? Effect.fail(new LineNotFound()) : Effect.succeed({ base: line, before: line })
}

const remove = Effect.fnUntraced(function*(
  call: PluginCall,
  { token, transactionId }: Changing,
  itemId: string,
  reason: string | undefined
) {
  const removedAt = yield* DateTime.nowAsDate
  yield* changeSale(call, transactionId, (sale) =>
    Effect.gen(function*() {
      const { before } = yield* lineIn(itemId)(sale)
      const shared = yield* changeOf(call, [sale.transaction], token)
      const allowed = yield* extensionApprovals({ sale, before, after: null, reason, token })
      return {
        lines: sale.lines.map((line) => line.id === itemId ? { ...line, removedAt } : line),
        also: Effect.forEach([shared, ...allowed], (one) => one?.spend ?? Effect.void)
      }
    }))
  return { removed: true as const }
})

const errors = [OverrideRequired, OverrideInvalid]
export const shared = { permission: operate, strict: true, headers: overrideHeader, errors } as const

export const lineRoutes = [
  routes.post("/transactions/:id/items", {
    summary: "Add an item",
    description: "An equal line takes the quantity. 404 without transaction or goods; 422 when it is not open.",
    ...shared,
    input: NewLine,
    repeatable: true,
    success: Changed
  }).handle((call) =>
    Effect.gen(function*() {
      const { entityId, quantity = 1, variantId = null, ...change } = call.input
      const changing = changingOf(call)
      const before = yield* addedBefore(call, changing.transactionId)
      return before ?? (yield* writeLine(call, changing, change, ({ lines }) =>
        Effect.map(
          newLine(call.actor, changing.transactionId, {
            id: call.actor.executionId,
            entityId,
            variantId,
            quantity,
            position: Math.max(0, ...lines.map(({ position }) => position)) + 1
          }),
          (base) => ({ base })
        )))
    })
  ),
  routes.patch("/transactions/:id/items/:itemId", {
    summary: "Change an item",
    description: "404 without transaction or item; 422 when the transaction is not open.",
    ...shared,
    input: LineChange,
    success: Changed
  }).handle((call) => writeLine(call, changingOf(call), call.input, lineIn(call.params.itemId))),
  routes.delete("/transactions/:id/items/:itemId", {
    summary: "Remove an item",
    description: "404 without transaction or item; 422 when the transaction is not open.",
    ...Struct.omit(shared, ["strict"]),
    query: {
      reason: Schema.optional(Text.annotate({ description: "Why it is removed: for what a kitchen has begun." }))
    },
    success: Schema.Struct({ removed: Schema.Literal(true) })
  }).handle((call) => remove(call, changingOf(call), call.params.itemId, call.query.reason))
]
