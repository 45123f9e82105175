import { Effect } from "effect"
import { forbidden } from "stoa/plugin"
import { mayForVendor, ownVendor } from "../parties/VendorPortal.ts"
import { changeOwnVendor, readOwnVendor } from "./VendorPortalApi.ts"
import { Vendors } from "./Vendors.ts"

class OwnersOnly extends forbidden("OwnersOnly", "Only an owner of the vendor may say where its money goes.") {}

/** Answers to the routes of `VendorPortalApi.ts`. */
export const portalRoutes = [
  readOwnVendor.handle(({ actor }) => Effect.flatMap(Vendors, (vendors) => vendors.get(ownVendor(actor)))),
  changeOwnVendor.handle(({ actor, input }) =>
    input.bankAccount !== undefined && !mayForVendor(actor, "represent")
      ? new OwnersOnly()
      : Effect.flatMap(Vendors, (vendors) => vendors.changeOwn(ownVendor(actor), input))
  )
]
