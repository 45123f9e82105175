import { Effect } from "effect"
import { Vendors } from "./Vendors.ts"
import {
  approveVendor,
  changeVendor,
  createVendor,
  listVendors,
  readVendor,
  reinstateVendor,
  rejectVendor,
  suspendVendor
} from "./VendorsApi.ts"

/** Answers to the routes of `VendorsApi.ts`. */
export const vendorRoutes = [
  listVendors.handle(({ page, query }) => Effect.flatMap(Vendors, (vendors) => vendors.list(query, page))),
  createVendor.handle(({ input }) => Effect.flatMap(Vendors, (vendors) => vendors.create(input))),
  readVendor.handle(({ params }) => Effect.flatMap(Vendors, (vendors) => vendors.get(params.id))),
  changeVendor.handle(({ input, params }) => Effect.flatMap(Vendors, (vendors) => vendors.change(params.id, input))),
  approveVendor.handle(({ params }) => Effect.flatMap(Vendors, (vendors) => vendors.approve(params.id))),
  rejectVendor.handle(({ input, params }) =>
    Effect.flatMap(Vendors, (vendors) => vendors.reject(params.id, input.reason))
  ),
  suspendVendor.handle(({ input, params }) =>
    Effect.flatMap(Vendors, (vendors) => vendors.suspend(params.id, input.reason))
  ),
  reinstateVendor.handle(({ params }) => Effect.flatMap(Vendors, (vendors) => vendors.reinstate(params.id)))
]
