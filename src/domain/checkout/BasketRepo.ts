import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import type { ClaimedLine } from "./Basket.ts"
import { catalogOf, sellableSnapshot } from "./SellableSnapshotRepo.ts"

/** So many units of a thing. */
export interface RequestedSellable {
  readonly entityId: string
  readonly variantId: string | null
  readonly quantity: number
}

/** A wanted thing as the catalog has it; `entityType` is null for an entity the organization does not have. */
export interface SellableSnapshot extends ClaimedLine {
  readonly variantFound: boolean
  readonly hasVariants: boolean
}

/** Reads what a priced cart needs of things that no checkout has claimed. */
export class BasketRepo extends Context.Service<BasketRepo, {
  /** The things in their order, in one statement, however many they are. */
  readonly ofThings: (
    things: ReadonlyArray<RequestedSellable>
  ) => Effect.Effect<ReadonlyArray<SellableSnapshot>, never, CurrentActor>
}>()("stoa/domain/checkout/BasketRepo") {}

/** `BasketRepo` over the database of the process. */
export const basketRepoLayer = Layer.effect(
  BasketRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const ofThings = Effect.fn("BasketRepo.ofThings")(function*(things: ReadonlyArray<RequestedSellable>) {
      const organization = yield* currentOrganization
      const rows = yield* sql<
        { readonly thing: SellableSnapshot }
      >`with c as (select ${organization}::text as organization_id)
        select ${sql.literal(sellableSnapshot)} || jsonb_build_object('variantFound', v.id is not null,
          'hasVariants', coalesce((select true from variants x where x.entity_id = e.id limit 1), false)) as thing
        from c cross join jsonb_to_recordset(${
        JSON.stringify(
          things.map(({ entityId, quantity, variantId }, n) => ({
            n,
            entity_id: entityId,
            variant_id: variantId,
            quantity
          }))
        )
      }::jsonb) as l(n int, entity_id uuid, variant_id uuid, quantity int)
          ${sql.literal(catalogOf)}
        order by l.n`
      return rows.map(({ thing }) => thing)
    }, Effect.orDie)

    return BasketRepo.of({ ofThings })
  })
)
