import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { aProduct } from "../support/Purchase.ts"
import { recorder } from "../support/Recorder.ts"
import { ShopFronts, shopFronts, somebody } from "../support/ShopFronts.ts"
import { at, live } from "../support/TestApp.ts"
import { callFrom, open, run, signedInAt, tell } from "../support/VisitedPage.ts"
import { footprintOf } from "../tenancy/Footprint.ts"

const origins = {
  "another host of the service's site": { of: "sibling", cookies: ["uc.session_token"] },
  "another site": { of: "outsider", cookies: [] }
} as const

/** Everything that a page could change: all rows of the store without jobs, and its users and sessions. */
const everything = Effect.gen(function*() {
  const rows = yield* footprintOf("org_default")
  const people = yield* onDatabase((sql) =>
    sql<{ row: string }>`select 'users: ' || u::text as row from users u
      union all select 'user_accounts: ' || a::text from user_accounts a
      union all select 'sessions: ' || s::text from sessions s order by 1`
  )
  return [...rows.filter((row) => !/^(commerce_)?job/.test(row) || /,mail,/.test(row)), ...people.map(({ row }) => row)]
})

/** A customer with something to lose: a session, a cart with a line, an address. */
const aVictim = Effect.gen(function*() {
  const visitor = yield* somebody
  const { page } = yield* signedInAt(visitor)
  const entityId = yield* aProduct({ price: 900, stock: 20 })
  const cart = yield* callFrom(page, "POST", "/api/carts", { body: { currency: "USD" } })
  const cartId = cart.text("data.id")
  const items = `/api/carts/${cartId}/items`
  const line = yield* callFrom(page, "POST", items, { body: { entityId, quantity: 1 } })
  const address = {
    type: "shipping",
    firstName: "Ada",
    lastName: "L",
    line1: "Mill Lane 1",
    city: "Hay",
    postalCode: "SW1A 1AA",
    country: "GB"
  }
  const kept = yield* callFrom(page, "POST", "/api/me/addresses", { body: address })
  assert.deepStrictEqual([line.status, kept.status], [201, 201])
  /** What would pass if it came from the shop. */
  const posts: ReadonlyArray<readonly [path: string, body: object]> = [
    ["/api/auth/sign-out", {}],
    ["/api/auth/update-user", { name: "Eve" }],
    ["/api/carts", { currency: "USD" }],
    [items, { entityId, quantity: 9 }],
    ["/api/checkout", { cartId, currency: "USD", paymentMethodId: "test" }],
    ["/api/me/addresses", { ...address, line1: "Elsewhere 2" }]
  ]
  const others: ReadonlyArray<readonly [method: string, path: string, body?: object]> = [
    ["PATCH", "/api/me/profile", { firstName: "Eve" }],
    ["DELETE", `/api/me/addresses/${kept.text("data.id")}`],
    ["DELETE", "/api/me"],
    ["DELETE", `${items}/${line.text("data.id")}`]
  ]
  return { visitor, page, posts, others }
})

/** Codes of refusals: `/api/auth` has those of better-auth. */
const refusals = (path: string) =>
  path.startsWith("/api/auth/") ? ["INVALID_ORIGIN", "MISSING_OR_NULL_ORIGIN"] : ["CSRF_ORIGIN_REJECTED"]

type Victim = Effect.Success<typeof aVictim>

/** A page of the untrusted origin in the victim's browser. */
const lure = Effect.fnUntraced(function*({ visitor }: Victim, of: "sibling" | "outsider", name: string) {
  return yield* open(visitor, `${(yield* ShopFronts)[of]}/${name}.html`)
})

/** Runs an attack and asserts that nothing has changed and that the victim is still signed in. */
const unharmed = Effect.fnUntraced(function*<E, R>(victim: Victim, attack: Effect.Effect<void, E, R>) {
  const before = yield* everything
  yield* attack
  assert.deepStrictEqual(yield* everything, before)
  const profile = yield* callFrom(victim.page, "GET", "/api/me/profile")
  assert.deepStrictEqual([profile.status, profile.at("data.firstName") === "Eve"], [200, false])
})

/** A POST that leads the whole page away, and what the victim gets to see then. */
const submitted = Effect.fnUntraced(function*(page: Page, how: string, address: string, ...form: Array<unknown>) {
  const answered = page.waitForResponse((response) => response.url() === address)
  yield* run(page, how, address, ...form)
  const response = yield* Effect.promise(() => answered)
  const sent = yield* Effect.promise(() => response.request().allHeaders())
  const body: unknown = yield* Effect.promise(() => response.json())
  return { status: response.status(), code: at(body, "error.code"), origin: sent["origin"], cookie: sent["cookie"] }
})

const types = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] as const

layer(shopFronts, live)("a page of an untrusted origin", (it) => {
  for (const [name, { cookies, of }] of Object.entries(origins)) {
    it.effect(`of ${name} sends none of the shop's changes: its browser asks, and gets no permission`, () =>
      Effect.gen(function*() {
        const { api } = yield* ShopFronts
        const victim = yield* aVictim
        const page = yield* lure(victim, of, "shop")
        const { all, exchanges } = yield* recorder(page)
        const changes = [
          ...victim.posts.map(([path, body]) => ["POST", path, body] as const),
          ...victim.others,
          ["PUT", "/api/carts", {}] as const
        ]
        yield* unharmed(
          victim,
          Effect.forEach(changes, ([method, path, body]) =>
            Effect.gen(function*() {
              const recorded = yield* callFrom(page, method, path, body === undefined ? {} : { body })
              assert.deepStrictEqual([recorded.status, recorded.body, [...recorded.headers]], [0, undefined, []], path)
              const [sent] = yield* exchanges(method, `${api}${path}`)
              assert.deepStrictEqual(
                [sent?.refused, sent?.status],
                ["PreflightMissingAllowOriginHeader", undefined],
                `${method} ${path} never left the browser`
              )
            }), { discard: true })
        )
        const asked = all().filter(({ method }) => method === "OPTIONS")
        assert.isAtLeast(asked.length, changes.length)
        assert.isTrue(asked.every(({ status }) => status === 204))
      }))

    it.effect(`of ${name} is refused what it may send without asking, of every type`, () =>
      Effect.gen(function*() {
        const { api } = yield* ShopFronts
        const victim = yield* aVictim
        const page = yield* lure(victim, of, "attack")
        const { exchanges } = yield* recorder(page)
        yield* unharmed(
          victim,
          Effect.forEach(victim.posts, ([path, body]) =>
            Effect.gen(function*() {
              const text = JSON.stringify(body)
              for (const type of [...types, "no type"]) {
                const recorded = yield* tell(page, "send", `${api}${path}`, "cors", type, text)
                assert.deepStrictEqual(recorded, { failed: "TypeError" })
                const blind = yield* tell(page, "send", `${api}${path}`, "no-cors", type, text)
                assert.deepStrictEqual(blind, { type: "opaque", status: 0, body: "" })
              }
              assert.isTrue(yield* run(page, "beacon", `${api}${path}?beacon`, text))
              const sent = [
                ...yield* exchanges("POST", `${api}${path}`),
                ...yield* exchanges("POST", `${api}${path}?beacon`)
              ]
              assert.deepStrictEqual(sent.map(({ status }) => status), Array(9).fill(403), path)
              assert.isTrue(sent.every((one) => one.cookies.join() === cookies.join()), "cookies as SameSite says")
            }), { discard: true })
        )
      }))

    it.effect(`of ${name} is refused the forms that it submits, with an origin or without one`, () =>
      Effect.gen(function*() {
        const { [of]: origin, api } = yield* ShopFronts
        const victim = yield* aVictim
        yield* unharmed(
          victim,
          Effect.forEach(victim.posts, ([path, body]) =>
            Effect.gen(function*() {
              const text = JSON.stringify(body)
              for (const [how, said] of [["submit", origin], ["submitFromNowhere", "null"]] as const) {
                for (const type of types) {
                  const page = yield* lure(victim, of, "attack")
                  const answered = yield* submitted(page, how, `${api}${path}`, type, text)
                  assert.deepStrictEqual([answered.status, answered.origin], [403, said], path)
                  assert.include(refusals(path), answered.code)
                  assert.strictEqual(answered.cookie !== undefined, cookies.length > 0, "cookies as SameSite says")
                  yield* Effect.promise(() => page.close())
                }
              }
            }), { discard: true })
        )
      }))

    it.effect(`of ${name} reads nothing of its visitor, nor what everybody may read`, () =>
      Effect.gen(function*() {
        const { api } = yield* ShopFronts
        const victim = yield* aVictim
        const page = yield* lure(victim, of, "attack")
        const { exchanges } = yield* recorder(page)
        for (const path of ["/api/me/profile", "/api/me/export", "/api/auth/get-session", "/api/catalog/entities"]) {
          const address = `${api}${path}`
          assert.deepStrictEqual(yield* tell(page, "read", address, "cors"), { failed: "TypeError" }, path)
          const blind = yield* tell(page, "read", address, "no-cors")
          assert.deepStrictEqual(blind, { type: "opaque", status: 0, body: "" }, path)
          const [sent] = yield* exchanges("GET", address)
          assert.deepStrictEqual(sent?.cookies, cookies, "cookies as SameSite says")
          for (const kind of ["script", "img"]) {
            assert.strictEqual(yield* run(page, "embed", kind, address), "error", `${kind} ${path}`)
          }
          assert.strictEqual(yield* run(page, "overlook", address), "SecurityError", path)
        }
      }))

    it.effect(`of ${name} cannot sign a visitor in as somebody else`, () =>
      Effect.gen(function*() {
        const { [of]: origin, api } = yield* ShopFronts
        const attacker = yield* signedInAt(yield* somebody)
        const visitor = yield* somebody
        const fields = { email: attacker.email, password: attacker.password }
        const address = `${api}/api/auth/sign-in/email`
        for (const mode of ["no-cors", "cors"]) {
          const page = yield* open(visitor, `${origin}/attack.html`)
          const { exchanges } = yield* recorder(page)
          yield* run(page, "sendFields", address, mode, fields)
          assert.deepStrictEqual((yield* exchanges("POST", address)).map(({ status }) => status), [403])
        }
        const page = yield* open(visitor, `${origin}/attack.html`)
        const { code, status } = yield* submitted(page, "submitFields", address, fields)
        assert.deepStrictEqual([status, code], [403, "INVALID_ORIGIN"])
        assert.deepStrictEqual(yield* Effect.promise(() => visitor.cookies(api)), [])
      }))
  }
})
