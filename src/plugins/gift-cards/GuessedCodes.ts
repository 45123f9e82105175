import { DateTime, Effect, Schema } from "effect"
import { ApiError, FreeText, notFound, type RouteCall } from "stoa/plugin"
import { statusOf } from "./GiftCard.ts"
import { plainCode } from "./GiftCardCode.ts"
import { GiftCards } from "./GiftCards.ts"

export const Code = FreeText.check(Schema.isBetweenLength(4, 30)).annotate({
  description: "Code of the card. Case, hyphens and spaces do not count."
})

class UnknownCode extends notFound("GiftCardCode", "No gift card has this code.") {}

/** The card of a code that a caller typed: ten tries a minute of an address, and of a beginning of a code (contract §17.8). */
export const cardOf = Effect.fnUntraced(
  function*({ actor, organizationId, services }: RouteCall<unknown, unknown, unknown>, code: string) {
    const start = plainCode(code).slice(0, 4)
    const subjects = [`${organizationId}/ip/${actor.ip ?? ""}`, `${organizationId}/code/${start}`] as const
    const { admitted, resetsInMs } = yield* services.guesses.admit("gift-card", ...subjects)
    if (!admitted) {
      const answer = { status: 429, code: "TOO_MANY_REQUESTS", message: "Too many requests, please try again later." }
      return yield* ApiError.of({ ...answer, retryAfter: resetsInMs / 1_000 })
    }
    // Known or not, a code costs one digest and one look-up.
    const giftCards = yield* GiftCards
    return (yield* giftCards.found(giftCards.conceal(code))) ?? (yield* new UnknownCode())
  }
)

/** A balance, for who has the code. */
export const balanceOf = Effect.fnUntraced(function*(call: RouteCall<unknown, unknown, unknown>, code: string) {
  const card = yield* cardOf(call, code)
  return {
    balance: card.balance - card.held,
    currency: card.currency,
    status: statusOf(card, yield* DateTime.nowAsDate)
  }
})
