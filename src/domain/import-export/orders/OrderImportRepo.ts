import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../../platform/access/Actor.ts"
import { decoding } from "../../platform/records/Rows.ts"
import { StoredRecord } from "./OrderContent.ts"
import { orderRecordJson } from "./OrderRecord.ts"

const NumberCounter = Schema.Struct({
  year: Schema.Int,
  /** The last number reserved by processes, which may still hold some unused ones in memory. */
  given: Schema.Int,
  /** Skipped ranges, both ends included: no process holds these numbers. */
  skipped: Schema.Array(Schema.Tuple([Schema.Int, Schema.Int]))
})
export type NumberCounter = typeof NumberCounter.Type

const StoredOrder = Schema.Struct({ number: Schema.String, isDraft: Schema.Boolean, record: StoredRecord })

export const orderReads = Effect.map(
  SqlClient.SqlClient,
  (sql) =>
    Effect.fn("OrderImportRepo.read")(function*(numbers: ReadonlyArray<string>, years: ReadonlyArray<number>) {
      const organization = yield* currentOrganization
      // In the order of the years, so that two imports wait for one another and never in a circle.
      const counters = yield* decoding(sql, NumberCounter)`insert into order_counters as c
          (organization_id, year, last_number)
        select ${organization}, y, 0 from unnest(${years}::int[]) y order by y
        on conflict (organization_id, year) do update set last_number = c.last_number
        returning year, last_number as given, (select coalesce(jsonb_agg(jsonb_build_array(lower(r), upper(r) - 1)),
          '[]') from unnest(c.skipped) r) as skipped`
      const stored = yield* decoding(sql, StoredOrder, "unprepared")`select o.order_number as number,
          o.is_draft as "isDraft", ${sql.literal(orderRecordJson("o"))} as record
        from orders o where o.organization_id = ${organization} and o.order_number = any(${numbers}::text[])`
      return {
        orders: new Map(stored.map((order) => [order.number, order])),
        counters: new Map(counters.map((counter) => [counter.year, counter]))
      }
    }, Effect.orDie)
)
