import { Context, Effect, Layer, Result, Schema, String } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import { ValidationFailed } from "../platform/errors/ApiErrors.ts"
import { conflict, notFound } from "../platform/errors/ErrorKinds.ts"
import { changeLogInsert } from "../platform/events/ChangeLogRepo.ts"
import { newId, type StockLevelId } from "../platform/ids/Id.ts"
import { decoding } from "../platform/records/Rows.ts"
import { Time } from "../platform/text/Time.ts"
import { emptyLevel, StockLevel } from "./StockLevel.ts"
import {
  type CompleteLine,
  type DecidedPosting,
  decidePosting,
  placeOf,
  PostedLine,
  type PostingReference,
  sellableOf,
  type StockPosting
} from "./StockPosting.ts"
import { levels } from "./StockRepo.ts"
import { lockVersions } from "./StockStatements.ts"
import { stockLevels, stockMovements, stockPostings } from "./StockTables.ts"

export class PostedOtherwise extends conflict(
  "PostedOtherwise",
  ({ id, type }: PostingReference) => `The document ${type} '${id}' is posted already, with other lines.`
) {}
export class PostedGoodsNotFound
  extends notFound("PostedGoods", (path: string, what: string) => `${path}: no such ${what}.`)
{}

const Place = Schema.Struct({
  entity: Schema.Boolean,
  variant: Schema.Boolean,
  warehouse: Schema.Boolean,
  counted: Schema.Boolean,
  version: Schema.Int,
  level: Schema.NullOr(StockLevel)
})

const Found = Schema.Struct({
  posted: Schema.NullOr(Schema.Array(PostedLine)),
  same: Schema.NullOr(Schema.Boolean),
  now: Time,
  places: Schema.NullOr(Schema.Array(Place))
})

const byPlace = (lines: ReadonlyArray<CompleteLine>): ReadonlyMap<string, readonly [CompleteLine, number]> => {
  const first = new Map<string, readonly [CompleteLine, number]>()
  lines.forEach((line, index) => {
    const place = placeOf(line)
    if (!first.has(place)) first.set(place, [line, index])
  })
  return first
}

/**
 * Documents that move stock, each of them once (contract-plugins 5 to 7). Joins the caller's transaction. Three
 * statements; locks versions by key, then levels.
 */
export class StockPostingRepo extends Context.Service<StockPostingRepo>()(
  "stoa/domain/inventory/StockPostingRepo",
  { make: Effect.map(SqlClient.SqlClient, (sql) => make(sql)) }
) {
  static readonly layer = Layer.effect(StockPostingRepo, StockPostingRepo.make)
}

const make = (sql: SqlClient.SqlClient) => {
  const [read, write] = [makeRead(sql), makeWrite(sql)]

  const attempt = Effect.fnUntraced(function*(actor: Actor, posting: StockPosting) {
    const { lines, reference } = posting
    yield* lockVersions(sql, actor.organizationId, lines.map(sellableOf))
    const found = yield* read(actor.organizationId, posting)
    if (found.posted !== null) {
      return found.same === true ? { posted: found.posted, levels: [] } : yield* new PostedOtherwise(reference)
    }
    const before = new Map<string, StockLevel>()
    const known = found.places ?? []
    for (const [position, [place, [line, index]]] of [...byPlace(lines)].entries()) {
      const { counted, entity = false, level, variant, version = 0, warehouse } = known[position] ?? {}
      if (!entity) return yield* new PostedGoodsNotFound(`lines.${index}.entityId`, "entity")
      if (variant !== true) return yield* new PostedGoodsNotFound(`lines.${index}.variantId`, "variant of this entity")
      if (warehouse !== true) return yield* new PostedGoodsNotFound(`lines.${index}.warehouseId`, "warehouse")
      if (counted !== true) continue
      const { entityId, variantId, warehouseId } = line
      const { organizationId } = actor
      const empty = emptyLevel({ id: newId(), organizationId, entityId, variantId, warehouseId, updatedAt: found.now })
      before.set(place, { ...empty, ...level, version, updatedAt: found.now })
    }
    const decided = decidePosting(lines, before)
    if (Result.isFailure(decided)) return yield* ValidationFailed.issues(decided.failure)
    const stored = new Map(known.flatMap(({ level }) => level === null ? [] : [[level.id, level] as const]))
    return (yield* write(actor, posting, decided.success, stored)) ? decided.success : undefined
  })

  return {
    lock: Effect.fn("StockPostingRepo.lock")(function*(goods: ReadonlyArray<Parameters<typeof sellableOf>[0]>) {
      yield* lockVersions(sql, yield* currentOrganization, goods.map(sellableOf))
    }, Effect.orDie),
    post: Effect.fn("StockPostingRepo.post")(
      function*(posting: StockPosting) {
        const actor = yield* CurrentActor
        for (;;) {
          const result = yield* attempt(actor, posting)
          if (result !== undefined) return { posted: result.posted, levels: result.levels }
        }
      },
      sql.withTransaction,
      Effect.catchTag("SqlError", Effect.die)
    )
  }
}

const makeRead = (sql: SqlClient.SqlClient) => {
  const rows = decoding(sql, Found, "unprepared")
  return Effect.fnUntraced(function*(organization: string, { lines, reference }: StockPosting) {
    const places = [...byPlace(lines).values()].map(([line], n) => {
      const { entityId: entity, variantId: variant, warehouseId: warehouse } = line
      return { n, entity, variant, sellable: sellableOf(line), warehouse }
    })
    const [found] = yield* rows`select p.posted, p.lines = ${JSON.stringify(lines)}::jsonb as same, now() as now,
      (select jsonb_agg(jsonb_build_object('entity', e.known is not null, 'variant',
            t.variant is null or v.known is not null, 'warehouse', w.known is not null,
            'counted', coalesce(v.counted, e.counted, true), 'version', i.version,
            'level', case when l.id is not null then ${sql.literal(levels.json("l"))} end) order by t.n)
          from jsonb_to_recordset(${JSON.stringify(places)}::jsonb)
            t(n int, entity uuid, variant uuid, sellable uuid, warehouse uuid)
          left join lateral (select true as known, manage_inventory as counted from catalog_entities_read
            where organization_id = ${organization} and id = t.entity limit 1) e on true
          left join lateral (select true as known, manage_inventory as counted from variants_read
            where organization_id = ${organization} and id = t.variant and entity_id = t.entity limit 1) v on true
          left join lateral (select true as known from warehouses
            where organization_id = ${organization} and id = t.warehouse limit 1) w on true
          left join lateral (select version from stock_items
            where organization_id = ${organization} and sellable_id = t.sellable limit 1) i on true
          left join lateral (select * from stock_levels where organization_id = ${organization}
            and sellable_id = t.sellable and warehouse_id = t.warehouse limit 1) l on true) as places
      from (select 1) one left join stock_postings p on p.organization_id = ${organization}
        and p.reference_type = ${reference.type} and p.reference_id = ${reference.id}`
    return found ?? (yield* Effect.die(new Error("A select without a from clause gave no row.")))
  })
}

const columnsOf = (fields: object) =>
  Object.fromEntries(Object.entries(fields).map(([field, value]) => [String.camelToSnake(field), value]))

const levelRow = (level: StockLevel) => {
  const { quantityInTransit: inTransit, quantityIncoming: incoming, quantityOnHand: onHand } = level
  return columnsOf({ ...level, sellableId: sellableOf(level), onHand, incoming, inTransit })
}

const posting = {
  insertion: stockLevels.copy("r", {
    incoming: "r.incoming",
    inTransit: "r.in_transit",
    averageCost: "r.average_cost"
  }),
  sets: stockLevels.sets("excluded", [
    "onHand",
    "incoming",
    "inTransit",
    "unitCost",
    "averageCost",
    "allowNegative",
    "lastRestockedAt",
    "updatedAt"
  ])
}

const makeWrite = (sql: SqlClient.SqlClient) =>
  /** Writes nothing if the document has been posted. The versions are locked: no level can have changed. */
  Effect.fnUntraced(
    function*(
      actor: Actor,
      { lines, reference: { id, type } }: StockPosting,
      { levels, movements, posted }: DecidedPosting,
      stored: ReadonlyMap<StockLevelId, StockLevel>
    ) {
      const organization = actor.organizationId
      const about = { type: "inventory.afterAdjust", entityType: "inventory" } as const
      const events = levels.map((level) => ({
        ...about,
        entityId: level.id,
        payload: level,
        before: stored.get(level.id) ?? null
      }))
      const rows = yield* sql`with posting as (
          insert into stock_postings ${
        stockPostings.insert(sql, {
          organizationId: sql`${organization}`,
          referenceType: sql`${type}`,
          referenceId: sql`${id}`,
          lines: sql`${JSON.stringify(lines)}::jsonb`,
          posted: sql`${JSON.stringify(posted)}::jsonb`
        })
      } on conflict (organization_id, reference_type, reference_id) do nothing returning 1),
        moved as (
          update stock_items set version = version + 1 where organization_id = ${organization}
            and sellable_id = any(${levels.map(sellableOf)}::uuid[]) and exists (select 1 from posting)),
        level as (
          insert into stock_levels ${sql.literal(posting.insertion)}
          from jsonb_populate_recordset(null::stock_levels, ${JSON.stringify(levels.map(levelRow))}::jsonb) r, posting
          on conflict (organization_id, sellable_id, warehouse_id) do update set ${sql.literal(posting.sets)}),
        movement as (
          insert into stock_movements ${
        stockMovements.insert(sql, {
          id: "id",
          organizationId: sql`${organization}`,
          entityId: "entity_id",
          variantId: "variant_id",
          warehouseId: "warehouse_id",
          type: "m.type",
          quantity: "quantity",
          referenceType: sql`${type}`,
          referenceId: sql`${id}`,
          reason: "reason",
          performedBy: sql`${actor.userId}::text`,
          unitCost: "unit_cost"
        })
      } from jsonb_populate_recordset(null::stock_movements, ${
        JSON.stringify(movements.map(columnsOf))
      }::jsonb) m, posting),
        event as (${changeLogInsert(sql, actor, events, "posting")})
        select 1 from posting`
      return rows.length === 1
    }
  )
