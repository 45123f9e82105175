import { Effect } from "effect"
import { type PluginDatabase, visibleRows } from "stoa/plugin"
import { vendors } from "../vendors/Vendor.ts"
import { ownVendor } from "./VendorPortal.ts"

const known = (db: PluginDatabase, vendorId = "") => Effect.as(db.table(vendors).get(vendorId), { vendorId })

/** Rows of the vendor in the path; 404 for one that the organization does not have. */
export const ofVendor = visibleRows(["vendorId"], ({ db, params }) => known(db, params["id"]))

/** Rows of the vendor that the actor acts for. */
export const ofOwnVendor = visibleRows(["vendorId"], ({ actor }) => Effect.succeed({ vendorId: ownVendor(actor) }))

/** The same; 404 for one that the organization does not have. */
export const ofKnownOwnVendor = visibleRows(["vendorId"], ({ actor, db }) => known(db, ownVendor(actor)))
