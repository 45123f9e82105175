import { type Actor, isUuid } from "stoa/plugin"

/** The role of a member of a vendor. */
export const vendorRoles = ["owner", "manager", "staff", "viewer"] as const
export type VendorRole = typeof vendorRoles[number]

/**
 * What the people of a vendor may do, by role: `sell` is orders, returns, answers to customers and products; `manage` is
 * what the vendor says of itself; `represent` is its bank account, its documents and its members. Members of a vendor
 * reads; of whom no role is known does no more.
 */
const powers = {
  sell: ["owner", "manager", "staff"],
  manage: ["owner", "manager"],
  represent: ["owner"]
} as const satisfies Readonly<Record<string, ReadonlyArray<VendorRole>>>

export type VendorPower = "read" | keyof typeof powers

type Acting = Pick<Actor, "vendorId" | "vendorRole">

/** Whether the actor acts for a vendor, in a role that may do this. Which one it is says the actor and never the request. */
export const mayForVendor = ({ vendorId, vendorRole }: Acting, power: VendorPower): boolean =>
  vendorId !== null && isUuid(vendorId) && (power === "read" || powers[power].some((role) => role === vendorRole))

/**
 * Who may enter a route of the portal of vendors: its members, in a role that includes it (contract,
 * plugins §1.6; 401 for visitors, 403 for others). An invalid id names no vendor.
 */
const portalFor = (power: VendorPower) => ({
  admits: {
    rule: (actor: Acting): boolean => mayForVendor(actor, power),
    missing: power === "read" ? "marketplace:vendor" : `marketplace:vendor as ${powers[power].join(" or ")}`
  }
})

/** Routes that show something to the people of a vendor. */
export const portal = portalFor("read")

/** Routes by which a vendor sells. */
export const sellers = portalFor("sell")

/** Routes by which a vendor says who it is. */
export const managers = portalFor("manage")

/** Routes of what only a vendor's owner sees and does. */
export const owners = portalFor("represent")

/** The vendor that the actor acts for, on a route that admits only members. */
export const ownVendor = ({ vendorId }: Pick<Actor, "vendorId">): string =>
  vendorId ?? "00000000-0000-0000-0000-000000000000"
