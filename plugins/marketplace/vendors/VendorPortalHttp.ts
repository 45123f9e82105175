import { Effect } from "effect"
import { ownVendor } from "../parties/VendorPortal.ts"
import { changeOwnVendor, readOwnVendor } from "./VendorPortalApi.ts"
import { Vendors } from "./Vendors.ts"

/** Answers to the routes of `VendorPortalApi.ts`. */
export const portalRoutes = [
  readOwnVendor.handle(({ actor }) => Effect.flatMap(Vendors, (vendors) => vendors.get(ownVendor(actor)))),
  changeOwnVendor.handle(({ actor, input }) =>
    Effect.flatMap(Vendors, (vendors) => vendors.change(ownVendor(actor), input))
  )
]
