import { Cache, Context, Effect, Exit, Layer } from "effect"
import { Customers } from "../customers/Customers.ts"
import type { TaxExemption } from "../customers/TaxExemption.ts"
import type { CurrentActor } from "../platform/access/Actor.ts"
import { comparable } from "../platform/addresses/CountryFormats.ts"
import type { PostalAddress } from "../platform/addresses/PostalAddress.ts"
import type { CustomerId } from "../platform/ids/Id.ts"
import { askOutside } from "../platform/modules/OutsideService.ts"
import { TaxSettings } from "./TaxAdapter.ts"
import { isInEu, vatNumberOf } from "./VatNumber.ts"

interface TaxedBuyer {
  readonly customerId: CustomerId | null
  readonly shippingAddress: PostalAddress | null
  readonly billingAddress: PostalAddress | null
}

const nothing = Effect.succeed(null)

const euBusiness = "VAT number of another EU country"

/** How long an answer about a VAT number counts, and how long a silent service is not asked again. */
const lifeOf = (exit: Exit.Exit<boolean | undefined>) =>
  Exit.isSuccess(exit) && exit.value !== undefined ? "1 hour" : "1 minute"

/** Decides who pays no tax (contract-commerce §5). Do not call it in a transaction: a service may be asked. */
export class TaxExemptions extends Context.Service<TaxExemptions>()("stoa/domain/tax/TaxExemptions", {
  make: Effect.gen(function*() {
    const customers = yield* Customers
    const { exemptEuBusinesses, from, timeoutMs, vatNumbers } = yield* TaxSettings

    const registered = yield* Cache.makeWith((number: string) =>
      vatNumbers === undefined
        ? Effect.succeed(undefined)
        : askOutside((signal) => vatNumbers.isRegistered(number, signal), timeoutMs).pipe(
          Effect.map((answer) => answer === true),
          Effect.catchTag("OutsideFailed", ({ message }) =>
            Effect.as(
              Effect.logWarning(`the service '${vatNumbers.id}' did not check a VAT number: ${message}`),
              undefined
            ))
        ), { capacity: 10_000, timeToLive: lifeOf, requireServicesAt: "lookup" })

    /** Goods go to another country of the EU than the store's, to a business of another one. */
    const ofBusiness = (
      { billingAddress, shippingAddress }: TaxedBuyer
    ): Effect.Effect<TaxExemption | null, never, CurrentActor> => {
      const sent = billingAddress?.vatNumber ?? shippingAddress?.vatNumber
      const vat = exemptEuBusinesses && sent ? vatNumberOf(sent) : undefined
      const home = comparable(from?.country ?? "")
      const country = comparable((shippingAddress ?? billingAddress)?.country ?? "")
      if (vat === undefined || vat.country === home || country === home || !isInEu(country)) return nothing
      const { number } = vat
      return Effect.map(
        Cache.get(registered, number),
        (isKnown) => isKnown === true ? { reason: euBusiness, number, validUntil: null } : null
      )
    }

    return {
      /** The exemption that counts now: the customer's, their groups', or that of a business of another EU country. */
      of: (buyer: TaxedBuyer) =>
        buyer.customerId === null
          ? ofBusiness(buyer)
          : Effect.flatMap(
            customers.exemptionOf(buyer.customerId),
            (own) => own === null ? ofBusiness(buyer) : Effect.succeed(own)
          )
    }
  })
}) {
  static readonly layer = Layer.effect(TaxExemptions, TaxExemptions.make)
}
