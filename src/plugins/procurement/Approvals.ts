import { Effect } from "effect"
import { type Actor, forbidden } from "stoa/plugin"
import { Rational } from "../uom/index.ts"
import type { ProcurementSettings } from "./ProcurementOptions.ts"
import type { PurchaseOrder } from "./PurchaseOrder.ts"

class AboveLimit extends forbidden("AboveLimit", (limit: number) => `Your role approves orders of up to ${limit}.`) {}
class OwnOrder extends forbidden(
  "OwnOrder",
  "Another person has to approve this: you entered it, or changed it last."
) {}
class RateUnknown extends forbidden(
  "RateUnknown",
  (currency: string) => `Your role approves no orders in ${currency}: the option exchangeRates has no rate for it.`
) {}

/** The login, API key or name that an order knows a person by. */
export const personOf = ({ keyId, name, userId }: Actor): string => userId ?? keyId ?? name

/** Refuses what one of these people, with `fourEyes`, may not approve: their own entries. */
export const refuseOwn = (fourEyes: boolean, actor: Actor, people: ReadonlyArray<string | null>) =>
  fourEyes && people.includes(personOf(actor)) ? Effect.fail(new OwnOrder()) : Effect.void

/**
 * Refuses an approval by the person who requested the order or changed it last, and one above the limit of the actor's role. The
 * rate in the order is what a buyer wrote, so it can only raise what the order counts.
 */
export const refuseApproval = Effect.fnUntraced(function*(
  { approvalLimit, exchangeRates, fourEyes }: ProcurementSettings,
  actor: Actor,
  { changedBy, currency, duty, exchangeRate, freight, grandTotal, requestedBy }: PurchaseOrder,
  storeCurrency: string
) {
  yield* refuseOwn(fourEyes, actor, [requestedBy, changedBy])
  const limit = approvalLimit[actor.role]
  if (limit === undefined) return
  const known = currency === storeCurrency ? "1" : exchangeRates[currency]
  if (known === undefined) return yield* new RateUnknown(currency)
  const isAbove = [known, exchangeRate].some((rate) =>
    Rational.of(rate).times(grandTotal + freight + duty).minus(limit).isPositive
  )
  if (isAbove) return yield* new AboveLimit(limit)
})
