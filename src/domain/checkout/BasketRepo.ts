import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import { lookupSql } from "../modules/LookupRepo.ts"
import type { Basket, ClaimedLine } from "./Basket.ts"
import { catalogOf, linesOfCart, sellableSnapshot } from "./SellableSnapshotRepo.ts"

/** A quantity of an entity or variant. */
export interface RequestedSellable {
  readonly entityId: string
  readonly variantId: string | null
  readonly quantity: number
}

/** Catalog data of a requested line; `entityType` is null when the organization does not have the entity. */
export interface SellableSnapshot extends ClaimedLine {
  readonly variantFound: boolean
  readonly hasVariants: boolean
}

/** Reads lines for pricing without claiming a cart. */
export class BasketRepo extends Context.Service<BasketRepo, {
  /** Catalog data of the requested lines, in their order, in one statement. */
  readonly ofLines: (
    requested: ReadonlyArray<RequestedSellable>
  ) => Effect.Effect<ReadonlyArray<SellableSnapshot>, never, CurrentActor>
  /** A cart of the organization; undefined without one. The caller checks who may read it. */
  readonly ofCart: (cartId: string) => Effect.Effect<Basket | undefined, never, CurrentActor>
}>()("stoa/domain/checkout/BasketRepo") {}

interface CartRow {
  readonly currency: string
  readonly customer_id: string | null
  readonly email: string | null
  readonly group_ids: ReadonlyArray<string> | null
  readonly secret_hash: string
  readonly lines: ReadonlyArray<ClaimedLine>
}

/** `BasketRepo` over the database of the process. */
export const basketRepoLayer = Layer.effect(
  BasketRepo,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const lookups = yield* lookupSql

    const ofLines = Effect.fn("BasketRepo.ofLines")(function*(requested: ReadonlyArray<RequestedSellable>) {
      const organization = yield* currentOrganization
      const rows = yield* sql<
        { readonly snapshot: SellableSnapshot }
      >`with c as (select ${organization}::text as organization_id)
        select ${sql.literal(sellableSnapshot)} || jsonb_build_object('variantFound', v.id is not null,
          'hasVariants', coalesce((select true from variants x where x.entity_id = e.id limit 1), false)) as snapshot
        from c cross join jsonb_to_recordset(${
        JSON.stringify(
          requested.map(({ entityId, quantity, variantId }, n) => ({
            n,
            entity_id: entityId,
            variant_id: variantId,
            quantity
          }))
        )
      }::jsonb) as l(n int, entity_id uuid, variant_id uuid, quantity int)
          ${sql.literal(catalogOf)}
        order by l.n`
      return rows.map(({ snapshot }) => snapshot)
    }, Effect.orDie)

    const ofCart = Effect.fn("BasketRepo.ofCart")(function*(cartId: string) {
      const organization = yield* currentOrganization
      const [row] = yield* lookups<CartRow>`select c.currency, c.customer_id, c.email, c.secret_hash,
          (select group_ids from customers u where u.id = c.customer_id) as group_ids,
          ${lookups.literal(linesOfCart)} as lines
        from carts c where c.id = ${cartId}::uuid and c.organization_id = ${organization}`
      return row && {
        currency: row.currency,
        customerId: row.customer_id,
        email: row.email,
        customerGroupIds: row.group_ids ?? [],
        secretHash: row.secret_hash,
        lines: row.lines
      }
    }, Effect.orDie)

    return BasketRepo.of({ ofLines, ofCart })
  })
)
