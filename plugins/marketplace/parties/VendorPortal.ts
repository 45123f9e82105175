import { type Actor, isUuid } from "stoa/plugin"

/**
 * Who may enter the portal of vendors: whoever acts for one (contract, plugins §1.6; 401 for visitors, 403 for others).
 * Which one it is says the actor and never the request; what is no id is nobody's vendor.
 */
export const portal = {
  admits: {
    rule: ({ vendorId }: Pick<Actor, "vendorId">): boolean => vendorId !== null && isUuid(vendorId),
    missing: "marketplace:vendor"
  }
} as const

/** The vendor that the actor acts for, on a route whose rule has let in nobody else. */
export const ownVendor = ({ vendorId }: Pick<Actor, "vendorId">): string =>
  vendorId ?? "00000000-0000-0000-0000-000000000000"
