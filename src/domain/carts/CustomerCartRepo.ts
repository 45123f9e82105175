import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import { type Cart, toCart } from "./Cart.ts"
import { type CartRow, type LineRow, toLine, toState } from "./CartRows.ts"

/** Carts by whose they are. */
export class CustomerCartRepo extends Context.Service<CustomerCartRepo, {
  /** All carts of a customer with their lines, newest first, in one statement; the newest `limit` of them. */
  readonly of: (customerId: string, limit: number) => Effect.Effect<ReadonlyArray<Cart>, never, CurrentActor>
}>()("stoa/domain/carts/CustomerCartRepo") {}

/** `CustomerCartRepo` over the database of the process. */
export const customerCartRepoLayer = Layer.effect(
  CustomerCartRepo,
  Effect.map(SqlClient.SqlClient, (sql) =>
    CustomerCartRepo.of({
      of: Effect.fn("CustomerCartRepo.of")(function*(customerId: string, limit: number) {
        const organization = yield* currentOrganization
        const rows = yield* sql<CartRow & { readonly lines: ReadonlyArray<LineRow> }>`select c.*,
            coalesce((select jsonb_agg(to_jsonb(l) order by l.added_at, l.id) from cart_lines l
              where l.cart_id = c.id and l.organization_id = c.organization_id), '[]') as lines
          from carts c where c.organization_id = ${organization} and c.customer_id = ${customerId}::uuid
          order by c.created_at desc, c.id desc limit ${limit}`
        return rows.map((row) => toCart({ ...toState(row), lines: row.lines.map(toLine) }))
      }, Effect.orDie)
    }))
)
