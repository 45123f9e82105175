import { Effect, Schema } from "effect"
import { currentOrganization, type Database, offsetOf, type PageRequest, rowsOf } from "stoa/plugin"
import type { VendorRow } from "./Vendor.ts"

/** Which vendors are asked for; `search` is found in names and addresses, without regard to case. */
export interface VendorFilter {
  readonly status?: VendorRow["status"] | undefined
  readonly tier?: VendorRow["tier"] | undefined
  readonly search?: string | undefined
}

const pages = rowsOf(Schema.Struct({ total: Schema.Int, ids: Schema.Array(Schema.String) }))

/** Ids of a page of vendors, newest first, and how many there are: no handle can ask two columns for one word. */
export const foundVendors = Effect.fn("VendorRepo.foundVendors")(
  function*(sql: Database, filter: VendorFilter & { readonly search: string }, page: PageRequest) {
    const organization = yield* currentOrganization
    const { search, status, tier } = filter
    const has = (column: string) => sql`position(lower(${search}::text) in lower(coalesce(${sql(column)}, ''))) > 0`
    const where = sql.and([
      sql`organization_id = ${organization}`,
      sql`(${has("name")} or ${has("email")})`,
      ...(status === undefined ? [] : [sql`status = ${status}`]),
      ...(tier === undefined ? [] : [sql`tier = ${tier}`])
    ])
    const [found] = yield* pages(sql)`select
        (select count(*) from marketplace_vendors where ${where}) as total,
        array(select id from marketplace_vendors where ${where}
          order by created_at desc, id desc limit ${page.limit} offset ${offsetOf(page)}) as ids`
    return found ?? { total: 0, ids: [] }
  },
  Effect.orDie
)
