import type { Actor } from "stoa/plugin"

/**
 * Who may enter the portal of vendors: whoever acts for one (contract, plugins §1.6; 403 for others). Which one it is says
 * the actor and never the request.
 */
export const forVendors = {
  admits: { rule: (actor: Actor) => actor.vendorId !== null, missing: "marketplace:vendor" }
} as const

/** The vendor that the actor acts for; a route of the portal lets nobody else in, and the empty id is nobody's. */
export const ownVendor = ({ vendorId }: Actor): string => vendorId ?? ""
