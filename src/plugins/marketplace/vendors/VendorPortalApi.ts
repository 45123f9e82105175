import { group } from "stoa/plugin"
import { managers, portal } from "../parties/VendorPortal.ts"
import { OwnVendorChange, VendorView } from "./Vendor.ts"

const g = group("Marketplace vendor portal", "/marketplace")

export const readOwnVendor = g.get("/vendor/me", { summary: "Read the own vendor", ...portal, success: VendorView })
export const changeOwnVendor = g.patch("/vendor/me", {
  summary: "Change what the own vendor says of itself, and its bank account, which is not shown",
  ...managers,
  input: OwnVendorChange,
  success: VendorView
})
