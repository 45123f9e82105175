import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { OrderStatus } from "../orders/OrderStatus.ts"
import { CurrentActor } from "../platform/access/Actor.ts"
import { type OrganizationCache, organizationCache } from "../platform/access/CacheInvalidation.ts"
import { lookupSql } from "../platform/database/DatabaseRepo.ts"
import { changeLogInsert } from "../platform/events/ChangeLogRepo.ts"
import { refusedBy } from "../platform/records/Constraints.ts"
import { decoding } from "../platform/records/Rows.ts"
import { Table } from "../platform/records/Table.ts"
import { type RecordRepo, recordRepo } from "../platform/resources/RecordRepo.ts"
import { recordService } from "../platform/resources/RecordService.ts"
import { TaxClass, TaxClassDefaultTaken, TaxClasses, TaxClassNameTaken, taxClassRules } from "./TaxClass.ts"
import { TaxRate, taxRateRules, TaxRates, TaxRateTaken } from "./TaxRate.ts"
import { TaxRules } from "./TaxRules.ts"

export const classes = new Table("tax_classes", TaxClass)
export const rates = new Table("tax_rates", TaxRate)

export class TaxRuleRepo extends Context.Service<TaxRuleRepo>()("stoa/domain/tax/TaxRuleRepo", {
  make: Effect.map(lookupSql, (sql) => ({
    active: Effect.fn("TaxRuleRepo.active")(function*(organizationId: string) {
      const [rules] = yield* decoding(sql, TaxRules)`select
        coalesce((select jsonb_agg(jsonb_build_object('name', name, 'rateBps', rate_bps, 'isDefault', is_default)
          order by name) from tax_classes where organization_id = ${organizationId} and is_active), '[]') as classes,
        coalesce((select jsonb_agg(jsonb_build_object('country', country, 'state', state, 'rateBps', rate_bps,
          'appliesToShipping', applies_to_shipping) order by priority, id)
          from tax_rates where organization_id = ${organizationId} and is_active), '[]') as rates`
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
  tax_classes_name: () => new TaxClassNameTaken()
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

    const withDefault: RecordRepo<TaxClass, TaxClassNameTaken | TaxClassDefaultTaken> = {
      ...repo,
      insert: (made) =>
        Effect.andThen(replaceDefault(made), repo.insert(made)).pipe(
          sql.withTransaction,
          Effect.catchTag("SqlError", Effect.die)
        ),
      change: (id, rule) => repo.change(id, (before) => Effect.tap(rule(before), replaceDefault))
    }
    return recordService(taxClassRules, withDefault, (yield* TaxRuleCache).forget)
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
      refusedBy({ tax_rates_name: () => new TaxRateTaken() })
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
