import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type OrganizationCache, organizationCache } from "../platform/access/CacheInvalidation.ts"
import { lookupSql } from "../platform/database/DatabaseRepo.ts"
import { refusedBy } from "../platform/records/Constraints.ts"
import { decoding } from "../platform/records/Rows.ts"
import { Table } from "../platform/records/Table.ts"
import { recordRepo } from "../platform/resources/RecordRepo.ts"
import { recordService } from "../platform/resources/RecordService.ts"
import {
  RateTaxClassUnknown,
  RateZoneNotFound,
  ShippingRate,
  shippingRateRules,
  ShippingRates
} from "./ShippingRate.ts"
import { ShippingRuleSet } from "./ShippingRules.ts"
import { ShippingZone, shippingZoneRules, ShippingZones, ZoneHasRates, ZoneNameTaken } from "./ShippingZone.ts"

export const zones = new Table("shipping_zones", ShippingZone)
export const rates = new Table("shipping_rates", ShippingRate)

export class ShippingRuleRepo extends Context.Service<ShippingRuleRepo>()("stoa/domain/shipping/ShippingRuleRepo", {
  make: Effect.map(lookupSql, (sql) => ({
    rules: Effect.fnUntraced(function*(organization: string) {
      const [row] = yield* decoding(sql, ShippingRuleSet)`select
          coalesce((select jsonb_agg(jsonb_build_object('id', z.id, 'countries', z.countries, 'states', z.states)
            order by z.priority, z.id)
            from shipping_zones z where z.organization_id = ${organization} and z.is_active), '[]') as zones,
          coalesce((select jsonb_agg(jsonb_build_object('id', r.id, 'zoneId', r.zone_id, 'name', r.name,
            'currency', r.currency, 'amount', r.amount, 'minSubtotal', r.min_subtotal, 'maxSubtotal', r.max_subtotal,
            'minWeightGrams', r.min_weight_grams, 'maxWeightGrams', r.max_weight_grams,
            'freeShippingThreshold', r.free_shipping_threshold, 'taxClassId', r.tax_class_id, 'estimate', r.estimate)
            order by r.amount, r.id)
            from shipping_rates r where r.organization_id = ${organization} and r.is_active), '[]') as rates`
      return row ?? { zones: [], rates: [] }
    }, Effect.orDie)
  }))
}) {
  static readonly layer = Layer.effect(ShippingRuleRepo, ShippingRuleRepo.make)
}

export class ShippingRuleCache extends Context.Service<ShippingRuleCache, OrganizationCache<ShippingRuleSet>>()(
  "stoa/domain/shipping/ShippingRuleCache"
) {
  static readonly layer = Layer.effect(
    ShippingRuleCache,
    Effect.flatMap(ShippingRuleRepo, (repo) => organizationCache("shipping", repo.rules))
  )
}

const orZoneConflict = refusedBy({
  shipping_zones_name: () => new ZoneNameTaken(),
  // The foreign key of the rates: a rate added concurrently keeps the zone.
  shipping_rates_zone: () => new ZoneHasRates()
})

const shippingZonesLayer = Layer.effect(
  ShippingZones,
  Effect.gen(function*() {
    const repo = recordRepo(yield* SqlClient.SqlClient, {
      table: zones,
      order: "priority, id",
      counted: "all",
      entityType: "shipping_zone",
      changes: { create: "shippingZones.create", update: "shippingZones.update", delete: "shippingZones.delete" }
    }, orZoneConflict)
    return recordService(shippingZoneRules, repo, (yield* ShippingRuleCache).forget)
  })
)

const shippingRatesLayer = Layer.effect(
  ShippingRates,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const repo = recordRepo(
      sql,
      {
        table: rates,
        order: "amount, id",
        counted: "all",
        entityType: "shipping_rate",
        changes: { create: "shippingRates.create", update: "shippingRates.update", delete: "shippingRates.delete" }
      },
      refusedBy({
        shipping_rates_zone: () => new RateZoneNotFound(),
        shipping_rates_tax_class: () => new RateTaxClassUnknown()
      })
    )
    return ShippingRates.of({
      ...recordService(shippingRateRules, repo, (yield* ShippingRuleCache).forget),
      list: ({ currency, zoneId }, page) =>
        repo.list(page, [
          ...(zoneId === undefined ? [] : [sql`zone_id = ${zoneId}::uuid`]),
          ...(currency === undefined ? [] : [sql`currency = ${currency}`])
        ], zoneId !== undefined && currency === undefined ? [zoneId] : undefined)
    })
  })
)

export const shippingRecordsLayer = Layer.merge(shippingZonesLayer, shippingRatesLayer)
