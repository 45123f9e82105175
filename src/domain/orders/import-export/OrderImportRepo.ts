import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../../access/Actor.ts"
import type { StoredRecord } from "./OrderContent.ts"
import { orderRecordJson } from "./OrderRecordJson.ts"
import type { NumberCounter } from "./OwnNumber.ts"

/** What is stored under a number: what an export writes of it. */
interface StoredOrder {
  readonly isDraft: boolean
  readonly record: StoredRecord
}

/**
 * Reads orders with these numbers, in two statements. Locks the counters of their years until the transaction ends, so
 * that no process gets a number the batch imports.
 */
export const orderReads = Effect.map(
  SqlClient.SqlClient,
  (sql) =>
    Effect.fn("OrderImportRepo.read")(function*(numbers: ReadonlyArray<string>, years: ReadonlyArray<number>) {
      const organization = yield* currentOrganization
      interface CounterRow extends Pick<NumberCounter, "skipped"> {
        readonly year: number
        readonly given: bigint
      }
      // In the order of the years, so that two imports wait for one another and never in a circle.
      const counters = yield* sql<CounterRow>`insert into order_counters as c (organization_id, year, last_number)
      select ${organization}, y, 0 from unnest(${years}::int[]) y order by y
      on conflict (organization_id, year) do update set last_number = c.last_number
      returning year, last_number as given, (select coalesce(jsonb_agg(jsonb_build_array(lower(r), upper(r) - 1)), '[]')
        from unnest(c.skipped) r) as skipped`
      // A separate statement after the lock sees all orders created before it.
      const stored = yield* sql<StoredOrder & { readonly number: string }>`select o.order_number as number,
        o.is_draft as "isDraft", ${sql.literal(orderRecordJson("o"))} as record
      from orders o where o.organization_id = ${organization} and o.order_number = any(${numbers}::text[])`.unprepared
      return {
        /** By number. */
        orders: new Map(stored.map(({ number, ...order }) => [number, order])),
        /** By year. */
        counters: new Map(counters.map(({ given, skipped, year }) => [year, { year, given: Number(given), skipped }]))
      }
    }, Effect.orDie)
)
