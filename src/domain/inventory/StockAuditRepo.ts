import { Context, Effect, Layer, Schema } from "effect"
import { lookupSql } from "../platform/database/DatabaseRepo.ts"
import { decoding } from "../platform/records/Rows.ts"

const StockAudit = Schema.Struct({
  oversold: Schema.Int,
  unbacked: Schema.Int
})

const sampleSize = 200

/**
 * Checks for oversold stock. The first count reads an index that is normally empty, the second only the newest live
 * holds: about a millisecond for any store.
 */
export class StockAuditRepo extends Context.Service<StockAuditRepo>()("stoa/domain/inventory/StockAuditRepo", {
  make: Effect.map(lookupSql, (sql) => {
    // Unprepared, at most once a second: no plan made on an empty table stays. A single statement sees one state of the
    // tables: a reservation being written is in both sums or in neither.
    const rows = decoding(sql, StockAudit, "unprepared")`select
      (select count(*) from stock_levels where reserved > on_hand and not allow_negative)::int4 as oversold,
      (select count(*) from (
        select l.organization_id, l.sellable_id, l.warehouse_id, sum(l.quantity) as held
        from (select organization_id, holder from holds where state = 'held' and expires_at is not null
          order by expires_at desc limit ${sql.literal(String(sampleSize))}) h
        join hold_lines l on l.organization_id = h.organization_id and l.holder = h.holder
        group by 1, 2, 3) held
      join stock_levels s on s.organization_id = held.organization_id and s.sellable_id = held.sellable_id
        and s.warehouse_id = held.warehouse_id
      where s.reserved < held.held)::int4 as unbacked`
    return { audit: Effect.map(rows, ([found]) => found ?? { oversold: 0, unbacked: 0 }) }
  })
}) {
  static readonly layer = Layer.effect(StockAuditRepo, StockAuditRepo.make)
}
