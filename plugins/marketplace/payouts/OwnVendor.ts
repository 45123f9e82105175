import type { Actor } from "stoa/plugin"

/** Only who acts for a vendor, which is then the vendor of everything that he asks for. */
export const ofVendor = { rule: (actor: Actor) => actor.vendorId !== null, missing: "marketplace:vendor" }

/** The vendor that somebody acts for; nobody's id for who acts for none, whom the rule of the route has refused. */
export const vendorOf = (actor: Actor): string => actor.vendorId ?? "00000000-0000-0000-0000-000000000000"
