import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { holding, onDatabase } from "../checkout/CheckoutFixtures.ts"
import { type Answer, api, asAdmin, asStaff, inOrganization, withSharedApp } from "../support/TestApp.ts"
import { changeLogAtRest } from "../tenancy/Footprint.ts"
import { aStore } from "../tenancy/Stores.ts"

/** Somebody who may read the audit trail of an organization. */
const auditor = (organization: string) => inOrganization(organization, holding("audit:read"))

const eventsIn = (answer: Answer): ReadonlyArray<unknown> =>
  answer.list("data").map((_, n) => answer.at(`data.${n}.event`))

/** Entries of one organization, written on these days of 2026. */
const written = (organization: string, days: ReadonlyArray<string>) =>
  onDatabase((sql) =>
    sql`insert into outbox_events (id, organization_id, type, entity_type, entity_id, payload, actor_id, actor_type,
        source, created_at)
      select gen_random_uuid(), ${organization}, 'orders.statusChange', 'order', day, jsonb_build_object('list',
        (select jsonb_agg(n) from generate_series(1, 11) n), 'few', '[[1, 2]]'::jsonb), 'u-' || day, 'user', 'rest',
        day::timestamptz
      from unnest(${[...days]}::text[]) day`
  )

withSharedApp("the audit trail", (it) => {
  it.effect("shows who changed what, before and after, newest first", () =>
    Effect.gen(function*() {
      const store = yield* aStore("org_audit")
      yield* api("PATCH", `/api/catalog/entities/${store.entity}`, {
        as: store.as,
        body: { metadata: { colour: "red", apiKey: "k-1" } },
        headers: { "x-request-id": "audited-1", "user-agent": "a browser" }
      })
      const as = auditor("org_audit")
      const found = yield* api("GET", `/api/audit/catalog_entity/${store.entity}`, { as })
      assert.deepInclude(found.at("data.0"), {
        organizationId: "org_audit",
        entityType: "catalog_entity",
        entityId: store.entity,
        event: "catalog.update",
        actorId: "user-admin",
        actorType: "user",
        requestId: "audited-1",
        ip: "127.0.0.1",
        userAgent: "a browser",
        source: "rest"
      })
      assert.deepStrictEqual(found.at("data.0.payload.metadata"), { colour: "red" })
      assert.deepStrictEqual(found.at("data.0.before.metadata"), {})
      assert.strictEqual(eventsIn(found).at(-1), "catalog.create")
      assert.deepStrictEqual(found.at("meta.pagination.limit"), 50)
      const whole = yield* api("GET", "/api/audit?limit=1000", { as })
      assert.strictEqual(whole.at("meta.pagination.limit"), 100)
      assert.strictEqual(whole.number("meta.pagination.total"), whole.list("data").length)
      yield* changeLogAtRest
      const later = yield* api("GET", "/api/audit?limit=100", { as })
      assert.deepStrictEqual(eventsIn(later), eventsIn(whole), "having got their places changes nothing")
      assert.strictEqual(later.number("meta.pagination.total"), whole.number("meta.pagination.total"))
      assert.strictEqual(later.number("data.0.position"), whole.list("data").length)
    }))

  it.effect("can be asked for a record, a kind of change, an actor and a time", () =>
    Effect.gen(function*() {
      const store = yield* aStore("org_filters")
      const as = auditor("org_filters")
      const asked = Effect.fnUntraced(function*(query: string) {
        const answer = yield* api("GET", `/api/audit?limit=100&${query}`, { as })
        assert.strictEqual(answer.number("meta.pagination.total"), answer.list("data").length, query)
        return [...new Set(eventsIn(answer))].sort()
      })
      assert.deepStrictEqual(yield* asked(`entityType=catalog_entity&entityId=${store.entity}`), [
        "brands.link",
        "catalog.create",
        "catalog.proposeAttributes",
        "catalog.schedule",
        "categories.link"
      ])
      assert.deepStrictEqual(yield* asked("event=orders.create"), ["orders.create"])
      const created = ["catalog.create", "customers.create", "orders.create", "pricing.create", "promotions.create"]
      assert.deepStrictEqual(yield* asked("event=created"), created)
      assert.deepStrictEqual(yield* asked("event=adjusted"), ["inventory.afterAdjust"])
      assert.deepStrictEqual(yield* asked("actorId=buyer&entityType=order"), ["orders.create", "payments.capture"])
      assert.deepStrictEqual(yield* asked("actorId=nobody"), [])
    }))

  it.effect("takes days and times as they are in UTC, and 422 for anything else", () =>
    Effect.gen(function*() {
      yield* written("org_times", ["2026-01-01", "2026-01-02", "2026-01-03"])
      const as = auditor("org_times")
      const days = Effect.fnUntraced(function*(query: string) {
        const answer = yield* api("GET", `/api/audit?${query}`, { as })
        return answer.list("data").map((_, n) => answer.text(`data.${n}.entityId`))
      })
      assert.deepStrictEqual(yield* days(""), ["2026-01-03", "2026-01-02", "2026-01-01"])
      assert.deepStrictEqual(yield* days("from=2026-01-02"), ["2026-01-03", "2026-01-02"])
      assert.deepStrictEqual(yield* days("to=2026-01-02T00:00:00Z"), ["2026-01-02", "2026-01-01"])
      assert.deepStrictEqual(yield* days("from=2026-01-02T00:00:00.001&to=2026-01-03"), ["2026-01-03"])
      assert.deepStrictEqual(yield* days("from=2026-01-01T01:00:00%2B01:00&to=2026-01-01"), ["2026-01-01"])
      assert.deepStrictEqual(yield* days("limit=1&page=2"), ["2026-01-02"])
      const path = "/api/audit/order/2026-01-02"
      assert.strictEqual((yield* api("GET", `${path}?from=2026-01-01&limit=5&page=1`, { as })).list("data").length, 1)
      assert.strictEqual((yield* api("GET", `${path}?to=2026-01-01`, { as })).list("data").length, 0)
      for (const query of ["from=zzz", "to=2026-13-01", "from=1", "to=tomorrow", "from="]) {
        assert.strictEqual((yield* api("GET", `/api/audit?${query}`, { as })).status, 422, query)
        assert.strictEqual((yield* api("GET", `${path}?${query}`, { as })).status, 422, query)
      }
    }))

  it.effect("tells long lists by their length", () =>
    Effect.gen(function*() {
      yield* written("org_lists", ["2026-02-01"])
      const found = yield* api("GET", "/api/audit", { as: auditor("org_lists") })
      assert.deepStrictEqual(found.at("data.0.payload"), { list: "[11 items]", few: [[1, 2]] })
      assert.isNull(found.at("data.0.before"))
    }))

  it.effect("wants its permission", () =>
    Effect.gen(function*() {
      for (const path of ["/api/audit", "/api/audit/order/1"]) {
        assert.strictEqual((yield* api("GET", path, { as: asStaff })).status, 403)
        assert.strictEqual((yield* api("GET", path)).status, 401)
        assert.strictEqual((yield* api("GET", path, { as: asAdmin })).status, 200)
      }
    }))
})
