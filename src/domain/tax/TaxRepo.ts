import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { OrderStatus } from "../orders/OrderStatus.ts"
import { CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import { type OrganizationCache, organizationCache } from "../platform/access/CacheInvalidation.ts"
import { lookupSql } from "../platform/database/DatabaseRepo.ts"
import { changeLogInsert } from "../platform/events/ChangeLogRepo.ts"
import { refusedBy, sqlStates } from "../platform/records/Constraints.ts"
import { decoding } from "../platform/records/Rows.ts"
import { Table } from "../platform/records/Table.ts"
import { type RecordRepo, recordRepo } from "../platform/resources/RecordRepo.ts"
import { recordService } from "../platform/resources/RecordService.ts"
import {
  TaxClass,
  TaxClassDefaultTaken,
  TaxClasses,
  TaxClassInUse,
  TaxClassNameTaken,
  taxClassRules
} from "./TaxClass.ts"
import { TaxRate, TaxRateClassUnknown, taxRateRules, TaxRates, TaxRateTaken } from "./TaxRate.ts"
import { TaxRules } from "./TaxRules.ts"

const rateBps = "(rate::numeric * 100)::float8"

export const classes = new Table("tax_classes", TaxClass, { computed: { rateBps } })
/** Processes of the previous version see rates that they do not understand in a country of their own. */
export const rates = new Table("tax_rates", TaxRate, { computed: { rateBps }, reads: { country: "region_country" } })

export class TaxRuleRepo extends Context.Service<TaxRuleRepo>()("stoa/domain/tax/TaxRuleRepo", {
  make: Effect.map(lookupSql, (sql) => ({
    active: Effect.fn("TaxRuleRepo.active")(function*(organizationId: string) {
      const [rules] = yield* decoding(sql, TaxRules)`select
        coalesce((select jsonb_agg(${sql.literal(classes.json("c"))}
          order by name) from tax_classes c where organization_id = ${organizationId} and is_active), '[]') as classes,
        coalesce((select jsonb_agg(${sql.literal(rates.json("r"))} order by priority, id)
          from tax_rates r where organization_id = ${organizationId} and is_active), '[]') as rates`
      return rules ?? { classes: [], rates: [] }
    }, Effect.orDie)
  }))
}) {
  static readonly layer = Layer.effect(TaxRuleRepo, TaxRuleRepo.make)
}

export class TaxRuleCache
  extends Context.Service<TaxRuleCache, OrganizationCache<TaxRules>>()("stoa/domain/tax/TaxRuleCache")
{
  static readonly layer = Layer.effect(
    TaxRuleCache,
    Effect.flatMap(TaxRuleRepo, (repo) => organizationCache("tax", repo.active))
  )
}

const orClassTaken = refusedBy({
  tax_classes_default: () => new TaxClassDefaultTaken(),
  tax_classes_name: () => new TaxClassNameTaken(),
  tax_classes_slug: () => new TaxClassNameTaken(),
  [sqlStates.foreignKey]: () => new TaxClassInUse(1)
})

const taxClassesLayer = Layer.effect(
  TaxClasses,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const repo = recordRepo(sql, {
      table: classes,
      order: "name",
      counted: "all",
      entityType: "tax_class",
      changes: { create: "taxClasses.create", update: "taxClasses.update", delete: "taxClasses.delete" },
      alsoLocked: "is_default"
    }, orClassTaken)

    const replaceDefault = Effect.fnUntraced(function*({ id, isDefault, updatedAt }: TaxClass) {
      if (!isDefault) return
      const actor = yield* CurrentActor
      const rows = yield* classes.rows(sql)`update tax_classes
        set is_default = false, updated_at = ${updatedAt}::timestamptz
        where organization_id = ${actor.organizationId} and is_default and id <> ${id}::uuid
        returning ${sql.literal(classes.columns())}`
      const changes = rows.map((payload) => {
        const before = { ...payload, isDefault: true }
        return { type: "taxClasses.update", entityType: "tax_class", entityId: payload.id, payload, before } as const
      })
      if (changes.length > 0) yield* changeLogInsert(sql, actor, changes)
    }, Effect.orDie)

    const uses = Effect.fnUntraced(function*(id: TaxClass["id"]) {
      const organization = yield* currentOrganization
      const [found] = yield* decoding(sql, Schema.Struct({ uses: Schema.Int }))`select (
          (select count(*) from catalog_entities_read
            where organization_id = ${organization} and tax_class_id = ${id}::uuid)
          + (select count(*) from variants_read where organization_id = ${organization} and tax_class_id = ${id}::uuid)
          + (select count(*) from shipping_rates_read
            where organization_id = ${organization} and tax_class_id = ${id}::uuid)
          + (select count(*) from tax_rates where organization_id = ${organization} and tax_class_id = ${id}::uuid)
        )::int as uses`
      return found?.uses ?? 0
    }, Effect.orDie)

    /** A name whose slug is taken by a class that was renamed gets one with the end of its id. */
    const freeSlug = Effect.fnUntraced(function*({ id, organizationId, slug }: TaxClass) {
      const taken = yield* sql`select 1 from tax_classes where organization_id = ${organizationId} and slug = ${slug}`
      return taken.length === 0 ? slug : `${slug}-${id.slice(-12)}`
    }, Effect.orDie)

    const withDefault: RecordRepo<TaxClass, TaxClassNameTaken | TaxClassDefaultTaken | TaxClassInUse> = {
      ...repo,
      // Foreign keys are the guard; the uses are counted for the refusal.
      remove: (id, ...only) =>
        Effect.catchTag(
          repo.remove(id, ...only),
          "Conflict/TaxClassInUse",
          () => Effect.flatMap(uses(id), (count) => Effect.fail(new TaxClassInUse(count)))
        ),
      insert: (made) =>
        Effect.andThen(replaceDefault(made), repo.insert(made)).pipe(
          sql.withTransaction,
          Effect.catchTag("SqlError", Effect.die)
        ),
      change: (id, rule) => repo.change(id, (before) => Effect.tap(rule(before), replaceDefault))
    }
    const rules: typeof taxClassRules = {
      ...taxClassRules,
      made: (sent, record) =>
        Effect.flatMap(
          taxClassRules.made(sent, record),
          (made) => Effect.map(freeSlug(made), (slug) => ({ ...made, slug }))
        )
    }
    return recordService(rules, withDefault, (yield* TaxRuleCache).forget)
  })
)

const taxRatesLayer = Layer.effect(
  TaxRates,
  Effect.gen(function*() {
    const repo = recordRepo(
      yield* SqlClient.SqlClient,
      {
        table: rates,
        order: "priority, id",
        counted: "all",
        entityType: "tax_rate",
        changes: { create: "taxRates.create", update: "taxRates.update", delete: "taxRates.delete" }
      },
      refusedBy({
        tax_rates_name: () => new TaxRateTaken(),
        tax_rates_tax_class: () => new TaxRateClassUnknown()
      })
    )
    return recordService(taxRateRules, repo, (yield* TaxRuleCache).forget)
  })
)

export const taxRecordsLayer = Layer.merge(taxClassesLayer, taxRatesLayer)

const OutsideTaxed = Schema.Struct({
  type: Schema.String,
  organizationId: Schema.String,
  orderId: Schema.String,
  status: Schema.NullOr(OrderStatus)
})
export type OutsideTaxed = typeof OutsideTaxed.Type

export class TaxNoticeRepo extends Context.Service<TaxNoticeRepo>()("stoa/domain/tax/TaxNoticeRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => ({
    outside: Effect.fn("TaxNoticeRepo.outside")(
      (events: ReadonlyArray<string>) =>
        decoding(sql, OutsideTaxed)`select e.type, e.organization_id as "organizationId", o.id as "orderId",
            e.payload->>'status' as status
          from outbox_events_read e join orders_read o on o.id = e.entity_id::uuid and o.organization_id = e.organization_id
          where e.id = any(${events}::uuid[])
            and o.id = any(array(select entity_id::uuid from outbox_events_read where id = any(${events}::uuid[])))
            and o.tax_provider is not null
          order by e.event_sequence`,
      Effect.orDie
    )
  }))
}) {
  static readonly layer = Layer.effect(TaxNoticeRepo, TaxNoticeRepo.make)
}
