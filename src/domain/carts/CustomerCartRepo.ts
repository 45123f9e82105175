import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import { type Cart, toCart } from "./Cart.ts"
import { type CartWithLinesRow, linesOf, toStoredCart } from "./CartRowRepo.ts"

/** Carts of a customer. */
export class CustomerCartRepo extends Context.Service<CustomerCartRepo, {
  /** The newest `limit` carts of a customer with their lines, newest first, in one statement. */
  readonly of: (customerId: string, limit: number) => Effect.Effect<ReadonlyArray<Cart>, never, CurrentActor>
}>()("stoa/domain/carts/CustomerCartRepo") {}

/** `CustomerCartRepo` over the database of the process. */
export const customerCartRepoLayer = Layer.effect(
  CustomerCartRepo,
  Effect.map(SqlClient.SqlClient, (sql) =>
    CustomerCartRepo.of({
      of: Effect.fn("CustomerCartRepo.of")(function*(customerId: string, limit: number) {
        const organization = yield* currentOrganization
        const rows = yield* sql<CartWithLinesRow>`select c.*, ${linesOf(sql)} as lines
          from carts c where c.organization_id = ${organization} and c.customer_id = ${customerId}::uuid
          order by c.created_at desc, c.id desc limit ${limit}`
        return rows.map((row) => toCart(toStoredCart(row)))
      }, Effect.orDie)
    }))
)
