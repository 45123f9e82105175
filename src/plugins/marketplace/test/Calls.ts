import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { type Answer, api, asCustomer, inOrganization, type TestApp } from "../../../../test/support/TestApp.ts"
import type { Actor } from "../../../domain/platform/access/Actor.ts"
import type { VendorRole } from "../parties/VendorPortal.ts"
import { times } from "./Market.ts"

export type Who = Partial<Actor> | undefined

/** A member of a vendor, with the permissions of a customer. */
export const asVendor = (vendorId: string, vendorRole: VendorRole = "owner", within = "org_default"): Partial<Actor> =>
  inOrganization(within, { ...asCustomer(`user-of-${vendorId}`), vendorId, vendorRole })

/** Sends `POST /disputes` of the marketplace, or `POST /api/orders` of the core, as an actor; undefined: a visitor. */
export const send = (as: Who, route: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) => {
  const [method = "", path = ""] = route.split(" ")
  const call = { headers, ...(as === undefined ? {} : { as }), ...(body === undefined ? {} : { body }) }
  return api(method, path.startsWith("/api/") ? path : `/api/marketplace${path}`, call)
}

/** The same, and it has to succeed. */
export const done = (...call: Parameters<typeof send>) =>
  Effect.tap(
    send(...call),
    ({ body, status }) => Effect.sync(() => assert.isBelow(status, 300, `${call[1]} ${JSON.stringify(body)}`))
  )

/** The same, and it has to be refused with these: `404 NOT_FOUND`. */
export const refused = (with_: string, ...call: Parameters<typeof send>) =>
  Effect.tap(send(...call), (answer) =>
    Effect.sync(() => {
      const about = `${JSON.stringify(call.slice(1))} ${JSON.stringify(answer.body)}`
      assert.strictEqual(`${answer.status} ${answer.at("error.code")}`, with_, about)
    }))

/** Each of the bodies has to be refused. */
export const refusedBodies = (with_: string, as: Who, route: string, bodies: ReadonlyArray<unknown>) =>
  Effect.forEach(bodies, (body) => refused(with_, as, route, body))

/** Sends a request eight times at once: one succeeds with 201, and the others are refused. */
export const assertOnce = Effect.fnUntraced(function*<E, R>(call: Effect.Effect<Answer, E, R>, refusedWith = 422) {
  const answers = yield* Effect.all(times(8, call), { concurrency: 8 })
  assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, ...times(7, refusedWith)])
  return answers.find(({ status }) => status === 201)
})

/** A field of every row of a list. */
export const each = (answer: Answer, field: string): ReadonlyArray<unknown> =>
  answer.list("data").map((row) => Reflect.get(Object(row), field))

export const statusOf = (call: Effect.Effect<Answer, never, TestApp>) => Effect.map(call, ({ status }) => status)
