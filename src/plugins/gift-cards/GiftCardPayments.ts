import { DateTime, Effect, Struct } from "effect"
import {
  type CurrentActor,
  type Hold,
  type PaymentAdapter,
  PaymentDeclined,
  type PaymentIntent,
  type PaymentRequest,
  PaymentUnknown,
  type PluginContext
} from "stoa/plugin"
import { type Card, cards, money, payingIn, statusOf } from "./GiftCard.ts"
import { readToken, tokenOf } from "./GiftCardCode.ts"
import { GiftCardOptions } from "./GiftCardOptions.ts"
import { GiftCards } from "./GiftCards.ts"
import { orderAddress } from "./PurchasesRepo.ts"

type Code = PaymentDeclined["code"]

const declined = (code: Code, message: string) => new PaymentDeclined({ code, message })

/** What the ledger refuses is declined for good. */
const orDeclined = <A>(
  code: Code,
  work: Effect.Effect<A, { readonly error: { readonly message: string } }, CurrentActor>
) => Effect.mapError(work, ({ error: { message } }) => declined(code, message))

const intentStatus = {
  held: "requires_capture",
  expired: "requires_capture",
  captured: "succeeded",
  released: "canceled"
} as const

const intentOf = ({ amount, captured, id, status }: Hold, currency: string): PaymentIntent => ({
  id,
  status: intentStatus[status],
  amount,
  currency,
  clientSecret: null,
  amountCaptured: captured
})

/** What is wrong with a card, in words for its shopper; undefined: nothing. */
const flawOf = (card: Card | undefined, currency: string, at: Date): string | undefined => {
  if (card === undefined) return "The code is unknown."
  const status = statusOf(card, at)
  if (status === "disabled" || status === "expired") return `It is ${status}.`
  if (card.currency !== currency) return `It is in ${card.currency} and not in ${currency}.`
  return card.balance - card.held > 0 ? undefined : "It has no balance left."
}

const refused = (lastFour: string, flaw: string) =>
  declined("PAYMENT_INTENT_CREATE_FAILED", `The gift card ending in ${lastFour} cannot pay. ${flaw}`)

const authorizing = Effect.fnUntraced(function*({ db }: PluginContext) {
  const [{ holdHours }, giftCards] = [yield* GiftCardOptions, yield* GiftCards]

  const cardOf = (request: PaymentRequest) => {
    const concealed = readToken(request.paymentMethodToken ?? "")
    return Effect.map(giftCards.found(concealed), (card) => ({ card, lastFour: concealed.lastFour }))
  }

  const offer = Effect.fn("GiftCards.offer")(function*(request: PaymentRequest) {
    const { card, lastFour } = yield* cardOf(request)
    const flaw = flawOf(card, request.currency, yield* DateTime.nowAsDate)
    if (card === undefined || flaw !== undefined) return yield* refused(lastFour, flaw ?? "The code is unknown.")
    return {
      amount: Math.min(request.amount, card.balance - card.held),
      label: `Gift card ending in ${lastFour}`,
      singlePurpose: card.singlePurpose
    }
  })

  const authorize = Effect.fn("GiftCards.authorize")(function*(request: PaymentRequest) {
    const { amount, currency, idempotencyKey: reference, orderId } = request
    const { card, lastFour } = yield* cardOf(request)
    if (card === undefined) {
      // The code may have been replaced since a process that died set the money aside.
      const hold = yield* db.table(money.holds).first({ reference })
      return hold === undefined ? yield* refused(lastFour, "The code is unknown.") : intentOf(hold, currency)
    }
    const at = yield* DateTime.nowAsDate
    const expiresAt = new Date(at.getTime() + holdHours * 3_600_000)
    const hold = yield* db.use(money).hold(
      { accountId: card.id, amount, reference, orderId, expiresAt },
      payingIn(currency, at)
    )
      .pipe(Effect.catch(() => Effect.fail(refused(lastFour, flawOf(card, currency, at) ?? "It has not enough left."))))
    return intentOf(hold, currency)
  })
  return { offer, authorize }
})

const settling = Effect.fnUntraced(function*({ db }: PluginContext) {
  const giftCards = yield* GiftCards

  const capture = Effect.fn("GiftCards.capture")(function*(holdId: string, amount: number) {
    const hold = yield* orDeclined("PAYMENT_CAPTURE_FAILED", db.use(money).capture(holdId, { type: "redeem", amount }))
    const { currency } = yield* orDeclined("PAYMENT_CAPTURE_FAILED", giftCards.get(hold.accountId))
    return intentOf(hold, currency)
  })

  /** A card that takes the place of one that cannot be used any more. */
  const replacementOf = Effect.fnUntraced(function*(card: Card, { orderId }: Hold, amount: number) {
    const address = orderId === null ? null : yield* db.use(orderAddress)(orderId)
    const [made] = yield* giftCards.write([{
      amount,
      ...Struct.pick(card, ["currency", "singlePurpose"]),
      purchaserId: card.purchaserId,
      recipientEmail: address ?? card.recipientEmail,
      sourceOrderId: orderId,
      metadata: { replaces: card.id }
    }], true)
    return made?.card.id
  })

  /** Gives captured money back, all that is left without an amount; null when nothing is left. */
  const giveBack = Effect.fn("GiftCards.giveBack")(function*(holdId: string, reference: string, amount?: number) {
    const hold = yield* db.table(money.holds).lock(holdId)
    const card = yield* db.table(cards).lock(hold.accountId)
    const known = yield* db.table(money.entries).first({ reference })
    const given = amount ?? hold.captured - hold.refunded
    if (known !== undefined || given === 0) return known ?? null
    const status = statusOf(card, yield* DateTime.nowAsDate)
    const accountId = status === "disabled" || status === "expired"
      ? yield* replacementOf(card, hold, given)
      : card.id
    return yield* db.use(money).refund(holdId, {
      type: "refund",
      reference,
      amount: given,
      ...(accountId && { accountId })
    })
  }, db.transaction)

  const cancel = Effect.fn("GiftCards.cancel")(function*(holdId: string) {
    const { status } = yield* db.use(money).release(holdId)
    if (status === "captured") yield* giveBack(holdId, `cancel:${holdId}`)
  })
  return { capture, giveBack, cancel }
})

/**
 * Gift cards as payments of checkouts (contract, plugins §12, §17.3-6): a payment is a hold of the ledger under the key of
 * the checkout. Each call is one transaction, and repeating it changes nothing.
 */
export const giftCardPayments = Effect.fnUntraced(function*(host: PluginContext) {
  const giftCards = yield* GiftCards
  const { cancel, capture, giveBack } = yield* settling(host)
  const adapter: PaymentAdapter = {
    providerId: "gift-card",
    isStoredValue: true,
    hasSinglePurpose: true,
    conceal: (typed) => tokenOf(giftCards.conceal(typed)),
    ...(yield* authorizing(host)),
    capture,
    cancel: (holdId) => orDeclined("PAYMENT_CANCEL_FAILED", cancel(holdId)),
    refund: (holdId, amount, _reason, key) =>
      orDeclined("PAYMENT_REFUND_FAILED", giveBack(holdId, `refund:${key}`, amount)).pipe(
        Effect.flatMap((entry) =>
          entry === null
            ? Effect.fail(new PaymentUnknown({ message: "Nothing was given back." }))
            : Effect.succeed(entry.id)
        )
      )
  }
  return adapter
})
