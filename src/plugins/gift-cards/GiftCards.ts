import { Context, DateTime, Effect, Layer } from "effect"
import { conflict, invalid, isWindow, newId, type NewRowOf, notFound, PluginContext, requireWindow } from "stoa/plugin"
import { type Card, cards, isDisabled, money } from "./GiftCard.ts"
import { concealed, type ConcealedCode, displayed, lastFourOf, newCode } from "./GiftCardCode.ts"
import { GiftCardOptions, type GiftCardSettings } from "./GiftCardOptions.ts"

class CardNotFound extends notFound("GiftCard", "Gift card not found.") {}
class AboveMaximum
  extends invalid("AboveMaximum", "amount", (most: number) => `amount must not make the balance higher than ${most}.`)
{}
class OutsideOfInitial extends invalid(
  "OutsideOfInitial",
  "delta",
  (initial: number) => `delta must leave a balance between 0 and ${initial}.`
) {}
class AddressMissing extends invalid(
  "AddressMissing",
  "recipientEmail",
  "recipientEmail is required: the card has no address.",
  "required"
) {}
class ExpiredCard extends invalid("ExpiredCard", "expiresAt", "expiresAt must lie in the future.") {}
class CardDisabled extends conflict("GiftCardDisabled", "The gift card is disabled.") {}

/** A card that is to be issued. `amount` is on it from the beginning. */
export interface NewCard extends
  Partial<
    Omit<
      NewRowOf<typeof cards>,
      "balance" | "held" | "version" | "codeDigest" | "lastFour" | "initialAmount" | "code"
    >
  >
{
  readonly amount: number
  readonly currency: string
  /** A code that people have already. Default: a new one. */
  readonly code?: string
}

/** A new card and its code, which only the answer of that moment and the mail have. */
export interface IssuedCard {
  readonly card: Card
  readonly code: string
  readonly displayCode: string
}

/** What a card keeps of its code; the code as well, encrypted, while a mail has to bring it. */
const stored = (digests: PluginContext["digests"], code: string, isMailed: boolean) => ({
  code: isMailed ? code : null,
  codeDigest: digests(code)[0],
  lastFour: lastFourOf(code)
})

/**
 * Writes cards and, unless they are `empty`, puts their amounts on them: two statements for any number. To be run in a
 * transaction.
 */
const writing = (
  { db, digests }: PluginContext,
  { codeFormat, defaultExpiryDays, singlePurpose }: GiftCardSettings
) => {
  return Effect.fn("GiftCards.write")(function*(all: ReadonlyArray<NewCard>, empty = false) {
    const now = yield* DateTime.nowAsDate
    const expiresAt = defaultExpiryDays === 0 ? null : new Date(now.getTime() + defaultExpiryDays * 86_400_000)
    const drawn = all.map((one) => ({ ...one, id: newId(), code: one.code ?? newCode(codeFormat) }))
    const made = yield* db.table(cards).insertMany(drawn.map(({ amount, code, ...card }) => ({
      ...card,
      expiresAt: card.expiresAt ?? expiresAt,
      singlePurpose: card.singlePurpose ?? singlePurpose,
      deliverAt: card.deliverAt ?? now,
      initialAmount: amount,
      ...stored(digests, code, (card.recipientEmail ?? null) !== null)
    })))
    const issue = { type: "issue", reference: "issue", note: "Initial load" }
    if (!empty) {
      yield* db.use(money).postAll(
        made.map(({ id, initialAmount, sourceOrderId }) => ({
          ...issue,
          accountId: id,
          amount: initialAmount,
          orderId: sourceOrderId
        }))
      )
    }
    return made.map((card, n): IssuedCard => {
      const code = drawn[n]?.code ?? ""
      const filled = empty ? {} : { balance: card.initialAmount, version: 1 }
      return { card: { ...card, ...filled }, code, displayCode: displayed(code, codeFormat) }
    })
  })
}

/** Gift cards and the money on them, for this plugin and those that use it (contract, plugins §12). */
export class GiftCards extends Context.Service<GiftCards>()("stoa/plugins/gift-cards/GiftCards", {
  make: Effect.gen(function*() {
    const [host, options] = [yield* PluginContext, yield* GiftCardOptions]
    const [{ db, digests }, { codeFormat, maxBalancePerCard }] = [host, options]
    const write = writing(host, options)

    /** Issues a card for staff. 404 without the customer whose it is; 422 above the maximum, or expired. */
    const issue = Effect.fn("GiftCards.issue")(function*(given: NewCard) {
      if (given.amount > maxBalancePerCard) return yield* new AboveMaximum(maxBalancePerCard)
      const { expiresAt } = given
      const now = yield* DateTime.nowAsDate
      if (!isWindow(now, expiresAt)) return yield* new ExpiredCard()
      yield* requireWindow({ deliverAt: given.deliverAt, expiresAt }, "deliverAt", "expiresAt")
      if (typeof given.purchaserId === "string") yield* host.services.customers.mustExist(given.purchaserId)
      const [made] = yield* db.transaction(write([given]))
      return made ?? (yield* Effect.die(new Error("No card was written.")))
    })

    const get = (id: string) => Effect.catchTag(db.table(cards).get(id), "NotFound/Row", () => new CardNotFound())

    /** The locked card, unless it is disabled: 404, 409. */
    const locked = Effect.fnUntraced(function*(id: string) {
      const card = yield* Effect.catchTag(db.table(cards).lock(id), "NotFound/Row", () => new CardNotFound())
      return isDisabled(card) ? yield* new CardDisabled() : card
    })

    /** Ends a card, and forgets a code that no mail has brought; a disabled one stays as it is. 404. */
    const disable = Effect.fn("GiftCards.disable")(function*(id: string) {
      const card = yield* get(id)
      return card.disabledAt === null
        ? yield* db.table(cards).update(id, { code: null, disabledAt: yield* DateTime.nowAsDate })
        : card
    })

    /** Corrects the balance. 404; 409 for a disabled card; 422 outside of 0 and the initial amount. */
    const adjust = Effect.fn("GiftCards.adjust")(function*(id: string, delta: number, note: string) {
      const { balance, initialAmount } = yield* locked(id)
      const after = balance + delta
      if (after < 0 || after > initialAmount) return yield* new OutsideOfInitial(initialAmount)
      yield* db.use(money).post({ accountId: id, type: "adjust", amount: delta, reference: `adjust:${newId()}`, note })
      return yield* get(id)
    }, db.transaction)

    /** Raises balance and initial amount. 404; 409 for a disabled card; 422 above the maximum. */
    const topUp = Effect.fn("GiftCards.topUp")(function*(id: string, amount: number, note: string | undefined) {
      const { balance, initialAmount } = yield* locked(id)
      if (balance + amount > maxBalancePerCard) return yield* new AboveMaximum(maxBalancePerCard)
      yield* db.table(cards).update(id, { initialAmount: initialAmount + amount })
      yield* db.use(money).post({ accountId: id, type: "top_up", amount, reference: `top_up:${newId()}`, note })
      return yield* get(id)
    }, db.transaction)

    /**
     * Replaces the code: the old one is unknown from then on, and a mail that still waits brings the new one. For cards
     * that no mail can reach, and codes that are lost (contract §17.5: only answers of POST and mails show one). 404; 409
     * for a disabled card.
     */
    const replaceCode = Effect.fn("GiftCards.replaceCode")(function*(id: string) {
      const { deliveredAt, recipientEmail } = yield* locked(id)
      const code = newCode(codeFormat)
      const kept = stored(digests, code, deliveredAt === null && recipientEmail !== null)
      return { card: yield* db.table(cards).update(id, kept), code, displayCode: displayed(code, codeFormat) }
    }, db.transaction)

    /**
     * Replaces the code, and mails the new one to `to`, else to the card's address. 404; 409 for a disabled card; 422
     * without any address.
     */
    const sendAgain = Effect.fn("GiftCards.sendAgain")(function*(id: string, to: string | undefined) {
      const card = yield* locked(id)
      const recipientEmail = to ?? card.recipientEmail
      if (recipientEmail === null) return yield* new AddressMissing()
      const deliverAt = yield* DateTime.nowAsDate
      yield* db.table(cards).update(id, { recipientEmail, deliverAt, deliveredAt: null })
      return (yield* replaceCode(id)).card
    }, db.transaction)

    return {
      write,
      issue,
      sendAgain,
      replaceCode,
      get,
      disable,
      adjust,
      topUp,
      conceal: (typed: string) => concealed(digests, typed),
      /** The card of a code. */
      found: ({ digests }: ConcealedCode) => db.table(cards).first({ codeDigest: { in: digests } })
    }
  })
}) {
  static readonly layer = Layer.effect(GiftCards, GiftCards.make)
}
