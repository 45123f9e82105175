import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { elsewhere, holding, onDatabase, openElsewhere, refused } from "../checkout/CheckoutFixtures.ts"
import { bringAbout, causes } from "../events/Causes.ts"
import { anOrganization } from "../support/Organizations.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, asCustomer, asStaff, at, inOrganization, withSharedApp } from "../support/TestApp.ts"
import { changeLogAtRest } from "../tenancy/Footprint.ts"
import { aNewcomer, audit, doneBy, historyOf, trail } from "./Entries.ts"

const entities = "/api/catalog/entities"
const webhooks = "/api/webhooks"

const anEntity = (as = asAdmin, headers = {}) =>
  Effect.map(
    api("POST", entities, { as, headers, body: { type: "product", slug: newId() } }),
    (made) => made.text("data.id")
  )

const eventsOf = (entries: ReadonlyArray<unknown>) => entries.map((one) => at(one, "event"))

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

withSharedApp("entries of the audit trail", (it) => {
  it.effect("entries name the origin of the request, and have no actor for a visitor", () =>
    Effect.gen(function*() {
      const [actor, key] = [aNewcomer(), aNewcomer("api_key")]
      yield* anEntity(actor, { "user-agent": "a-test/1.0" })
      const [entry] = yield* doneBy(actor)
      assert.deepInclude(entry, { source: "rest", userAgent: "a-test/1.0", actorType: "user" })
      assert.match(String(at(entry, "ip")), /127\.0\.0\.1$/)
      yield* anEntity(key)
      assert.deepStrictEqual((yield* doneBy(key)).map((one) => at(one, "actorType")), ["api_key"])

      const made = yield* checkOut(yield* aCartWith(yield* aProduct()))
      const order = (yield* historyOf("order", made.text("data.id"))).list("data").at(-1)
      const requestId = made.headers.get("x-request-id")
      assert.deepInclude(order, { event: "orders.create", actorId: null, requestId })
    }))

  it.effect("entries do not exist for refused requests, and once for a repeated one", () =>
    Effect.gen(function*() {
      const actor = aNewcomer()
      const body = { type: "product", slug: newId() }
      yield* api("POST", entities, { as: asAdmin, body })
      refused(yield* api("POST", entities, { as: actor, body }), 409, "CONFLICT")
      refused(yield* api("POST", entities, { as: actor, body: { slug: "" } }), 422, "VALIDATION_FAILED")
      refused(yield* api("DELETE", `${entities}/${newId()}`, { as: actor }), 404, "NOT_FOUND")
      const powerless = { ...actor, permissions: [] }
      refused(yield* api("POST", entities, { as: powerless, body: { ...body, slug: newId() } }), 403, "FORBIDDEN")
      assert.deepStrictEqual(yield* doneBy(actor), [])
      const call = { as: actor, headers: { "idempotency-key": newId() }, body: { type: "product", slug: newId() } }
      for (const _ of [1, 2]) yield* api("POST", entities, call)
      assert.lengthOf(yield* doneBy(actor), 1)
    }))

  it.effect("entries exist once for a change that many requested at once", () =>
    Effect.gen(function*() {
      const cause = causes.find(({ name }) => name === "an order becoming cancelled")
      if (cause === undefined) return yield* Effect.die("no such cause")
      const { about = "", body, method, path } = yield* cause.prepare(asAdmin)
      const answers = yield* Effect.all(
        Array.from({ length: 5 }, () => api(method, path, { as: asAdmin, body })),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(answers.filter(({ status }) => status === 200), 1)
      const history = (yield* historyOf("order", about)).list("data")
      assert.sameMembers(eventsOf(history), [
        "orders.cancel",
        "orders.statusChange",
        "payments.capture",
        "orders.create"
      ])
    }))

  it.effect("entries contain no secret of a webhook, a cart or in free text, and shorten long lists", () =>
    Effect.gen(function*() {
      const actor = aNewcomer()
      const own = `own-secret-${newId()}`
      const endpoint = { url: "https://hooks.example.com/", events: ["*"], secret: own }
      const made = yield* api("POST", webhooks, { as: actor, body: endpoint })
      const rotated = yield* api("POST", `${webhooks}/${made.text("data.id")}/rotate-secret`, { as: actor, body: {} })
      const metadata = {
        password: "hunter2-a",
        secret: "hunter2-b",
        bankAccount: "hunter2-c",
        inside: { password: "hunter2-d" },
        numbers: Array.from({ length: 11 }, (_, n) => n),
        few: [[1, 2]]
      }
      yield* api("POST", entities, { as: actor, body: { type: "product", slug: newId(), metadata } })
      const entries = yield* doneBy(actor)
      assert.lengthOf(entries, 3)
      const shown = { inside: {}, numbers: "[11 items]", few: [[1, 2]] }
      assert.deepStrictEqual(at(entries[0], "payload.metadata"), shown)

      const cart = yield* api("POST", "/api/carts", { body: { currency: "USD" } })
      const headers = { "x-cart-secret": cart.text("data.secret") }
      const body = { entityId: yield* aProduct(), quantity: 1 }
      yield* api("POST", `/api/carts/${cart.text("data.id")}/items`, { headers, body })
      const ofCart = (yield* trail({ entityType: "cart", entityId: cart.text("data.id") })).list("data")
      assert.lengthOf(ofCart, 2)
      const text = JSON.stringify([entries, ofCart])
      const secrets = ["hunter2", own, rotated.text("data.secret"), cart.text("data.secret")]
      for (const secret of secrets) assert.notInclude(text, secret)
    }))

  it.effect("entries are neither changed nor removed, over HTTP or in the database", () =>
    Effect.gen(function*() {
      for (const path of [audit, `${audit}/order/${newId()}`]) {
        for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
          const answer = yield* api(method, path, { as: asAdmin, ...(method !== "DELETE" && { body: {} }) })
          refused(answer, 405, "METHOD_NOT_ALLOWED", `${method} ${path}`)
          assert.strictEqual(answer.headers.get("allow"), "GET, HEAD")
        }
      }
      yield* anEntity()
      yield* changeLogAtRest
      const before = yield* trail({ limit: "100" })
      const refusals = yield* onDatabase((sql) =>
        Effect.all([
          Effect.exit(sql`update outbox_events set entity_type = 'forged'`),
          Effect.exit(sql`delete from outbox_events`)
        ])
      )
      assert.deepStrictEqual(refusals.map(({ _tag }) => _tag), ["Failure", "Failure"])
      assert.deepStrictEqual((yield* trail({ limit: "100" })).body, before.body)
    }))

  it.effect("entries fail the operation if they cannot be written", () =>
    Effect.gen(function*() {
      const body = { type: "product", slug: newId() }
      const answer = yield* onDatabase((sql) =>
        sql`alter table outbox_events add constraint no_more_entries check (false) not valid`
      ).pipe(
        Effect.andThen(api("POST", entities, { as: asAdmin, body })),
        Effect.ensuring(
          onDatabase((sql) => sql`alter table outbox_events drop constraint if exists no_more_entries`)
        )
      )
      refused(answer, 500, "INTERNAL_ERROR")
      refused(yield* api("GET", `${entities}/${body.slug}`, { as: asAdmin }), 404, "NOT_FOUND")
      assert.strictEqual((yield* api("POST", entities, { as: asAdmin, body })).status, 201)
    }))
})

withSharedApp("GET /api/audit", (it) => {
  it.effect("the audit trail filters by kind, record, event, actor and time, each alone and together", () =>
    Effect.gen(function*() {
      const actor = aNewcomer()
      const entityId = yield* anEntity(actor)
      yield* api("POST", `${entities}/${entityId}/publish`, { as: actor })
      const promotion = { code: newId(), name: "x", type: "percentage_off_order", value: 5 }
      yield* api("POST", "/api/promotions", { as: actor, body: promotion })
      const actorId = actor.userId
      const all = ["promotions.create", "catalog.update", "catalog.create"]
      const [newest] = yield* doneBy(actor)
      const time = Date.parse(String(at(newest, "createdAt")))
      const moment = (shift: number) => new Date(time + shift).toISOString()
      const rows: ReadonlyArray<readonly [query: Readonly<Record<string, string>>, events: ReadonlyArray<unknown>]> = [
        [{}, all],
        [{ entityType: "catalog_entity" }, all.slice(1)],
        [{ entityId }, all.slice(1)],
        [{ event: "catalog.update" }, [all[1]]],
        [{ event: "catalog.create", entityType: "promotion" }, []],
        [{ event: "orders.create" }, []],
        // Short names of older clients.
        [{ event: "created" }, [all[0], all[2]]],
        [{ event: "updated" }, [all[1]]],
        [{ event: "created", entityType: "promotion" }, [all[0]]],
        [{ from: moment(-60_000), to: moment(60_000) }, all],
        [{ from: moment(60_000) }, []],
        [{ to: moment(-60_000) }, []],
        [{ from: moment(0), limit: "1" }, [all[0]]],
        [{ entityId: "not an id" }, []],
        [{ event: "no.such" }, []],
        [{ entityType: "?" }, []],
        [{ actorId: "'" }, []]
      ]
      for (const [query, events] of rows) {
        const answer = yield* trail({ actorId, ...query })
        assert.deepStrictEqual(eventsOf(answer.list("data")), events, JSON.stringify(query))
      }
      assert.lengthOf((yield* trail({ entityId })).list("data"), 2)
    }))

  it.effect("the audit trail accepts the short names for a change of status and of stock", () =>
    Effect.gen(function*() {
      const aliases = new Map([["orders.statusChange", "status_changed"], ["inventory.afterAdjust", "adjusted"]])
      for (const [event, alias] of aliases) {
        const cause = causes.find((one) => one.event === event)
        if (cause === undefined) return yield* Effect.die(event)
        const actor = aNewcomer()
        yield* bringAbout(cause, yield* cause.prepare(asAdmin), actor, `req-${newId()}`)
        const found = yield* trail({ actorId: actor.userId, event: alias })
        assert.deepStrictEqual(eventsOf(found.list("data")), [event])
      }
    }))

  it.effect("the audit trail returns fifty entries by default and at most a hundred, newest first", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      for (let n = 0; n < 5; n++) yield* anEntity(as)
      const pages: ReadonlyArray<readonly [query: string, page: number, limit: number, totalPages: number]> = [
        ["", 1, 50, 1],
        ["limit=2&page=3", 3, 2, 3],
        ["limit=101", 1, 100, 1],
        ["limit=0", 1, 50, 1],
        ["limit=-1", 1, 50, 1],
        ["limit=x&page=x", 1, 50, 1]
      ]
      for (const [query, page, limit, totalPages] of pages) {
        const answer = yield* api("GET", `${audit}?${query}`, { as })
        assert.deepStrictEqual(answer.at("meta.pagination"), { page, limit, total: 5, totalPages }, query)
      }
      const listed = (query: string) => Effect.map(api("GET", `${audit}?${query}`, { as }), ({ list }) => list("data"))
      const whole = yield* listed("")
      const parts = yield* Effect.forEach([1, 2, 3], (page) => listed(`limit=2&page=${page}`))
      assert.deepStrictEqual(parts.flat().map((one) => at(one, "id")), whole.map((one) => at(one, "id")))
      const times = whole.map((one) => String(at(one, "createdAt")))
      assert.deepStrictEqual(times, times.toSorted().toReversed())
      yield* changeLogAtRest
      const later = yield* api("GET", audit, { as })
      assert.deepStrictEqual(eventsOf(later.list("data")), eventsOf(whole), "positions change nothing")
      assert.deepStrictEqual([later.at("meta.pagination.total"), later.at("data.0.position")], [5, 5])
    }))

  it.effect("the audit trail is walked by cursors, also over entries of one moment", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const day = "2026-03-01"
      yield* written(as.organizationId, [day, day, day, day, day])
      const ids = (entries: ReadonlyArray<unknown>) => entries.map((one) => at(one, "id"))
      const whole = ids((yield* api("GET", audit, { as })).list("data"))
      const walked: Array<unknown> = []
      for (let cursor = ""; walked.length < 5;) {
        const part = yield* api("GET", `${audit}?limit=2${cursor}`, { as })
        walked.push(...ids(part.list("data")))
        cursor = `&cursor=${String(part.at("meta.pagination.nextCursor"))}`
      }
      assert.deepStrictEqual(walked, whole)
    }))

  it.effect("the audit trail reads days and times as UTC, and refuses anything else", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      yield* written(as.organizationId, ["2026-01-01", "2026-01-02", "2026-01-03"])
      const rows: ReadonlyArray<readonly [query: string, days: ReadonlyArray<number>]> = [
        ["", [3, 2, 1]],
        ["from=2026-01-02", [3, 2]],
        ["to=2026-01-02T00:00:00Z", [1]],
        ["to=2026-01-02", [2, 1]],
        ["from=2026-01-02T00:00:00.001&to=2026-01-03", [3]],
        ["from=2026-01-02&to=2026-01-02", [2]],
        ["from=2026-01-01T01:00:00%2B01:00&to=2026-01-01", [1]],
        ["limit=1&page=2", [2]]
      ]
      for (const [query, days] of rows) {
        const found = (yield* api("GET", `${audit}?${query}`, { as })).list("data")
        assert.deepStrictEqual(found.map((one) => at(one, "entityId")), days.map((day) => `2026-01-0${day}`), query)
      }
      const path = `${audit}/order/2026-01-02`
      assert.lengthOf((yield* api("GET", `${path}?from=2026-01-01&limit=5&page=1`, { as })).list("data"), 1)
      assert.lengthOf((yield* api("GET", `${path}?to=2026-01-01`, { as })).list("data"), 0)
      for (
        const query of [
          "from=zzz",
          "to=2026-13-01",
          "from=1",
          "to=tomorrow",
          "to=2026-01-01&from=2026-01-02",
          "from=",
          "from=%00"
        ]
      ) {
        for (const route of [audit, path]) {
          const answer = yield* api("GET", `${route}?${query}`, { as })
          refused(answer, 422, "VALIDATION_FAILED", `${route}?${query}`)
          assert.strictEqual(answer.at("error.details.issues.0.path"), query.split("=")[0])
        }
      }
    }))

  it.effect("the audit trail returns the history of one record, and nothing for an unknown record or kind", () =>
    Effect.gen(function*() {
      const id = yield* anEntity()
      for (const verb of ["publish", "archive"]) yield* api("POST", `${entities}/${id}/${verb}`, { as: asAdmin })
      // The relay assigns positions meanwhile, and entries show them.
      yield* changeLogAtRest
      const whole = yield* historyOf("catalog_entity", id)
      const statuses = whole.list("data").map((one) => at(one, "payload.status"))
      assert.deepStrictEqual(statuses, ["archived", "active", "draft"])
      assert.deepStrictEqual(whole.at("meta.pagination"), { page: 1, limit: 50, total: 3, totalPages: 1 })
      const short = yield* historyOf("catalog_entity", id, asAdmin, "?limit=1")
      assert.deepStrictEqual(short.at("data"), whole.list("data").slice(0, 1))
      for (const [kind, other] of [["order", newId()], ["order", id], ["catalog_entity", "x"]] as const) {
        const answer = yield* historyOf(kind, other)
        assert.deepStrictEqual([answer.status, answer.at("data")], [200, []])
      }
    }))

  it.effect("the audit trail needs audit:read", () =>
    Effect.gen(function*() {
      for (const path of [audit, `${audit}/order/${newId()}`]) {
        for (const as of [asStaff, asCustomer("c"), holding("webhooks:manage", "jobs:admin", "orders:read")]) {
          refused(yield* api("GET", path, { as }), 403, "FORBIDDEN")
        }
        refused(yield* api("GET", path), 401, "UNAUTHORIZED")
        assert.strictEqual((yield* api("GET", path, { as: holding("audit:read") })).status, 200)
      }
    }))

  it.effect("the audit trail shows no entry of another tenant", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const [ours, theirs] = [yield* anEntity(), yield* anEntity(elsewhere)]
      assert.deepStrictEqual((yield* historyOf("catalog_entity", ours, elsewhere)).at("data"), [])
      assert.deepStrictEqual((yield* historyOf("catalog_entity", theirs)).at("data"), [])
      const whole = yield* trail({ limit: "100" }, inOrganization("org_other", holding("audit:read")))
      assert.deepStrictEqual([...new Set(whole.list("data").map((one) => at(one, "organizationId")))], ["org_other"])
      assert.notInclude(JSON.stringify(whole.body), ours)
    }))
})
