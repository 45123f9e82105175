import { assert, layer } from "@effect/vitest"
import { Context, Effect } from "effect"
import { HttpApi } from "effect/http-api"
import { Api } from "../../src/http/Api.ts"
import { endpoints } from "../../src/http/docs/Docs.ts"
import { IdempotentChange } from "../../src/http/middleware/Idempotency.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { type Answer, api, type asAdmin, asAnonymous, inOrganization, live, testAppLayer } from "../support/TestApp.ts"
import { askerOf, asks, filled, namesIn, type Probe, refusedAnyway, writes } from "../tenancy/Probes.ts"
import { anAddress, aStore, type Store } from "../tenancy/Stores.ts"
import type { Entry } from "./ChangeLog.ts"

const entity = "/api/catalog/entities/{entity}"

/** Requests that the other tests do not send, and those that need another one first. */
const further: ReadonlyArray<Probe> = [
  { method: "POST", path: "/api/catalog/entities", body: { type: "product", slug: "another" } },
  { method: "POST", path: "/api/catalog/brands", body: { slug: "another", displayName: "Another" } },
  {
    method: "POST",
    path: "/api/admin/entity-field-definitions",
    body: { entityType: "another", name: "another", kind: "text" }
  },
  {
    method: "POST",
    path: "/api/promotions",
    body: { code: "ANOTHER", name: "A", type: "percentage_off_order", value: 1 }
  },
  {
    method: "POST",
    path: "/api/promotions/validate",
    body: { code: "SAVE", currency: "USD", subtotal: 100, lineItems: [] }
  },
  { method: "POST", path: "/api/inventory/warehouses", body: { name: "Another", code: "ANOTHER" } },
  { method: "POST", path: "/api/shipping/zones", body: { name: "Another", countries: ["*"] } },
  { method: "POST", path: "/api/customers", body: { firstName: "Ann" } },
  { method: "POST", path: "/api/me/addresses", body: anAddress, own: true },
  { method: "POST", path: "/api/customers/groups", body: { name: "Another" } },
  { method: "POST", path: "/api/tax/classes", body: { name: "another", rateBps: 100 } },
  { method: "POST", path: "/api/tax/rates", body: { name: "Another", country: "FR", rateBps: 100 } },
  { method: "POST", path: "/api/webhooks", body: { url: "https://shop.example/hook", events: ["*"] } },
  { method: "POST", path: "/api/admin/api-keys", body: { name: "Another", role: "staff" } },
  { method: "POST", path: "/api/imports?format=jsonl&dryRun=true", body: { slug: "sent", type: "product" } },
  { method: "POST", path: "/api/jobs/run?queue=empty", body: undefined },
  { method: "POST", path: "/api/analytics/query", body: { measures: ["Orders.count"] } },
  { method: "DELETE", path: `${entity}/categories/{category}`, body: undefined },
  { method: "DELETE", path: `${entity}/brands/{brand}`, body: undefined }
]

/** The changes that each route records; a function where they depend on the response. */
const recorded: Readonly<Record<string, ReadonlyArray<string> | ((answer: Answer) => ReadonlyArray<string>)>> = {
  "POST /api/catalog/entities": ["catalog.create"],
  "PATCH /api/catalog/entities/:id": ["catalog.update"],
  "DELETE /api/catalog/entities/:id": ["catalog.delete"],
  "PUT /api/catalog/entities/:id/attributes/:locale": ["catalog.update"],
  "POST /api/catalog/entities/:id/attributes/:locale/approve": ["catalog.update"],
  "POST /api/catalog/entities/:id/attributes/:locale/reject": ["catalog.rejectAttributes"],
  // The entity's own fields, and its words.
  "POST /api/catalog/entities/:id/revisions/:number/restore": ["catalog.update", "catalog.update"],
  "PUT /api/catalog/entities/:id/schedule": ["catalog.schedule"],
  "DELETE /api/catalog/entities/:id/schedule": ["catalog.schedule"],
  "POST /api/admin/entity-field-definitions": ["entityFields.create"],
  "PATCH /api/admin/entity-field-definitions/:id": ["entityFields.update"],
  "POST /api/admin/entity-field-definitions/:id/archive": ["entityFields.archive"],
  "POST /api/admin/entity-field-definitions/:id/restore": ["entityFields.restore"],
  "POST /api/catalog/categories/:categoryId/move": ["categories.update"],
  "POST /api/catalog/entities/:id/publish": ["catalog.update"],
  "POST /api/catalog/entities/:id/archive": ["catalog.update"],
  "POST /api/catalog/entities/:id/discontinue": ["catalog.update"],
  "POST /api/catalog/entities/:id/options": ["options.create"],
  "POST /api/catalog/options/:optionTypeId/values": ["options.createValue"],
  "POST /api/catalog/entities/:id/variants": ["variants.create"],
  "POST /api/catalog/entities/:id/variants/generate": (answer) => answer.list("data").map(() => "variants.create"),
  "POST /api/catalog/categories": ["categories.create"],
  "PATCH /api/catalog/categories/:categoryId": ["categories.update"],
  "POST /api/catalog/categories/:categoryId/archive": ["categories.archive"],
  "POST /api/catalog/categories/:categoryId/restore": ["categories.restore"],
  // The category below it becomes a root.
  "DELETE /api/catalog/categories/:categoryId": ["categories.delete", "categories.update"],
  "POST /api/catalog/brands": ["brands.create"],
  "PATCH /api/catalog/brands/:brandId": ["brands.update"],
  "DELETE /api/catalog/brands/:brandId": ["brands.delete"],
  "POST /api/catalog/entities/:id/categories/:categoryId": ["categories.link"],
  "DELETE /api/catalog/entities/:id/categories/:categoryId": ["categories.unlink"],
  "POST /api/catalog/entities/:id/brands/:brandId": ["brands.link"],
  "DELETE /api/catalog/entities/:id/brands/:brandId": ["brands.unlink"],
  // Sent in UploadHttp.test.ts, with a file.
  "POST /api/media/upload": [],
  "PATCH /api/media/:id": ["media.update"],
  "DELETE /api/media/:id": ["media.delete"],
  "POST /api/media/attach": ["media.attach"],
  "POST /api/media/detach": ["media.detach"],
  "POST /api/pricing/prices": (answer) => [answer.at("data.variantId") === null ? "pricing.create" : "pricing.update"],
  "POST /api/pricing/modifiers": ["pricing.create"],
  "PATCH /api/pricing/modifiers/:id": ["pricing.update"],
  "DELETE /api/pricing/modifiers/:id": ["pricing.update"],
  "POST /api/promotions": ["promotions.create"],
  "PATCH /api/promotions/:id": ["promotions.update"],
  "POST /api/promotions/:id/deactivate": ["promotions.update"],
  "POST /api/promotions/validate": [],
  "POST /api/analytics/query": [],
  "POST /api/shipping/zones": ["shippingZones.create"],
  "PATCH /api/shipping/zones/:id": ["shippingZones.update"],
  "DELETE /api/shipping/zones/:id": ["shippingZones.delete"],
  "POST /api/shipping/rates": ["shippingRates.create"],
  "PATCH /api/shipping/rates/:id": ["shippingRates.update"],
  "DELETE /api/shipping/rates/:id": ["shippingRates.delete"],
  "POST /api/shipping/quotes": [],
  "POST /api/inventory/adjust": ["inventory.afterAdjust"],
  "POST /api/inventory/reserve": ["inventory.reserve"],
  "POST /api/inventory/release": ["inventory.release"],
  "POST /api/inventory/warehouses": ["warehouses.create"],
  "POST /api/carts": ["cart.create"],
  "PATCH /api/carts/:id": ["cart.update"],
  "POST /api/carts/:id/quote": [],
  "POST /api/carts/:id/payment-session": [],
  "POST /api/carts/:id/secret": [],
  "POST /api/carts/:id/items": ["cart.afterAddItem"],
  "PATCH /api/carts/:id/items/:itemId": ["cart.updateQuantity"],
  "DELETE /api/carts/:id/items/:itemId": ["cart.removeItem"],
  "POST /api/checkout": ["orders.create", "payments.capture"],
  // It stores nothing.
  "POST /api/orders/quote": [],
  "POST /api/orders": ["orders.create"],
  "POST /api/orders/:id/line-items": ["orders.update"],
  "PATCH /api/orders/:id/line-items/:lineId": ["orders.update"],
  "DELETE /api/orders/:id/line-items/:lineId": ["orders.update"],
  "POST /api/orders/:id/notes": ["orders.addNote"],
  "DELETE /api/orders/:id/notes/:noteId": ["orders.removeNote"],
  "PATCH /api/orders/:id/status": (answer) =>
    answer.at("data.status") === "cancelled"
      ? ["orders.cancel", "orders.statusChange", "refunds.create"]
      : ["orders.statusChange"],
  // From confirmed to processing to partially fulfilled.
  "POST /api/orders/:id/fulfillments": ["fulfillment.create", "orders.statusChange", "orders.statusChange"],
  "PATCH /api/orders/:id/fulfillments/:fulfillmentId": ["fulfillment.update"],
  "POST /api/orders/:id/refund": ["refunds.create"],
  "POST /api/orders/:id/refunds": ["refunds.create"],
  "POST /api/orders/:id/refunds/:rid/undo": ["refunds.undo"],
  "POST /api/orders/:id/returns": ["returns.create"],
  "POST /api/orders/:id/returns/:rid/approve": ["returns.update"],
  "POST /api/orders/:id/returns/:rid/reject": ["returns.update"],
  "POST /api/orders/:id/returns/:rid/cancel": ["returns.update"],
  "POST /api/orders/:id/returns/:rid/receive": ["returns.update"],
  "POST /api/orders/:id/returns/:rid/refund": ["refunds.create", "returns.update"],
  // It costs less than the goods that came back, so that the rest is refunded.
  "POST /api/orders/:id/returns/:rid/exchange": [
    "orders.create",
    "orders.statusChange",
    "payments.capture",
    "refunds.create",
    "refunds.create",
    "returns.update"
  ],
  "POST /api/me/orders/:idOrNumber/returns": ["returns.create"],
  "POST /api/me/orders/:idOrNumber/returns/:rid/cancel": ["returns.update"],
  "POST /api/orders/:id/capture": ["orders.statusChange", "payments.capture"],
  "POST /api/orders/:id/payments": ["payments.authorize"],
  "POST /api/orders/:id/cancel": ["orders.cancel", "orders.statusChange", "refunds.create"],
  "POST /api/admin/compensation-failures/:id/retry": ["refunds.retry"],
  "POST /api/admin/compensation-failures/:id/resolve": ["compensations.resolve"],
  "POST /api/orders/:id/messages/:mid/resend": [],
  // The first request issues the invoice.
  "POST /api/orders/:id/invoice/email": ["invoices.create"],
  "POST /api/customers": ["customers.create"],
  "PATCH /api/customers/:id": ["customers.update"],
  "PATCH /api/me/profile": ["customers.update"],
  "POST /api/customers/:id/interactions": ["customers.addInteraction"],
  "PATCH /api/customers/:id/interactions/:interactionId": ["customers.changeInteraction"],
  "DELETE /api/customers/:id/interactions/:interactionId": ["customers.removeInteraction"],
  "POST /api/customers/groups": ["customerGroups.create"],
  "PATCH /api/customers/groups/:groupId": ["customerGroups.update"],
  "DELETE /api/customers/groups/:groupId": ["customerGroups.delete"],
  "POST /api/customers/groups/:groupId/members/:customerId": ["customers.update"],
  "DELETE /api/customers/groups/:groupId/members/:customerId": ["customers.update"],
  "POST /api/tax/classes": ["taxClasses.create"],
  "PATCH /api/tax/classes/:id": ["taxClasses.update"],
  "DELETE /api/tax/classes/:id": ["taxClasses.delete"],
  "POST /api/tax/rates": ["taxRates.create"],
  "PATCH /api/tax/rates/:id": ["taxRates.update"],
  "DELETE /api/tax/rates/:id": ["taxRates.delete"],
  // The previous default is no default any more.
  "POST /api/me/addresses": ["customers.addAddress", "customers.changeAddress"],
  "POST /api/me/orders/:orderId/reorder": (answer) => [
    "cart.create",
    ...Array.from({ length: answer.number("data.itemsAdded") }, () => "cart.afterAddItem")
  ],
  "DELETE /api/me/addresses/:id": ["customers.removeAddress"],
  // The changes of its records belong to the job.
  "POST /api/imports": ["imports.create"],
  "POST /api/imports/:id/cancel": ["imports.cancel"],
  "POST /api/webhooks": ["webhooks.create"],
  "PATCH /api/webhooks/:id": ["webhooks.update"],
  "POST /api/webhooks/:id/rotate-secret": ["webhooks.rotateSecret"],
  // They send something and change nothing; the log of deliveries has it.
  "POST /api/webhooks/:id/test": [],
  "POST /api/webhooks/deliveries/:id/redeliver": [],
  "DELETE /api/webhooks/:id": ["webhooks.delete"],
  "POST /api/admin/jobs/:id/retry": ["jobs.retry"],
  "POST /api/admin/api-keys": ["apiKeys.create"],
  "DELETE /api/admin/api-keys/:id": ["apiKeys.delete"],
  // Both need a user who exists: Staff.test.ts.
  "POST /api/admin/staff": [],
  "POST /api/admin/staff/invitations": [],
  "PATCH /api/admin/staff/:id": ["staff.update"],
  "DELETE /api/admin/staff/:id": ["staff.delete"],
  // The changes of its jobs belong to the jobs.
  "POST /api/jobs/run": [],
  // Sent in ErasureHttp tests: its entries lose their origin.
  "DELETE /api/me": ["customers.update", "customers.delete"],
  // Sent in Webhook tests, because its body is signed; here it is only refused.
  "POST /api/payments/webhook": [],
  // Sent in Declining tests, because its link is signed; here it is only refused.
  "POST /api/mail/unsubscribe": []
}

/** Routes that set something, so that the same request changes nothing the second time. */
const setting = [
  "PATCH /api/catalog/entities/:id",
  "PUT /api/catalog/entities/:id/attributes/:locale",
  "PUT /api/catalog/entities/:id/schedule",
  "DELETE /api/catalog/entities/:id/schedule",
  "POST /api/catalog/entities/:id/revisions/:number/restore",
  "PATCH /api/admin/entity-field-definitions/:id",
  "POST /api/admin/entity-field-definitions/:id/archive",
  "POST /api/admin/entity-field-definitions/:id/restore",
  "POST /api/catalog/categories/:categoryId/move",
  "POST /api/catalog/entities/:id/archive",
  "POST /api/catalog/entities/:id/discontinue",
  "PATCH /api/catalog/categories/:categoryId",
  "POST /api/catalog/categories/:categoryId/archive",
  "POST /api/catalog/categories/:categoryId/restore",
  "PATCH /api/catalog/brands/:brandId",
  "POST /api/pricing/prices",
  "PATCH /api/pricing/modifiers/:id",
  "PATCH /api/media/:id",
  "PATCH /api/promotions/:id",
  "POST /api/promotions/:id/deactivate",
  "PATCH /api/carts/:id/items/:itemId",
  "PATCH /api/orders/:id/fulfillments/:fulfillmentId",
  "PATCH /api/tax/classes/:id",
  "PATCH /api/tax/rates/:id",
  "PATCH /api/shipping/zones/:id",
  "PATCH /api/shipping/rates/:id",
  "PATCH /api/webhooks/:id"
]

/** Those under `/api/auth` are in `test/auth/AuthChangeLogHttp.test.ts`. */
const unsafe = () => endpoints().filter(({ method, path }) => method !== "GET" && !path.startsWith("/api/auth/"))

/** Routes whose changes write an idempotency record. */
const idempotent = () => {
  const found = new Set<string>()
  HttpApi.reflect(Api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint: { annotations, method, path } }) => {
      if (Context.getOrUndefined(annotations, IdempotentChange) === true) found.add(`${method} ${path}`)
    }
  })
  return found
}

/** Number of idempotency records. */
const records = Effect.map(
  onDatabase((sql) => sql<{ n: number }>`select count(*)::int4 as n from idempotency_records`),
  ([row]) => row?.n ?? 0
)

const unrefused = new Set(["POST /api/promotions/validate", "POST /api/jobs/run", "POST /api/analytics/query"])

const routeOf = (probe: Probe): string => {
  const found = unsafe().find((route) => asks(probe, route))
  return found === undefined ? `${probe.method} ${probe.path}` : `${found.method} ${found.path}`
}

/** The changes that a route records with this response. */
const expectedOf = (route: string, answer: Answer): ReadonlyArray<string> => {
  const expected = recorded[route] ?? ["an expectation in this test"]
  return [...(typeof expected === "function" ? expected(answer) : expected)].sort()
}

let requests = 0

/** Sends a request with a new id; returns its response and its entries in the change log. */
const ask = Effect.fnUntraced(function*(probe: Probe, store: Store, as: Partial<typeof asAdmin>, headers = {}) {
  const { body, method, path } = filled(probe, store)
  const requestId = `change-${requests++}`
  const answer = yield* api(method, path, {
    ...(body === undefined ? {} : { body }),
    ...(Object.keys(as).length === 0 ? {} : { as }),
    headers: { "x-request-id": requestId, "user-agent": "a test", ...headers }
  })
  const entries = yield* onDatabase((sql) =>
    sql<Entry>`select * from outbox_events where request_id = ${requestId} order by entry_number`
  )
  return { answer, entries }
})

/** The kinds of changes that have nothing before them. */
const isBeginning = (type: string): boolean =>
  /\.(create|createValue|link|attach|upload|addAddress|addInteraction|addNote)$/.test(type)

const flawsOf = (entry: Entry, actorId: string | null, actorType: string): ReadonlyArray<string> => [
  ...(entry.actor_id === actorId && entry.actor_type === actorType ? [] : ["the wrong actor"]),
  ...(entry.source === "rest" && entry.ip === "127.0.0.1" && entry.user_agent === "a test" ? [] : ["the wrong origin"]),
  // Secrets are in no entry, so that a new one is no difference there.
  ...(entry.before !== null && isSame(entry.before, entry.payload) && !isRemoval(entry.type) &&
      entry.type !== "webhooks.rotateSecret"
    ? ["nothing changed"]
    : []),
  // A line that is new to its cart has nothing before it either.
  ...(isBeginning(entry.type) === (entry.before === null) || entry.type === "cart.afterAddItem"
    ? []
    : [entry.before === null ? "nothing before it" : "something before it"]),
  ...(/^\w+\.(create|update|delete)$/.test(entry.type) && (entry.payload["id"] ?? entry.entity_id) !== entry.entity_id
    ? ["another record"]
    : []),
  ...(/secret[^"]*":(?!null)/i.test(JSON.stringify([entry.payload, entry.before])) ? ["a secret"] : [])
]

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

const isRemoval = (type: string) =>
  /\.(delete|removeItem|unlink|detach|removeAddress|removeInteraction|removeNote)$/.test(type)

layer(testAppLayer({ email: { send: async () => {} } }), live)("the change log", (it) => {
  it.effect(
    "the change log has exactly one entry for every record that a request changed, with its actor, request and idempotency record",
    () =>
      Effect.gen(function*() {
        const store = yield* aStore("org_recorded")
        const asked = new Set<string>()
        const wrong: Array<string> = []
        const recording = idempotent()
        const doomed = (yield* api("POST", "/api/catalog/entities", {
          as: store.as,
          body: { type: "product", slug: "doomed" }
        })).text("data.id")
        const removal = { method: "DELETE", path: `/api/catalog/entities/${doomed}`, body: undefined }
        for (const probe of [...further, ...writes, removal]) {
          const asker = askerOf(probe, store)
          const before = yield* records
          const { answer, entries } = yield* ask(probe, store, asker, { "idempotency-key": crypto.randomUUID() })
          const route = routeOf(probe)
          asked.add(route)
          const left = (yield* records) - before
          if (recording.has(route) && entries.length > 0 && left !== 1) {
            wrong.push(`${route}: ${left} idempotency records`)
          }
          assert.isBelow(answer.status, 300, `${route} ${JSON.stringify(answer.body)}`)
          const types = entries.map(({ type }) => type).sort()
          const expected = expectedOf(route, answer)
          if (!isSame(types, expected)) {
            wrong.push(`${route}: [${types.join(", ")}] instead of [${expected.join(", ")}]`)
          }
          for (const entry of entries) {
            wrong.push(...flawsOf(entry, asker.userId ?? null, "user").map((flaw) => `${route} ${entry.type}: ${flaw}`))
          }
        }
        assert.deepStrictEqual(wrong, [])
        for (
          const elsewhere of [
            "media/upload",
            "payments/webhook",
            "mail/unsubscribe",
            "admin/staff",
            "admin/staff/invitations",
            // A buyer claims a cart of a guest, with its secret: `test/carts/CartClaims.test.ts`.
            "carts/:id/claim"
          ]
        ) asked.add(`POST /api/${elsewhere}`)
        asked.add("DELETE /api/me")
        assert.sameMembers([...asked], unsafe().map(({ method, path }) => `${method} ${path}`))
      })
  )

  it.effect("a request that sets the current values has no entry, and its response is the unchanged record", () =>
    Effect.gen(function*() {
      const store = yield* aStore("org_same")
      const probes = [...writes].filter((probe) => setting.includes(routeOf(probe)))
      assert.sameMembers([...new Set(probes.map(routeOf))], setting)
      const wrong: Array<string> = []
      for (const probe of probes) {
        const { answer: first } = yield* ask(probe, store, store.as)
        const { answer, entries } = yield* ask(probe, store, store.as)
        const route = routeOf(probe)
        if (answer.status !== first.status) wrong.push(`${route}: ${first.status} and then ${answer.status}`)
        // The time of a cart moves with its expiry.
        if (!isSame(first.at("data"), answer.at("data"))) wrong.push(`${route}: another record`)
        wrong.push(...entries.map(({ type }) => `${route}: ${type}`))
      }
      assert.deepStrictEqual(wrong, [])
    }))

  it.effect("an entry names an API key as the actor of its request", () =>
    Effect.gen(function*() {
      const store = yield* aStore("org_key")
      const probe: Probe = { method: "POST", path: "/api/catalog/brands", body: { slug: "by-key", displayName: "K" } }
      const { entries } = yield* ask(probe, store, {}, { "x-api-key": "dev-admin-key" })
      assert.deepStrictEqual(entries.map((entry) => [entry.type, ...flawsOf(entry, "development", "api_key")]), [[
        "brands.create"
      ]])
    }))

  it.effect("a refused request has no entry", () =>
    Effect.gen(function*() {
      const store = yield* aStore("org_refused")
      const nowhere: Store = {
        ...store,
        ...Object.fromEntries(
          Object.keys(store).filter((key) => key !== "as" && key !== "buyer").map((key) => [key, crypto.randomUUID()])
        )
      }
      const webhook: Probe = {
        method: "POST",
        path: "/api/payments/webhook",
        body: { type: "payment_intent.succeeded" }
      }
      const recorded: Array<string> = []
      for (const probe of [...further, ...writes, refusedAnyway, webhook]) {
        const route = routeOf(probe)
        // Open to everybody, or to every customer for their records.
        if (unrefused.has(route)) continue
        // For the caller's records: no caller is refused, and another caller's record is unknown.
        if (probe.own === true && namesIn(probe, store).length === 0) continue
        const forbidden = probe.own === true
          ? yield* ask(probe, nowhere, store.buyer)
          : yield* ask(probe, store, inOrganization("org_refused", asAnonymous))
        assert.isAtLeast(forbidden.answer.status, 400, route)
        const unknown = filled(probe, nowhere).path === filled(probe, store).path && probe.path !== "/api/checkout"
          ? forbidden
          : yield* ask(probe, nowhere, askerOf(probe, store))
        assert.isAtLeast(unknown.answer.status, 400, route)
        recorded.push(...[...forbidden.entries, ...unknown.entries].map(({ type }) => `${route}: ${type}`))
      }
      assert.deepStrictEqual(recorded, [])
    }))
})
