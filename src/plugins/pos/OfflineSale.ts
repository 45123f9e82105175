import { DateTime, Effect, Schema } from "effect"
import { hash } from "node:crypto"
import {
  about,
  CurrencyCode,
  CustomerId,
  EntityId,
  FreeText,
  holds,
  MinorUnits,
  Moment,
  type PluginCall,
  Text,
  uuid,
  VariantId
} from "stoa/plugin"
import { lines, methods } from "./Sales.ts"
import type { Shift } from "./Shifts.ts"
import { authorOf, manage, SentAmount, type Terminal } from "./Terminals.ts"

/** A sale that a device made while it was offline (contract-tills-channels §A.9). Minor units. */
export const OfflineSale = Schema.Struct({
  id: FreeText.check(Schema.isBetweenLength(8, 64)).annotate({
    description: "The device's; the same one is one sale."
  }),
  shiftId: uuid.schema,
  at: Moment,
  receiptNumber: Schema.optional(
    Text.annotate({
      description: "Number of the receipt, `<code>-<yyyymmdd>-F0001`. Default: the next one.",
      examples: ["T1-20261129-F0001"]
    })
  ),
  operatorId: Schema.optional(Text),
  customerId: Schema.optional(CustomerId),
  currency: Schema.optional(CurrencyCode),
  items: Schema.Array(Schema.Struct({
    entityId: EntityId,
    variantId: Schema.optional(Schema.NullOr(VariantId)),
    quantity: lines.columns.quantity.schema,
    unitPrice: Schema.optional(
      SentAmount.annotate({ description: "Price that the customer paid. Default: the price of now." })
    ),
    discountAmount: Schema.optional(SentAmount),
    notes: Schema.optional(FreeText.check(Schema.isMaxLength(500))),
    metadata: Schema.optional(lines.columns.metadata.sent)
  })).check(Schema.isMaxLength(500)),
  payments: Schema.Array(Schema.Struct({
    method: Schema.Literals(methods).pipe(about("Means that the customer paid with.")),
    amount: SentAmount,
    changeGiven: Schema.optional(SentAmount),
    tip: Schema.optional(SentAmount),
    rounding: Schema.optional(MinorUnits),
    reference: Schema.optional(Text).pipe(about("Number of the slip of a card payment."))
  })).check(Schema.isMaxLength(20)).pipe(about("Payments that the device took.")),
  voidReason: Schema.optional(Text.annotate({ description: "It was voided on the device." }))
})
export type OfflineSale = typeof OfflineSale.Type

/** Why one sale of a batch is refused; the others go on. */
export class Refused {
  readonly error: { readonly code: string; readonly message: string }
  constructor(code: string, message: string) {
    this.error = { code, message }
  }
}

const hour = 3_600_000
const lateHours = 48

export const digestOf = (sent: OfflineSale): string => hash("sha256", JSON.stringify(sent), "base64url")

export const requireTime = Effect.fnUntraced(function*(sent: OfflineSale, shift: Shift) {
  const now = yield* DateTime.nowAsDate
  if (sent.at < shift.createdAt || sent.at.getTime() > now.getTime() + 5 * 60_000) {
    return yield* Effect.fail(new Refused("VALIDATION_FAILED", "at must lie between the opening of the shift and now."))
  }
  if (shift.closedAt !== null && now.getTime() - shift.closedAt.getTime() > lateHours * hour) {
    return yield* Effect.fail(new Refused("CONFLICT", "The shift was closed more than 48 hours ago."))
  }
})

/** What a device says of its payments: cash alone is rounded, to the coin of the till, and gives change. */
export const requirePayments = Effect.fnUntraced(
  function*({ cashRounding }: Terminal, { payments: sent }: OfflineSale) {
    if (sent.some(({ method }) => method === "gift_card" || method === "store_credit")) {
      return yield* Effect.fail(new Refused("OFFLINE_PAYMENT", "Gift cards and store credit cannot pay offline."))
    }
    const fits = sent.every(({ changeGiven = 0, method, rounding = 0 }) =>
      method === "cash" ? Math.abs(rounding) * 2 <= cashRounding : rounding === 0 && changeGiven === 0
    )
    if (!fits) {
      const message = "rounding and changeGiven are for cash, and rounding at most half of the till's smallest coin."
      return yield* Effect.fail(new Refused("VALIDATION_FAILED", message))
    }
  }
)

/** Devices are trusted with prices. Others sell in their own shifts, and set prices and void with pos:manage. */
export const requireRight = Effect.fnUntraced(function*(call: PluginCall, shift: Shift, sent: OfflineSale) {
  const { actor, asStore, services: { users } } = call
  const operatorId = sent.operatorId ?? authorOf(actor)
  if (operatorId !== authorOf(actor) && !(yield* asStore(users.isMember(operatorId)))) {
    return yield* Effect.fail(new Refused("VALIDATION_FAILED", "operatorId must be a member of the staff."))
  }
  if (holds(actor, "pos:device") || holds(actor, manage)) return
  const isFree = sent.voidReason !== undefined ||
    sent.items.some(({ discountAmount = 0, unitPrice }) => unitPrice !== undefined || discountAmount > 0)
  if (isFree || operatorId !== authorOf(actor) || shift.operatorId !== operatorId) {
    const message =
      "Only devices and pos:manage send given prices, discounts, voided sales, and those of other operators."
    return yield* Effect.fail(new Refused("FORBIDDEN", message))
  }
})
