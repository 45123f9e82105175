import { Effect } from "effect"
import { type Actor, Forbidden, isUuid } from "stoa/plugin"

/** Routes of the vendor portal let in whoever acts for a vendor: 401 for visitors, 403 for others who are known. */
export const portal = {
  admits: { rule: (actor: Actor): boolean => actor.vendorId !== null, missing: "marketplace:vendor" }
}

/** The vendor that the actor acts for, which is never said by a request; 403 for an actor of none. */
export const ownVendor = ({ vendorId }: Actor): Effect.Effect<string, Forbidden> =>
  vendorId !== null && isUuid(vendorId)
    ? Effect.succeed(vendorId)
    : Effect.fail(Forbidden.of("Permission 'marketplace:vendor' is required."))
