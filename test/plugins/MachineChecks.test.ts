import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { definePlugin, group, machine } from "stoa/plugin"
import { createPluginTestApp, machineOf, type PluginTestApp, raceOf, testNoPermActor } from "stoa/plugin/testing"
import { inject } from "vitest"
import { supplier, suppliers, supply } from "./Suppliers.ts"

const routes = group("Careless", "/careless")

/** Moves that look before they write, and one that forgets to look. */
const careless = definePlugin({
  id: "careless",
  version: "1.0.0",
  requires: ["supply"],
  permissions: [{ scope: "careless:write", description: "Be careless" }],
  schema: () => [],
  routes: ({ db }) => [
    routes.post("/suppliers/:id/approve", { permission: "careless:write" }).handle(({ params }) =>
      Effect.as(db.sql`update supply_suppliers set status = 'approved' where id = ${params.id}::uuid`, {}).pipe(
        Effect.orDie
      )
    ),
    routes.post("/codes", { permission: "careless:write" }).handle(() =>
      Effect.as(
        db.sql`insert into supply_suppliers (id, organization_id, code, name)
          values (gen_random_uuid(), 'org_default', gen_random_uuid()::text, 'careless')`,
        {}
      ).pipe(Effect.orDie)
    )
  ]
})

describe("the checks of a machine and of races", () => {
  let test: PluginTestApp
  beforeAll(async () => {
    test = await createPluginTestApp([supply, careless], { postgres: inject("postgres") })
  })
  afterAll(() => test.close())

  const failure = async (work: Promise<unknown>) =>
    work.then(() => "none", (error: unknown) => error instanceof Error ? error.message : String(error))

  for (const [n, title] of ["approve", "blockForNow"].entries()) {
    it(`pass for a machine that guards itself: ${title}`, async () => {
      const check = machineOf(test, supplier, { path: "/api/supply/suppliers" })[n]
      assert.include(check?.name, title)
      await check?.run()
    })
  }

  it("find a move that is made from a state that does not admit it, and routes that there are not", async () => {
    const [approve, block] = machineOf(test, supplier, { path: "/api/careless/suppliers" })
    assert.include(await failure(approve?.run() ?? Promise.resolve()), "approve of an unknown row")
    assert.include(await failure(block?.run() ?? Promise.resolve()), "0 routes end with /:id/block-for-now")
    const rest = machineOf(test, supplier, { path: "/api/supply/suppliers", without: ["approve"] })
    assert.deepStrictEqual(rest.map(({ name }) => name.split(": ")[1]?.split(" ")[0]), ["blockForNow"])
    const [ambiguous] = machineOf(test, supplier)
    assert.include(await failure(ambiguous?.run() ?? Promise.resolve()), "2 routes end with /:id/approve")
    const wrong = machine(suppliers, { noun: "supplier", moves: { approve: { from: ["blocked"], to: "approved" } } })
    const [stricter] = machineOf(test, wrong, { path: "/api/supply/suppliers" })
    assert.include(await failure(stricter?.run() ?? Promise.resolve()), "approve of a row that is candidate")
  })

  it("pass for requests of which one takes effect", async () => {
    const path = "/api/supply/suppliers"
    const [made] = await raceOf(test, { method: "POST", path, body: { code: "race", name: "Race" } }, 1)
    const id = String(Reflect.get(Object(Reflect.get(Object(made?.body), "data")), "id"))
    await raceOf(test, { method: "POST", path: `${path}/${id}/approve` })
    await raceOf(test, { method: "POST", path, body: { code: "taken", name: "Race" } })
    await raceOf(test, { method: "DELETE", path: `${path}/${id}` })
    const headers = { "Idempotency-Key": randomUUID() }
    await raceOf(test, { method: "POST", path, headers, body: { code: "with a key", name: "Race" } })
  })

  it("find requests that all take effect, and requests of which none does", async () => {
    assert.include(await failure(raceOf(test, { method: "POST", path: "/api/careless/codes" }, 3)), "is done 3 times")
    const unknown = { method: "DELETE", path: `/api/supply/suppliers/${randomUUID()}` }
    assert.include(await failure(raceOf(test, unknown, 2)), "is done 0 times: 404, 404")
    const forbidden = { ...unknown, as: testNoPermActor }
    assert.include(await failure(raceOf(test, forbidden, 2)), "answers 403, 403")
  })
})
