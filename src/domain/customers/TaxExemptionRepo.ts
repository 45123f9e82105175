import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { currentOrganization } from "../platform/access/Actor.ts"
import { organizationCache } from "../platform/access/CacheInvalidation.ts"
import { lookupSql } from "../platform/database/DatabaseRepo.ts"
import type { CustomerId } from "../platform/ids/Id.ts"
import { decoding } from "../platform/records/Rows.ts"
import { TaxExemption } from "./TaxExemption.ts"

/** A store without exemptions sends no statement: processes remember that there is none. */
export class TaxExemptionRepo extends Context.Service<TaxExemptionRepo>()("stoa/domain/customers/TaxExemptionRepo", {
  make: Effect.gen(function*() {
    const sql = yield* lookupSql
    const { forget, value: hasAny } = yield* organizationCache("exemptions", (organization) =>
      Effect.orDie(
        Effect.map(
          sql`select 1 where exists (select 1 from customers
              where organization_id = ${organization} and tax_exemption is not null)
            or exists (select 1 from customer_groups
              where organization_id = ${organization} and tax_exemption is not null)`,
          (rows) => rows.length > 0
        )
      ))

    const read = Effect.fn("TaxExemptionRepo.of")(function*(customerId: CustomerId) {
      const now = DateTime.toDateUtc(yield* DateTime.now)
      const [found] = yield* decoding(sql, Schema.Struct({ exemption: TaxExemption }))`select x.exemption
        from customers c cross join lateral (
          select c.tax_exemption as exemption, '' as name
          union all
          select g.tax_exemption, g.name
          from customer_group_members m join customer_groups g on g.id = m.group_id
          where m.customer_id = c.id and m.organization_id = c.organization_id) x
        where c.id = ${customerId}::uuid and c.organization_id = ${yield* currentOrganization}
          and x.exemption is not null
          and coalesce((x.exemption->>'validUntil')::timestamptz > ${now}::timestamptz, true)
        order by x.name limit 1`
      return found?.exemption ?? null
    }, Effect.orDie)

    return {
      /** The customer's own exemption, else the first by name of their groups, that is valid now. */
      of: (customerId: CustomerId) => Effect.flatMap(hasAny, (any) => any ? read(customerId) : Effect.succeed(null)),
      forget
    }
  })
}) {
  static readonly layer = Layer.effect(TaxExemptionRepo, TaxExemptionRepo.make)
}
