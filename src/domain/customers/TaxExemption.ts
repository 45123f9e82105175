import { Schema } from "effect"
import { forbidden } from "../platform/errors/ErrorKinds.ts"
import { maybe } from "../platform/text/Fields.ts"
import { keyText } from "../platform/text/Storable.ts"
import { Until } from "../platform/text/Time.ts"

/** Why a buyer pays no tax (contract-commerce §5). */
export const TaxExemption = Schema.Struct({
  reason: Schema.String,
  number: Schema.NullOr(Schema.String).annotate({ description: "Number of the certificate, or the VAT number." }),
  validUntil: Schema.NullOr(Schema.String.annotate({ format: "date-time" })).annotate({
    description: "The first moment without the exemption; null: it has no end."
  })
}).annotate({ identifier: "TaxExemption", description: "Reason why the buyer pays no tax." })
export type TaxExemption = typeof TaxExemption.Type

export const SentTaxExemption = Schema.Struct({
  reason: keyText(255).annotate({ description: "Shown on orders and invoices.", examples: ["Public school"] }),
  number: maybe(
    keyText(64).annotate({ description: "Number of the certificate, or the VAT number.", examples: ["EX-2026-0017"] })
  ),
  validUntil: maybe(Until)
}).annotate({ identifier: "SentTaxExemption", description: "Reason why the customer pays no tax; null: they pay it." })
export type SentTaxExemption = typeof SentTaxExemption.Type

export const exemptsOneself = "You cannot exempt yourself from tax. Ask another member of the staff to do it."

export class OwnTaxExemption extends forbidden("OwnTaxExemption", exemptsOneself) {}

/** Absent: the exemption before. */
export const changedExemption = (
  sent: SentTaxExemption | null | undefined,
  before: TaxExemption | null
): TaxExemption | null => {
  if (sent === undefined || sent === null) return sent === undefined ? before : null
  const { number = null, reason, validUntil } = sent
  return { reason, number, validUntil: validUntil?.toISOString() ?? null }
}
