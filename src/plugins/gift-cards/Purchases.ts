import { Array, DateTime, Effect, Schema } from "effect"
import {
  allocate,
  Email,
  invalid,
  Moment,
  newId,
  type OrderProjection,
  type PluginContext,
  type RequestedRefund
} from "stoa/plugin"
import { cards, money } from "./GiftCard.ts"
import { GiftCardOptions } from "./GiftCardOptions.ts"
import { GiftCards, type NewCard } from "./GiftCards.ts"
import { lockedCards, refundedLines, type SoldCard, type SoldLine, unsettledLines } from "./PurchasesRepo.ts"

class CardSpent extends invalid(
  "GiftCardSpent",
  "",
  (amount: number, left: number) =>
    `${amount} would be refunded for gift cards that have ${left} left: refund their line with at most that amount.`
) {}

class CardHeld extends invalid(
  "GiftCardHeld",
  "",
  "An order that is not captured yet holds a part of this gift card. Capture or cancel that order first."
) {}

const text = (longest: number) => Schema.NonEmptyString.check(Schema.isMaxLength(longest))

/** Who gets the card, as the line's metadata say it, else those of the order. What cannot be read does not count. */
const wishedFor = Effect.fnUntraced(function*({ email, metadata, orderMetadata }: SoldLine) {
  const read = <A>(name: string, schema: Schema.Decoder<A>) => {
    const decode = Schema.decodeUnknownEffect(schema)
    return decode(metadata[name]).pipe(
      Effect.catch(() => decode(orderMetadata[name])),
      Effect.orElseSucceed(() => undefined)
    )
  }
  return {
    // The buyer hands a card over whose receiver is not named.
    recipientEmail: (yield* read("recipientEmail", Email)) ?? email,
    senderName: yield* read("senderName", text(255)),
    personalMessage: yield* read("personalMessage", text(500)),
    deliverAt: yield* read("deliverAt", Moment)
  }
})

/** A card for each unit, worth what was paid for it. */
const cardsOf = Effect.fnUntraced(function*(line: SoldLine) {
  const wished = yield* wishedFor(line)
  return allocate(line.paid, Array.makeBy(line.quantity, () => 1)).slice(0, line.units).map((
    amount,
    unit
  ): NewCard => ({
    ...wished,
    amount,
    currency: line.currency,
    purchaserId: line.customerId,
    sourceOrderId: line.orderId,
    orderLineId: line.id,
    unit
  }))
})

/** The cards to withdraw, or to bring back, so that as many are left as units are sold. */
const surplusOf = ({ id, units }: SoldLine, all: ReadonlyArray<SoldCard>) => {
  const own = all.filter(({ lineId }) => lineId === id)
  const open = own.filter(({ isWithdrawn }) => !isWithdrawn)
  const surplus = open.length - units
  return surplus > 0 ? open.slice(0, surplus) : own.filter(({ isWithdrawn }) => isWithdrawn).slice(0, -surplus)
}

/** Takes what is left off cards whose unit was given back, and puts it back on where that refund failed or was undone. */
const withdraw = Effect.fn("Purchases.withdraw")(
  function*({ db }: PluginContext, lines: ReadonlyArray<SoldLine>) {
    const all = yield* db.use(lockedCards)(lines.map(({ id }) => id))
    const chosen = lines.flatMap((line) => surplusOf(line, all))
    yield* db.use(money).postAll(
      chosen.filter(({ worth }) => worth > 0).map(({ id, isWithdrawn, orderId, worth }) => ({
        accountId: id,
        type: "withdraw",
        amount: isWithdrawn ? worth : -worth,
        reference: `withdraw:${newId()}`,
        orderId
      }))
    )
    const now = yield* DateTime.nowAsDate
    for (const withdrawnAt of [now, null]) {
      const ids = chosen.filter(({ isWithdrawn }) => isWithdrawn === (withdrawnAt === null)).map(({ id }) => id)
      if (ids.length > 0) yield* db.table(cards).updateMany({ id: { in: ids } }, { withdrawnAt })
    }
  }
)

/** Minor units on these cards. */
const worthOf = (some: ReadonlyArray<SoldCard>): number => some.reduce((sum, { worth }) => sum + worth, 0)

/**
 * Refuses a refund that gives more for spent cards than is left on them and than was taken off those that went back for
 * less.
 */
const refuseSpent = Effect.fn("Purchases.refuseSpent")(function*({ db }: PluginContext, refund: RequestedRefund) {
  const lines = yield* db.use(refundedLines)(refund)
  const all = lines.length === 0 ? [] : yield* db.use(lockedCards)(lines.map(({ id }) => id))
  for (const { amount, given, id, units } of lines) {
    const own = all.filter(({ lineId }) => lineId === id)
    const taken = own.filter(({ isWithdrawn }) => !isWithdrawn).slice(0, units)
    const kept = worthOf(own.filter(({ isWithdrawn }) => isWithdrawn)) - given
    const left = worthOf(taken) + Math.max(0, kept)
    // The held part would come back to a withdrawn card, where no one could spend it.
    if (taken.some(({ isHeld }) => isHeld)) return yield* new CardHeld()
    const isSpent = taken.length === 0 || taken.some(({ isSpent }) => isSpent)
    if (isSpent && amount > left) return yield* new CardSpent(amount, left)
  }
})

/**
 * Follows the sales of cards in the transactions that change orders, whose locks let one at a time look: each unit of an
 * order that is paid has a card, worth what was paid for it, and a unit that was given back has none (contract, plugins §12).
 */
export const followSales = Effect.fnUntraced(function*(host: PluginContext) {
  const [{ productType }, giftCards] = [yield* GiftCardOptions, yield* GiftCards]
  const projection: OrderProjection = {
    only: { entitiesIn: { type: productType } },
    // Orders are paid after they are created.
    created: () => Effect.succeed(undefined),
    changed: Effect.fn("Purchases.changed")(function*(orderIds) {
      const lines = yield* host.db.use(unsettledLines)(orderIds, productType)
      const [sold, issued] = [lines.filter(({ isIssued }) => !isIssued), lines.filter(({ isIssued }) => isIssued)]
      if (sold.length > 0) yield* giftCards.write((yield* Effect.forEach(sold, cardsOf)).flat())
      if (issued.length > 0) yield* withdraw(host, issued)
    }, Effect.catch(Effect.die)),
    refunding: (refund) => refuseSpent(host, refund)
  }
  return projection
})
