import { Schema } from "effect"
import type { Issue } from "../platform/errors/ApiErrors.ts"
import { about } from "../platform/hints/Hints.ts"
import { issue, maybe, over, Units } from "../platform/text/Fields.ts"
import { Text } from "../platform/text/Storable.ts"
import { Moment, Time, Until, windowIssues } from "../platform/text/Time.ts"

/** Limits to buyers, quantities and times; null is open. Quantities are inclusive, `validUntil` is not. */
export const boundsFields = {
  customerGroupId: Schema.NullOr(Schema.String),
  minQuantity: Schema.NullOr(Schema.Int).pipe(about("Fewest units of a line that it applies to; null: no limit.")),
  maxQuantity: Schema.NullOr(Schema.Int).pipe(about("Most units of a line that it applies to; null: no limit.")),
  validFrom: Schema.NullOr(Time),
  validUntil: Schema.NullOr(Time)
}

export const sentBounds = {
  customerGroupId: maybe(Text),
  minQuantity: maybe(Units).pipe(about("Fewest units of a line that it applies to; null: no limit.")),
  maxQuantity: maybe(Units).pipe(about("Most units of a line that it applies to; null: no limit.")),
  validFrom: maybe(Moment),
  validUntil: maybe(Until)
}

export interface SentBounds {
  readonly customerGroupId?: string | null | undefined
  readonly minQuantity?: number | null | undefined
  readonly maxQuantity?: number | null | undefined
  readonly validFrom?: Date | null | undefined
  readonly validUntil?: Date | null | undefined
}

export interface Bounds {
  readonly customerGroupId: string | null
  readonly minQuantity: number | null
  readonly maxQuantity: number | null
  readonly validFrom: Date | null
  readonly validUntil: Date | null
}

export const boundsOver = (sent: SentBounds, before?: Bounds): Bounds => ({
  customerGroupId: over(sent.customerGroupId, before?.customerGroupId ?? null),
  minQuantity: over(sent.minQuantity, before?.minQuantity ?? null),
  maxQuantity: over(sent.maxQuantity, before?.maxQuantity ?? null),
  validFrom: over(sent.validFrom, before?.validFrom ?? null),
  validUntil: over(sent.validUntil, before?.validUntil ?? null)
})

export const boundsIssues = ({ maxQuantity, minQuantity, ...bounds }: Bounds): ReadonlyArray<Issue> => [
  ...(minQuantity !== null && maxQuantity !== null && maxQuantity < minQuantity
    ? [issue("maxQuantity", "must not be below minQuantity.")]
    : []),
  ...windowIssues(bounds, "validFrom", "validUntil")
]
