import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import type { Change } from "../events/Event.ts"
import { journalInsert } from "../events/JournalRepo.ts"
import type { Price } from "./Price.ts"
import { type PriceRecordRow, toPrice } from "./PriceRows.ts"

/** What a batch of prices starts from, locked until its end. */
export interface PriceState {
  /** The clock of the database. */
  readonly now: Date
  readonly prices: ReadonlyArray<Price>
}

/** Batches of prices, and all of them for whoever reads all. */
export class PriceBatchRepo extends Context.Service<PriceBatchRepo, {
  /** Every price of these entities and their variants. */
  readonly read: (entityIds: ReadonlyArray<string>) => Effect.Effect<PriceState, never, CurrentActor>
  /** One statement; it dies where another request came first. */
  readonly write: (
    created: ReadonlyArray<Price>,
    updated: ReadonlyArray<Price>,
    changes: ReadonlyArray<Change>
  ) => Effect.Effect<void, never, CurrentActor>
}>()("stoa/domain/pricing/PriceBatchRepo") {
  static readonly layer = Layer.effect(PriceBatchRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

const columns = `id uuid, "entityId" uuid, "variantId" uuid, currency text, amount bigint, "compareAtAmount" bigint,
  "customerGroupId" text, "minQuantity" int, "maxQuantity" int, "validFrom" timestamptz, "validUntil" timestamptz,
  metadata jsonb, "createdAt" timestamptz, "updatedAt" timestamptz`

const make = (sql: SqlClient.SqlClient): PriceBatchRepo["Service"] => {
  const rows = (prices: ReadonlyArray<Price>) =>
    sql`jsonb_to_recordset(${JSON.stringify(prices)}::jsonb) as x(${sql.literal(columns)})`

  const read = Effect.fn("PriceBatchRepo.read")(function*(entityIds: ReadonlyArray<string>) {
    const organization = yield* currentOrganization
    const [clock] = yield* sql<{ readonly now: Date }>`select now() as now`
    const found = yield* sql<PriceRecordRow>`select * from prices where organization_id = ${organization}
      and entity_id = any(${[...new Set(entityIds)]}::uuid[]) order by id for no key update`.unprepared
    return { now: clock?.now ?? new Date(0), prices: found.map(toPrice) }
  }, Effect.orDie)

  const write = Effect.fn("PriceBatchRepo.write")(
    function*(created: ReadonlyArray<Price>, updated: ReadonlyArray<Price>, changes: ReadonlyArray<Change>) {
      if (changes.length === 0) return
      const actor = yield* CurrentActor
      const organization = actor.organizationId
      yield* sql`with made as (insert into prices (id, organization_id, entity_id, variant_id, currency, amount,
          compare_at_amount, customer_group_id, min_quantity, max_quantity, valid_from, valid_until, metadata,
          created_at, updated_at)
        select id, ${organization}, "entityId", "variantId", currency, amount, "compareAtAmount", "customerGroupId",
          "minQuantity", "maxQuantity", "validFrom", "validUntil", metadata, "createdAt", "updatedAt"
        from ${rows(created)}),
      changed as (update prices p set amount = x.amount, compare_at_amount = x."compareAtAmount",
          metadata = x.metadata, updated_at = x."updatedAt"
        from ${rows(updated)} where p.id = x.id and p.organization_id = ${organization}),
      entries as (${journalInsert(sql, actor, changes)})
      select 1`
    },
    Effect.orDie
  )

  return { read, write }
}
