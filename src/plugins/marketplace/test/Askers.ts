import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { api, asAdmin, asCustomer, asStaff, inOrganization } from "../../../../test/support/TestApp.ts"
import type { Actor } from "../../../domain/access/Actor.ts"
import { asVendor, insertVendor } from "./MarketBuilder.ts"
import { aSale, inDatabase, type Sale } from "./SaleBuilder.ts"

/** Who asks about a sale. */
export interface Askers<A> {
  readonly none: A
  readonly buyer: A
  readonly otherCustomer: A
  readonly vendor: A
  readonly otherVendor: A
  readonly staff: A
  readonly admin: A
  readonly otherTenant: A
}

/** A request about a sale. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

const actorOf = Effect.fnUntraced(function*(who: keyof Askers<unknown>, sale: Sale) {
  const actors: Askers<Partial<Actor> | undefined> = {
    none: undefined,
    buyer: sale.buyer,
    otherCustomer: asCustomer("somebody-else"),
    vendor: sale.vendor,
    otherVendor: asVendor(yield* inDatabase(insertVendor())),
    staff: asStaff,
    admin: asAdmin,
    otherTenant: inOrganization("org_of_others", asAdmin)
  }
  return actors[who]
})

/** In the order of `Askers`. */
export type Statuses = readonly [number, number, number, number, number, number, number, number]

const order = ["none", "buyer", "otherCustomer", "vendor", "otherVendor", "staff", "admin", "otherTenant"] as const

/** Sends the same request as each actor, each time about a new sale, and compares the statuses. */
export const expectStatuses = Effect.fnUntraced(function*<R>(
  statuses: Statuses,
  about: (sale: Sale) => Effect.Effect<Asked, never, R>
) {
  const found = yield* Effect.forEach(order, (who) =>
    Effect.gen(function*() {
      const sale = yield* aSale()
      const { body, method, path } = yield* about(sale)
      const as = yield* actorOf(who, sale)
      const answer = yield* api(method, `/api/marketplace${path}`, {
        ...(as === undefined ? {} : { as }),
        ...(body === undefined ? {} : { body })
      })
      return `${who} ${answer.status}`
    }), { concurrency: 4 })
  assert.deepStrictEqual(found, order.map((who, at) => `${who} ${statuses[at]}`))
})
