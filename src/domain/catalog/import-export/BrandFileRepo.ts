import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../../access/Actor.ts"
import type { Change } from "../../events/Event.ts"
import { journalInsert } from "../../events/JournalRepo.ts"
import type { Brand } from "../brands/Brand.ts"
import type { BrandRecord } from "./GroupRecords.ts"

/** A brand as it is to be written. */
export interface PlannedBrand {
  readonly before: Brand | undefined
  readonly after: Brand
}

/** Brands as files carry them. */
export class BrandFileRepo extends Context.Service<BrandFileRepo, {
  /** Locks and reads brands by their slugs; one statement. */
  readonly read: (slugs: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, Brand>, never, CurrentActor>
  /** All rows of a batch and its entries in the journal, in one statement. */
  readonly write: (plans: ReadonlyArray<PlannedBrand>) => Effect.Effect<void, never, CurrentActor>
  /** So many brands behind a slug, by slug. */
  readonly after: (
    slug: string,
    limit: number
  ) => Effect.Effect<
    { readonly records: ReadonlyArray<BrandRecord>; readonly last: string | undefined },
    never,
    CurrentActor
  >
}>()("stoa/domain/catalog/import-export/BrandFileRepo") {
  static readonly layer = Layer.effect(BrandFileRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

const changeOf = ({ after, before }: PlannedBrand): Change => {
  const of = { entityType: "brand", entityId: after.id, payload: after } as const
  return before === undefined ? { type: "brands.create", ...of } : { type: "brands.update", ...of, before }
}

const make = (sql: SqlClient.SqlClient): BrandFileRepo["Service"] => {
  const brandColumns = sql.literal(
    `id, organization_id as "organizationId", slug, display_name as "displayName", metadata`
  )

  const read = Effect.fn("BrandFileRepo.read")(function*(slugs: ReadonlyArray<string>) {
    const organization = yield* currentOrganization
    const rows = yield* sql<Brand>`select ${brandColumns} from brands
      where organization_id = ${organization} and slug = any(${slugs}::text[]) order by id for no key update`.unprepared
    return new Map(rows.map((brand) => [brand.slug, { ...brand }]))
  }, Effect.orDie)

  const write = Effect.fn("BrandFileRepo.write")(function*(plans: ReadonlyArray<PlannedBrand>) {
    if (plans.length === 0) return
    const actor = yield* CurrentActor
    const brands = plans.map(({ after }) => after)
    yield* sql`with written as (insert into brands as b (id, organization_id, slug, display_name, metadata)
        select id, ${actor.organizationId}, slug, "displayName", metadata
        from jsonb_to_recordset(${JSON.stringify(brands)}::jsonb)
          as x(id uuid, slug text, "displayName" text, metadata jsonb)
        on conflict (id) do update set display_name = excluded.display_name, metadata = excluded.metadata
          where b.organization_id = ${actor.organizationId}),
      entries as (${journalInsert(sql, actor, plans.map(changeOf))})
      select 1`
  }, Effect.orDie)

  const after = Effect.fn("BrandFileRepo.after")(function*(slug: string, limit: number) {
    const organization = yield* currentOrganization
    const records = yield* sql<BrandRecord>`select slug, display_name as "displayName", metadata from brands
      where organization_id = ${organization} and slug > ${slug} order by slug limit ${limit}`
    return { records, last: records.length < limit ? undefined : records.at(-1)?.slug }
  }, Effect.orDie)

  return { read, write, after }
}
