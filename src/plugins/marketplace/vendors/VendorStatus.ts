import type { VendorRow } from "./Vendor.ts"

type Status = VendorRow["status"]

/**
 * How a vendor moves (contract, plugins §1.2): each step leaves one status for another and is refused from all others. A
 * rejected vendor becomes pending again with the next document that it hands in (`VendorDocuments.ts`).
 */
export const steps = {
  approve: { from: "pending", to: "approved" },
  reject: { from: "pending", to: "rejected" },
  suspend: { from: "approved", to: "suspended" },
  reinstate: { from: "suspended", to: "approved" }
} as const satisfies Readonly<Record<string, { readonly from: Status; readonly to: Status }>>

export type Step = keyof typeof steps
