import { Effect, Option, Schema } from "effect"
import { Moment, type OrderProjection, type PluginContext } from "stoa/plugin"
import { GiftCardOptions } from "./GiftCardOptions.ts"
import { GiftCards, type NewCard } from "./GiftCards.ts"
import { type SoldLine, unissuedLines } from "./PurchasesRepo.ts"

const text = (longest: number) => Schema.NonEmptyString.check(Schema.isMaxLength(longest))

/** Who gets the card, as the line's metadata say it, else those of the order. What cannot be read does not count. */
const wishes = {
  recipientEmail: Schema.decodeUnknownOption(text(254)),
  senderName: Schema.decodeUnknownOption(text(255)),
  personalMessage: Schema.decodeUnknownOption(text(500)),
  deliverAt: Schema.decodeUnknownOption(Moment)
}

const wishedFor = ({ email, metadata, orderMetadata }: SoldLine) => {
  const read = <A>(name: keyof typeof wishes, decode: (value: unknown) => Option.Option<A>) =>
    Option.getOrUndefined(Option.orElse(decode(metadata[name]), () => decode(orderMetadata[name])))
  const deliverAt = read("deliverAt", wishes.deliverAt)
  return {
    // The buyer hands a card over whose receiver is not named.
    recipientEmail: read("recipientEmail", wishes.recipientEmail) ?? email,
    senderName: read("senderName", wishes.senderName),
    personalMessage: read("personalMessage", wishes.personalMessage),
    ...(deliverAt === undefined ? {} : { deliverAt })
  }
}

const cardsOf = (line: SoldLine): ReadonlyArray<NewCard> =>
  Array.from({ length: line.units }, (_, unit) => ({
    ...wishedFor(line),
    amount: line.unitPrice,
    currency: line.currency,
    purchaserId: line.customerId,
    sourceOrderId: line.orderId,
    orderLineId: line.id,
    unit
  }))

/**
 * Issues a card for each unit that is sold, of its unit price, in the transaction that records that its order is paid: one
 * exists exactly if the other does, and the order's lock lets one transaction at a time look (contract, plugins §12).
 */
export const issueSold = Effect.fnUntraced(function*({ db }: PluginContext) {
  const [{ productType }, giftCards] = [yield* GiftCardOptions, yield* GiftCards]
  const projection: OrderProjection = {
    // Orders are paid after they are created.
    created: () => Effect.succeed(undefined),
    changed: Effect.fn("Purchases.changed")(function*(orderIds) {
      const sold = yield* unissuedLines(db, orderIds, productType)
      if (sold.length > 0) yield* Effect.catch(giftCards.write(sold.flatMap(cardsOf)), Effect.die)
    })
  }
  return projection
})
