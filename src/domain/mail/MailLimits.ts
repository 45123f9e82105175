import { Context, Data, Effect, Layer } from "effect"
import { type Actor, CurrentActor } from "../platform/access/Actor.ts"
import { limitOf, RateLimits, RateLimitSettings } from "../platform/ratelimits/RateLimits.ts"
import { digestOf } from "./MailChoiceRepo.ts"

/** 429: a shopper caused too many mails, or too many go to one receiver. `retryAfter` is in seconds. */
export class TooManyMails extends Data.TaggedError("TooManyMails")<{ readonly retryAfter: number }> {}

/** Customers and visitors; the service trusts staff, keys and jobs with the number of their receivers. */
const isShopper = ({ role, type }: Actor): boolean => type === "user" && role === "customer"

const subjectOf = ({ ip, organizationId, userId }: Actor): string => `${organizationId}/${userId ?? ip ?? "visitor"}`

/**
 * Counts messages of all channels by the shopper who causes them (`rateLimits.mailsOfShopper`) and by their receiver
 * (`rateLimits.mailsToReceiver`), so that no shopper makes a store write a thousand of them.
 */
export class MailLimits extends Context.Service<MailLimits>()("stoa/domain/mail/MailLimits", {
  make: Effect.map(Effect.all([RateLimits, RateLimitSettings]), ([limits, rates]) => ({
    /**
     * Counts a message to an address or a number. Fails in the request of a shopper. A job gets false: it records the
     * message as suppressed. What staff sends is not counted.
     */
    count: Effect.fn("MailLimits.count")(function*(to: string) {
      const actor = yield* CurrentActor
      const byShopper = isShopper(actor)
      if (!byShopper && actor.source === "rest") return true
      const receiver = limitOf("mailsToReceiver", digestOf(actor.organizationId, to), rates.mailsToReceiver)
      const { admitted, resetsInMs } = byShopper
        ? yield* limits.admit(limitOf("mailsOfShopper", subjectOf(actor), rates.mailsOfShopper), receiver)
        : yield* limits.admit(receiver)
      if (!admitted && byShopper) return yield* new TooManyMails({ retryAfter: Math.ceil(resetsInMs / 1_000) })
      return admitted
    })
  }))
}) {
  static readonly layer = Layer.effect(MailLimits, MailLimits.make)
}
