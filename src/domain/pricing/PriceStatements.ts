import { Context, Effect, Layer } from "effect"
import { currentOrganization } from "../platform/access/Actor.ts"
import * as GroupCommit from "../platform/batching/GroupCommitRepo.ts"
import { lookupSql } from "../platform/database/DatabaseRepo.ts"
import type { EntityId, VariantId } from "../platform/ids/Id.ts"
import type { ModifierRow, PriceRow } from "./PriceResolution.ts"

export interface PricedThing {
  readonly entityId: EntityId
  readonly variantId: VariantId | null
}

export interface PriceCandidates {
  readonly prices: ReadonlyArray<PriceRow>
  readonly modifiers: ReadonlyArray<ModifierRow>
  readonly entities: ReadonlyMap<string, PricedEntity>
}

/** `metadata.basePrice`, null if that is not a number. */
export interface PricedEntity {
  readonly type: string
  readonly slug: string
  readonly basePrice: number | null
}

/** Times inside aggregated JSON are text. */
type Timed<Row, Keys extends keyof Row> = Omit<Row, Keys> & { readonly [Key in Keys]: string | null }

export interface CandidateRow {
  readonly prices: ReadonlyArray<Timed<PriceRow, "validFrom" | "validUntil"> & { readonly createdAt: string }>
  readonly modifiers: ReadonlyArray<Timed<ModifierRow, "validFrom" | "validUntil">>
  readonly entities: ReadonlyArray<
    Omit<PricedEntity, "basePrice"> & { readonly id: string; readonly basePrice: unknown }
  >
}

interface PriceQuestion {
  readonly organization: string
  readonly ids: ReadonlyArray<string>
  readonly currency: string
  readonly now: Date
}

/**
 * SQL that reads the candidates of sellables in a statement about something else. All of `of` is SQL: `ids` an array of
 * entities, `now` the time that prices must not have ended at.
 */
export const candidatesSql = (of: { readonly [Fact in keyof PriceQuestion]: string }) => ({
  columns: `coalesce(price.found, '[]') as prices, coalesce(modifier.found, '[]') as modifiers,
    coalesce(entity.found, '[]') as entities`,
  joins: `cross join lateral (select json_agg(json_build_object('id', p.id, 'entityId', p.entity_id,
        'variantId', p.variant_id, 'currency', p.currency, 'amount', p.amount,
        'compareAtAmount', p.compare_at_amount, 'customerGroupId', p.customer_group_id, 'minQuantity', p.min_quantity, 'maxQuantity', p.max_quantity,
        'validFrom', p.valid_from, 'validUntil', p.valid_until, 'createdAt', p.created_at)) as found
      from prices p where p.organization_id = ${of.organization} and p.entity_id = any(${of.ids})
        and p.currency = ${of.currency} and (p.valid_until is null or p.valid_until > ${of.now})) price
    cross join lateral (select json_agg(json_build_object('id', m.id, 'name', m.name, 'type', m.type,
        'value', m.value, 'priority', m.priority, 'entityId', m.entity_id, 'variantId', m.variant_id,
        'customerGroupId', m.customer_group_id, 'currency', m.currency, 'minQuantity', m.min_quantity,
        'maxQuantity', m.max_quantity, 'conditions', m.conditions, 'validFrom', m.valid_from,
        'validUntil', m.valid_until)) as found
      from price_modifiers m where m.organization_id = ${of.organization}
        and (m.entity_id is null or m.entity_id = any(${of.ids})) and (m.currency is null or m.currency = ${of.currency})
        and (m.valid_until is null or m.valid_until > ${of.now})) modifier
    cross join lateral (select json_agg(json_build_object('id', e.id, 'type', e.type, 'slug', e.slug,
        'basePrice', e.metadata->'basePrice')) as found
      from catalog_entities_read e where e.organization_id = ${of.organization} and e.id = any(${of.ids})) entity`
})

const asked = candidatesSql({ organization: "i.organization", ids: "i.ids", currency: "i.currency", now: "i.now" })

const timeOf = (text: string | null): Date | null => text === null ? null : new Date(text)

/** Finds the rows of price resolution (contract §7.3). */
export class PriceCandidateRepo
  extends Context.Service<PriceCandidateRepo>()("stoa/domain/pricing/PriceCandidateRepo", {
    make: Effect.gen(function*() {
      const sql = yield* lookupSql

      const findAll = (questions: ReadonlyArray<PriceQuestion>) =>
        Effect.map(
          sql<CandidateRow & { readonly n: number }>`select i.n, ${sql.literal(asked.columns)}
            from jsonb_to_recordset(${JSON.stringify(questions.map((one, n) => ({ ...one, n })))}::jsonb)
              as i(n int, organization text, ids uuid[], currency text, now timestamptz)
            ${sql.literal(asked.joins)}`,
          (rows) => {
            const found = new Map(rows.map((row) => [row.n, row]))
            return questions.map((_, n) => toCandidates(found.get(n)))
          }
        )

      const finding = yield* GroupCommit.make<PriceQuestion, PriceCandidates>({
        name: "prices.candidates",
        together: findAll,
        alone: (question) => Effect.map(findAll([question]), ([candidates]) => candidates ?? toCandidates(undefined))
      })

      const candidates = Effect.fn("PriceCandidateRepo.candidates")(
        function*(things: ReadonlyArray<PricedThing>, currency: string, now: Date) {
          if (things.length === 0) return toCandidates(undefined)
          return yield* finding({
            organization: yield* currentOrganization,
            ids: [...new Set(things.map((thing) => thing.entityId))],
            currency,
            now
          })
        },
        Effect.catchTag("SqlError", Effect.die)
      )

      return { candidates }
    })
  })
{}

export const priceCandidateRepoLayer = Layer.effect(PriceCandidateRepo, PriceCandidateRepo.make)

export const toCandidates = (row: CandidateRow | undefined): PriceCandidates => ({
  prices: (row?.prices ?? []).map((price) => ({
    ...price,
    validFrom: timeOf(price.validFrom),
    validUntil: timeOf(price.validUntil),
    createdAt: new Date(price.createdAt)
  })),
  modifiers: (row?.modifiers ?? []).map((modifier) => ({
    ...modifier,
    validFrom: timeOf(modifier.validFrom),
    validUntil: timeOf(modifier.validUntil)
  })),
  entities: new Map(
    (row?.entities ?? []).map(({ basePrice, id, slug, type }) => [
      id,
      { type, slug, basePrice: typeof basePrice === "number" ? basePrice : null }
    ])
  )
})
