import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { aProduct } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, type Call, live, TestApp, testAppLayer } from "../support/TestApp.ts"

const strict = { prefer: "handling=strict" }
const word = () => `w${randomUUID().replaceAll("-", "")}`
const promotion = (more: object) => ({
  name: word(),
  type: "percentage_off_order",
  value: 50,
  isAutomatic: false,
  ...more
})
const admin = (method: string, path: string, body?: unknown, headers: Call["headers"] = {}) =>
  api(method, path, { as: asAdmin, headers, ...(body === undefined ? {} : { body }) })
const entity = (more: object = {}) => ({ type: "product", slug: word(), ...more })
const ignored = ({ headers }: Answer) => headers.get("x-ignored-fields")
const issuesOf = (answer: Answer) => {
  assert.strictEqual(answer.status, 422, JSON.stringify(answer.body))
  return answer.at("error.details.issues")
}
const refused = (path: string, meant?: string, kind = "field") => ({
  path,
  message: `${path} is not a known ${kind}. ${meant === undefined ? "Leave it out." : `Did you mean "${meant}"?`}`,
  code: "unknown_key"
})

layer(testAppLayer(), live)("a body that sets a price, a limit, a condition, a right or a time", (it) => {
  it.effect("is refused for an unknown key at any depth, with the name that was meant, and changes nothing", () =>
    Effect.gen(function*() {
      const code = word().toUpperCase()
      const answer = yield* admin(
        "POST",
        "/api/promotions",
        promotion({ code, conditions: { minimumOrderVale: 5 }, nam: 1 })
      )
      assert.deepStrictEqual(issuesOf(answer), [
        refused("conditions.minimumOrderVale", "minimumOrderValue"),
        refused("nam", "name")
      ])
      assert.strictEqual((yield* admin("POST", "/api/promotions", promotion({ code }))).status, 201)
    }))

  it.effect("shows its other issues beside unknown keys", () =>
    Effect.gen(function*() {
      const { name: _, ...unnamed } = promotion({ nmae: "half" })
      const answer = yield* admin("POST", "/api/promotions", unnamed)
      assert.deepStrictEqual(answer.at("error.details.issues.0"), refused("nmae", "name"))
      assert.strictEqual(answer.at("error.details.issues.1.path"), "name")
    }))

  it.effect("may have any key in metadata, and unknown parameters beside it", () =>
    Effect.gen(function*() {
      const answer = yield* admin("POST", "/api/promotions?colour=1", promotion({ metadata: { a: { b: [{ c: 1 }] } } }))
      assert.deepStrictEqual([answer.status, ignored(answer)], [201, "query.colour"])
    }))

  it.effect("is that of prices, modifiers, taxes, shipping, webhooks, keys and roles, new or changed, of refunds and captures", () =>
    Effect.gen(function*() {
      const id = randomUUID()
      const bodies = [
        ["POST", "/api/promotions"],
        ["PATCH", `/api/promotions/${id}`],
        ["POST", "/api/pricing/prices"],
        ["POST", "/api/pricing/modifiers"],
        ["PATCH", `/api/pricing/modifiers/${id}`],
        ["POST", "/api/tax/classes"],
        ["PATCH", `/api/tax/classes/${id}`],
        ["POST", "/api/tax/rates"],
        ["PATCH", `/api/tax/rates/${id}`],
        ["POST", "/api/shipping/zones"],
        ["PATCH", `/api/shipping/zones/${id}`],
        ["POST", "/api/shipping/rates"],
        ["PATCH", `/api/shipping/rates/${id}`],
        ["POST", "/api/webhooks"],
        ["PATCH", `/api/webhooks/${id}`],
        ["POST", `/api/webhooks/${id}/rotate-secret`],
        ["POST", "/api/admin/api-keys"],
        ["POST", "/api/admin/staff"],
        ["POST", "/api/admin/staff/invitations"],
        ["PATCH", `/api/admin/staff/${id}`],
        ["POST", "/api/auth/api-key/create"],
        ["POST", "/api/auth/api-key/update"],
        // A misspelt amount would give everything back, or take all of it.
        ["POST", `/api/orders/${id}/refund`],
        ["POST", `/api/orders/${id}/refunds`],
        ["POST", `/api/orders/${id}/capture`],
        ["POST", `/api/orders/${id}/returns/${id}/refund`]
      ] as const
      for (const [method, path] of bodies) {
        const answer = yield* admin(method, path, { unheardOf: 1 }, { origin: "http://localhost:3000" })
        assert.strictEqual(answer.at("error.details.issues.0.code"), "unknown_key", `${method} ${path}`)
        assert.strictEqual(answer.at("error.details.issues.0.path"), "unheardOf", `${method} ${path}`)
      }
    }))
})

layer(testAppLayer(), live)("every other request", (it) => {
  it.effect("is accepted, and the answer names unknown keys, parameters and names of lists", () =>
    Effect.gen(function*() {
      const made = yield* admin(
        "POST",
        "/api/catalog/entities?colour=red",
        entity({ colour: 1, metadata: { free: 1 } })
      )
      assert.deepStrictEqual([made.status, ignored(made)], [201, "colour, query.colour"])
      const read = yield* admin("GET", `/api/catalog/entities/${made.text("data.id")}?include=media,foo&qurey=1`)
      assert.deepStrictEqual([read.status, ignored(read)], [200, "include.foo, query.qurey"])
      assert.match(read.headers.get("vary") ?? "", /\bPrefer\b/)
      assert.isNull(ignored(yield* admin("GET", "/api/catalog/entities?include=media&page=1")))
    }))

  it.effect("receives the names too where no body is read, where it is refused, and for HEAD", () =>
    Effect.gen(function*() {
      const id = (yield* admin("POST", "/api/catalog/entities", entity())).text("data.id")
      assert.strictEqual(ignored(yield* admin("POST", `/api/catalog/entities/${id}/publish`, { when: 1 })), "when")
      const missing = yield* admin("PATCH", `/api/catalog/entities/${randomUUID()}`, { slugg: "a" })
      assert.deepStrictEqual([missing.status, ignored(missing)], [404, "slugg"])
      assert.strictEqual(ignored(yield* admin("HEAD", "/api/catalog/entities?foo=1")), "query.foo")
    }))

  it.effect("receives the names again when it is repeated with its Idempotency-Key", () =>
    Effect.gen(function*() {
      const [headers, body] = [{ "idempotency-key": word() }, entity({ colour: 1 })]
      const first = yield* admin("POST", "/api/catalog/entities", body, headers)
      const again = yield* admin("POST", "/api/catalog/entities", body, headers)
      assert.deepStrictEqual([first, again].map((one) => [one.status, ignored(one)]), [[201, "colour"], [
        201,
        "colour"
      ]])
      assert.strictEqual(first.text("data.id"), again.text("data.id"))
    }))

  it.effect("names odd and very many keys in a header of bounded length that every client can read", () =>
    Effect.gen(function*() {
      const odd = yield* admin("POST", "/api/catalog/entities", entity({ "größe, a\r\nb": 1 }))
      assert.strictEqual(ignored(odd), "gr%C3%B6%C3%9Fe%2C%20a%0D%0Ab")
      const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`unheard-of-${n}`, n]))
      const answer = yield* admin("POST", "/api/catalog/entities", entity(many))
      assert.strictEqual(answer.status, 201)
      assert.isBelow(ignored(answer)?.length ?? Infinity, 1_050)
      assert.match(ignored(answer) ?? "", /^unheard-of-0, .*, \+49\d\d$/)
      const long = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`${n}-${"k".repeat(100)}`, n]))
      const bounded = ignored(yield* admin("POST", "/api/catalog/entities", entity(long)))
      assert.isBelow(bounded?.length ?? Infinity, 1_050)
      assert.match(bounded ?? "", /, \+2\d$/)
      const refusal = yield* admin("POST", "/api/promotions", promotion(many))
      assert.isAtMost(JSON.stringify(refusal.body).length, 10_000)
    }))

  it.effect("receives the name __proto__ and the places of keys in lists", () =>
    Effect.gen(function*() {
      const { url } = yield* TestApp
      const send = (path: string, text: string) =>
        Effect.promise(() =>
          fetch(`${url}${path}`, {
            method: "POST",
            headers: { "content-type": "application/json", "x-test-actor": JSON.stringify(asAdmin) },
            body: text
          })
        )
      const proto = yield* send(
        "/api/catalog/entities?__proto__=1",
        `{"type":"product","slug":"${word()}","__proto__":{"a":1}}`
      )
      assert.deepStrictEqual([proto.status, proto.headers.get("x-ignored-fields")], [201, "__proto__, query.__proto__"])
      const line = { entityId: yield* aProduct(), quantity: 1, colour: "red" }
      const quote = yield* send("/api/orders/quote", JSON.stringify({ currency: "USD", lineItems: [line, line] }))
      assert.strictEqual(quote.headers.get("x-ignored-fields"), "lineItems.0.colour, lineItems.1.colour")
    }))
})

layer(testAppLayer(), live)("Prefer: handling=strict", (it) => {
  it.effect("refuses unknown keys, parameters and names of every route and says that it was applied", () =>
    Effect.gen(function*() {
      const slug = word()
      const answer = yield* admin("POST", "/api/catalog/entities?pgae=1", { type: "product", slug, slugg: 1 }, strict)
      assert.deepStrictEqual(issuesOf(answer), [
        refused("slugg", "slug"),
        refused("query.pgae", undefined, "parameter")
      ])
      assert.strictEqual(answer.headers.get("preference-applied"), "handling=strict")
      const list = yield* admin("GET", "/api/catalog/entities?statsu=active&include=brnads", undefined, strict)
      assert.deepStrictEqual(issuesOf(list), [
        refused("query.statsu", "status", "parameter"),
        refused("include.brnads", "brands", "name")
      ])
      const made = yield* admin("POST", "/api/catalog/entities", { type: "product", slug }, strict)
      assert.deepStrictEqual([made.status, made.headers.get("preference-applied")], [201, "handling=strict"])
      assert.isNull(ignored(made))
    }))

  it.effect("counts in every form that RFC 7240 allows, and no other preference does", () =>
    Effect.gen(function*() {
      const asked = (prefer: string) =>
        Effect.map(admin("GET", "/api/catalog/entities?foo=1", undefined, { prefer }), ({ status }) => status)
      const forms = [
        "handling=strict",
        "return=minimal, Handling = \"strict\"; foo=1",
        "handling=strict, handling=lenient"
      ]
      assert.deepStrictEqual(yield* Effect.forEach(forms, asked), [422, 422, 422])
      const others = [
        "handling=lenient",
        "handling=lenient, handling=strict",
        "handling=strictly",
        "strict",
        "xhandling=strict"
      ]
      assert.deepStrictEqual(yield* Effect.forEach(others, asked), [200, 200, 200, 200, 200])
    }))

  it.effect("holds for the routes of authentication, which name unknown keys without it", () =>
    Effect.gen(function*() {
      const body = { email: `${word()}@example.com`, password: "a long passphrase", name: "Ada", nickname: "a" }
      const headers = { origin: "http://localhost:3000" }
      const answer = yield* api("POST", "/api/auth/sign-up/email", { body, headers: { ...headers, ...strict } })
      assert.deepStrictEqual(issuesOf(answer), [refused("nickname")])
      const made = yield* api("POST", "/api/auth/sign-up/email", { body, headers })
      assert.deepStrictEqual([made.status, ignored(made)], [200, "nickname"])
    }))
})

layer(testAppLayer(), live)("the body of a payment provider", (it) => {
  it.effect("may have any field, in strict requests too", () =>
    Effect.gen(function*() {
      const answer = yield* api("POST", "/api/payments/webhook", { body: { id: "evt_1", foo: 1 }, headers: strict })
      assert.deepStrictEqual([ignored(answer), JSON.stringify(answer.body).includes("unknown_key")], [null, false])
    }))
})
