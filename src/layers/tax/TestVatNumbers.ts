import type { VatNumberService } from "../../domain/tax/VatNumber.ts"

/**
 * Checks VAT numbers outside production without a service: those with 404 in them are not registered, and those with
 * 503 in them cannot be checked.
 */
export const testVatNumbers: VatNumberService = {
  id: "test",
  isRegistered: (number) =>
    number.includes("503")
      ? Promise.reject(new Error("The register of this country does not answer."))
      : Promise.resolve(!number.includes("404"))
}
