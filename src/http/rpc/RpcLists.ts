import { Schema } from "effect"

const whole = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }))

/** The page of a list that a call asks for: from 1, and at most 100 records. Default the first 20. */
export const pageFields = {
  page: Schema.optional(whole(1_000_000)),
  limit: Schema.optional(whole(100))
}

/** A page of records, and how many there are in all. */
export const pageOfRecords = <Record extends Schema.Top>(record: Record) =>
  Schema.Struct({ items: Schema.Array(record), page: Schema.Int, limit: Schema.Int, total: Schema.Int })

/** What a call asks of a list: `pageFields` as they were sent. */
export interface AskedPage {
  readonly page?: number | undefined
  readonly limit?: number | undefined
}

/** The page that was asked for. */
export const askedPage = ({ limit = 20, page = 1 }: AskedPage) => ({ page, limit })
