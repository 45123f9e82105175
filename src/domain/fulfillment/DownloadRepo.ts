import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../access/Actor.ts"
import { offsetOf, type PageRequest } from "../paging/Paging.ts"
import type { Granted } from "./Download.ts"

/** Location of a line's file: from its variant, else its entity. Only http(s) addresses are followed. */
const file = `(select u from (select coalesce(
    (select v.metadata->>'downloadUrl' from variants_read v
      where v.id = l.variant_id and v.organization_id = l.organization_id),
    (select e.metadata->>'downloadUrl' from catalog_entities_read e
      where e.id = l.entity_id and e.organization_id = l.organization_id)) as u) named where u ~ '^https?://')`

const left = "greatest(0, coalesce((f.metadata->>'maxDownloads')::int - (f.metadata->>'downloadCount')::int, 0))"
const until = "(f.metadata->>'downloadExpiresAt')::timestamptz"
const valid = "o.status not in ('cancelled', 'refunded')"

/** Files of digital order lines, and their download counts. */
export class DownloadRepo extends Context.Service<DownloadRepo>()("stoa/domain/fulfillment/DownloadRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    /** A page of the files that an order's lines grant, in the order of the lines, in two statements. */
    const ofOrder = Effect.fn("DownloadRepo.ofOrder")(function*(orderId: string, page: PageRequest) {
      const organization = yield* currentOrganization
      const where = sql`l.order_id = ${orderId}::uuid and l.organization_id = ${organization}
        and l.entity_type = 'digitalDownload'`
      const [items, counted] = yield* Effect.all([
        sql<Granted>`select l.id as "lineItemId", l.title, f.id as "fulfillmentId", ${sql.literal(file)} as file,
            ${sql.literal(left)} as remaining, ${sql.literal(until)} as "expiresAt", ${sql.literal(valid)} as valid
          from order_lines_read l join orders_read o on o.id = l.order_id
          left join fulfillments f on f.order_line_id = l.id and f.organization_id = l.organization_id
          where ${where} order by l.position limit ${page.limit} offset ${offsetOf(page)}`,
        sql<{ readonly count: bigint }>`select count(*) as count from order_lines_read l where ${where}`
      ], { concurrency: "unbounded" })
      return { ...page, items, total: Number(counted[0]?.count ?? 0) }
    }, Effect.orDie)

    /**
     * Uses one of the remaining downloads and returns the file's location; undefined when none is left, the grant has
     * expired, the order was cancelled or refunded, or there is no file. Concurrent calls never exceed the limit. The id
     * comes from a signed link, which is the credential, so there is no organization filter.
     */
    const take = Effect.fn("DownloadRepo.take")(function*(fulfillmentId: string, now: Date) {
      // The update waits for concurrent downloads of the file and continues their count.
      const rows = yield* sql<{ readonly file: string }>`update fulfillments f set updated_at = ${now}::timestamptz,
          metadata = jsonb_set(f.metadata, '{downloadCount}', to_jsonb((f.metadata->>'downloadCount')::int + 1))
        from orders_read o, order_lines l
        where f.id = ${fulfillmentId}::uuid and f.type = 'digital-download' and o.id = f.order_id
          and l.id = f.order_line_id and ${sql.literal(valid)} and ${sql.literal(left)} > 0
          and ${sql.literal(until)} > ${now}::timestamptz and ${sql.literal(file)} is not null
        returning ${sql.literal(file)} as file`
      return rows[0]?.file
    }, Effect.orDie)

    return { ofOrder, take }
  })
}) {}

/** `DownloadRepo` over the database of the process. */
export const downloadRepoLayer = Layer.effect(DownloadRepo, DownloadRepo.make)
