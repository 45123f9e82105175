import { Context, Effect, Layer } from "effect"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import { lookupSql } from "../modules/LookupRepo.ts"
import type { Basket } from "./Basket.ts"
import { type ClaimRow, linesOfCart } from "./ClaimStatementRepo.ts"

/** Reads a cart as a checkout would, and leaves it with its shopper. */
export class CartReaderRepo extends Context.Service<CartReaderRepo, {
  /** Undefined when the organization has no such cart; whether the visitor may see it is not asked here. */
  readonly find: (cartId: string) => Effect.Effect<Basket | undefined, never, CurrentActor>
}>()("stoa/domain/checkout/CartReaderRepo") {}

type CartRow = Pick<ClaimRow, "currency" | "customer_id" | "email" | "group_ids" | "secret_hash" | "lines">

/** `CartReaderRepo` over the database of the process. */
export const cartReaderRepoLayer = Layer.effect(
  CartReaderRepo,
  Effect.map(lookupSql, (sql) => {
    const find = Effect.fn("CartReaderRepo.find")(function*(cartId: string) {
      const organization = yield* currentOrganization
      const [row] = yield* sql<CartRow>`select c.currency, c.customer_id, c.email, c.secret_hash,
          (select group_ids from customers u where u.id = c.customer_id) as group_ids,
          ${sql.literal(linesOfCart)} as lines
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
    return CartReaderRepo.of({ find })
  })
)
