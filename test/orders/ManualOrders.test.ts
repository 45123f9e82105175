import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { checkoutFailed, onDatabase } from "../checkout/CheckoutFixtures.ts"
import { aProduct } from "../support/Purchase.ts"
import { api, asAdmin, withSharedApp } from "../support/TestApp.ts"

/** Reservations end in the moment they are made, as one whose time is over before its order is written. */
const whileHoldsEnd = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.andThen(
      onDatabase((sql) =>
        sql`create function ends_at_once() returns trigger language plpgsql as
          'begin new.state := ''expired''; return new; end'`
      ),
      onDatabase((sql) =>
        sql`create trigger ends_at_once before insert on holds for each row execute function ends_at_once()`
      )
    ),
    () => effect,
    () => onDatabase((sql) => sql`drop function ends_at_once cascade`)
  )

const ordersOf = (entityId: string) =>
  onDatabase((sql) => sql`select 1 from order_lines where entity_id = ${entityId}::uuid`)

withSharedApp("an order that staff writes", (it) => {
  it.effect("is refused when its reservation has run out before it is written", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ stock: 5 })
      const body = { currency: "USD", lineItems: [{ entityId, quantity: 1 }] }
      const answer = yield* whileHoldsEnd(api("POST", "/api/orders", { as: asAdmin, body }))
      checkoutFailed(answer, /reservation of the items has run out/)
      assert.deepStrictEqual(yield* ordersOf(entityId), [])
    }))
})
