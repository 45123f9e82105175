import { group } from "stoa/plugin"
import { portal } from "../parties/VendorPortal.ts"
import { OwnVendorChange, VendorView } from "./Vendor.ts"
import { NewDocument } from "./VendorDocumentsApi.ts"
import { VendorProduct } from "./VendorProduct.ts"
import { vendorDocuments } from "./VendorTables.ts"

const g = group("Marketplace vendor portal", "/marketplace")

export const readOwnVendor = g.get("/vendor/me", { summary: "Read the own vendor", ...portal, success: VendorView })
export const changeOwnVendor = g.patch("/vendor/me", {
  summary: "Change what the own vendor says of itself, and its bank account, which is not shown",
  ...portal,
  input: OwnVendorChange,
  success: VendorView
})
export const listOwnDocuments = g.list("/vendor/me/documents", {
  summary: "List own documents",
  ...portal,
  success: vendorDocuments.Row
})
export const addOwnDocument = g.post("/vendor/me/documents", {
  summary: "Hand in a document",
  ...portal,
  input: NewDocument,
  success: vendorDocuments.Row
})
export const listOwnProducts = g.list("/vendor/me/products", {
  summary: "List what the own vendor sells",
  ...portal,
  success: VendorProduct
})
