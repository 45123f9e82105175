import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { api, testAppLayer } from "../support/TestApp.ts"
import { askerOf, filled, reads } from "../tenancy/Probes.ts"
import { aStore } from "../tenancy/Stores.ts"
import { listRoutes } from "./ListRoutes.ts"

/** Values that let through few rows or none: a filter without a list of values takes some of them, and refuses others. */
const values = [
  "00000000-0000-4000-8000-00000000dead",
  "2999-01-01T00:00:00.000Z",
  "1999-01-01T00:00:00.000Z",
  "no-such-thing",
  "GBP",
  "true",
  "999999999",
  "spare"
]

/** Parameters that filter nothing here, and why. */
const others: Readonly<Record<string, string>> = {
  "/api/catalog/entities?descendants": "widens `category`",
  "/api/catalog/entities?include": "adds to rows",
  "/api/catalog/entities?locale": "chooses words of rows",
  "/api/catalog/entities?sort": "orders rows",
  "/api/customers/:id/orders?include": "adds sums"
}

layer(testAppLayer({ email: { send: async () => {} } }), { excludeTestServices: true })(
  "a parameter of a list that filters",
  (it) => {
    it.effect("lets through other rows than the list without it", () =>
      Effect.gen(function*() {
        const store = yield* aStore("org_default")
        const { as } = store
        const make = (path: string, body: object) =>
          Effect.map(api("POST", path, { as, body }), (made) => made.text("data.id"))
        yield* make("/api/catalog/categories", { slug: "spare" })
        yield* make("/api/catalog/brands", { slug: "spare", displayName: "Spare" })
        const field = yield* make("/api/admin/entity-field-definitions", {
          entityType: "product",
          name: "gone",
          kind: "text"
        })
        const gone = yield* make("/api/catalog/categories", { slug: "gone" })
        for (const one of [`catalog/categories/${gone}`, `admin/entity-field-definitions/${field}`]) {
          assert.isBelow((yield* api("POST", `/api/${one}/archive`, { as })).status, 300, one)
        }
        const idle: Array<string> = []
        for (const { choices, filters, matches, path } of listRoutes.filter((list) => list.filters.length > 0)) {
          const probe = reads.find((one) => matches(one.path)) ?? assert.fail(`${path} has no request (Probes.ts).`)
          const rowsOf = Effect.fnUntraced(function*(query: string) {
            const asked = filled({ ...probe, path: (probe.path.split("?")[0] ?? "") + query }, store)
            const { body, status } = yield* api("GET", asked.path, { as: askerOf(probe, store) })
            return status === 200 ? JSON.stringify(body) : status === 404 ? "none" : "refused"
          })
          const all = yield* rowsOf("")
          for (const name of filters) {
            const found = yield* Effect.forEach(
              [...values, ...choices.get(name) ?? []],
              (value) => rowsOf(`?${name}=${value}`)
            )
            const isIdle = found.every((rows) => rows === all || rows === "refused")
            if (isIdle && others[`${path}?${name}`] === undefined) idle.push(`${path}?${name}`)
          }
        }
        assert.deepStrictEqual(idle, [])
      }))
  }
)
