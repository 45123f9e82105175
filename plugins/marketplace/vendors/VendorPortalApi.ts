import { group } from "stoa/plugin"
import { OwnVendorChange, VendorView } from "./Vendor.ts"
import { NewDocument } from "./VendorDocumentsApi.ts"
import { forVendors } from "./VendorPortal.ts"
import { VendorProduct } from "./VendorProduct.ts"
import { vendorDocuments } from "./VendorTables.ts"

const g = group("Marketplace vendor portal", "/marketplace")

export const readOwnVendor = g.get("/vendor/me", { summary: "Read the own vendor", ...forVendors, success: VendorView })
export const changeOwnVendor = g.patch("/vendor/me", {
  summary: "Change what the own vendor says of itself, and its bank account, which is not shown",
  ...forVendors,
  input: OwnVendorChange,
  success: VendorView
})
export const listOwnDocuments = g.list("/vendor/me/documents", {
  summary: "List own documents",
  ...forVendors,
  success: vendorDocuments.Row
})
export const addOwnDocument = g.post("/vendor/me/documents", {
  summary: "Hand in a document",
  ...forVendors,
  input: NewDocument,
  success: vendorDocuments.Row
})
export const listOwnProducts = g.list("/vendor/me/products", {
  summary: "List what the own vendor sells",
  ...forVendors,
  success: VendorProduct
})
