import { inject } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import {
  buildersOf,
  createPluginTestApp,
  type PluginTestOptions,
  type TestActor,
  testCustomerActor,
  withPermissions
} from "stoa/plugin/testing"
import { callsOf } from "../../../../test/support/PluginCalls.ts"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { reviewsPlugin } from "../index.ts"

/** A CSV file of rows by the names of their columns. */
export const csvOf = (rows: ReadonlyArray<Readonly<Record<string, string>>>) => {
  const names = [...new Set(rows.flatMap(Object.keys))]
  const cell = (text = "") => text === "" ? "" : `"${text.replaceAll("\"", "\"\"")}"`
  return [names.join(","), ...rows.map((row) => names.map((name) => cell(row[name])).join(","))].join("\n")
}

/** A store whose customers buy and review. */
export const openShop = async (config: PluginTestOptions = {}) => {
  const mails: Array<{ readonly to: string; readonly data: object }> = []
  const app = await createPluginTestApp(reviewsPlugin({ reviewPage: "https://shop.example/review" }), {
    postgres: inject("postgres"),
    rateLimits: { strict: 1_000_000, api: 1_000_000, checkout: 1_000_000 },
    email: {
      send: async ({ data, template, to }) => void (template === "reviews/request" && mails.push({ to, data }))
    },
    ...config
  })
  const { order: guestBuys, product } = buildersOf(app)

  const calls = callsOf(app, "")
  const { done } = calls

  const customer = (): TestActor => {
    const userId = randomUUID()
    const more = [
      "cart:update",
      "orders:create",
      "customers:read:self",
      "customers:update:self",
      "reviews:read",
      "reviews:write"
    ]
    const permissions = [...testCustomerActor.permissions, ...more]
    return { ...withPermissions(permissions, testCustomerActor), userId, email: `${userId}@example.com` }
  }
  const profileOf = async (as: TestActor) => (await done("GET", "/me/profile", undefined, as)).text("data.id")
  /** An order that a customer has paid; with `status` all of it is handed over. */
  const order = async (as: TestActor, entityId: string, status?: "delivered" | "shipped") => {
    const cartId = (await done("POST", "/carts", { currency: "USD" }, as)).text("data.id")
    await done("POST", `/carts/${cartId}/items`, { entityId, quantity: 1 }, as)
    const bought = await done("POST", "/checkout", { cartId, paymentMethodId: "test", currency: "USD" }, as)
    const id = bought.text("data.id")
    if (status === undefined) return { id, parcel: "" }
    await done("PATCH", `/orders/${id}/status`, { status: "confirmed" })
    const lineItems = [{ orderLineItemId: bought.text("data.lineItems.0.id"), quantity: 1 }]
    const parcel = (await done("POST", `/orders/${id}/fulfillments`, { lineItems, status })).text("data.id")
    return { id, parcel }
  }
  /** A guest's order, delivered; its id. */
  const guestOrder = async (email: string, ...entityIds: ReadonlyArray<string>) => {
    const { id, lineItems } = Object(await guestBuys(entityIds.map((entityId) => [entityId, 1])))
    await app.db.query("update orders set email = $2 where id = $1", [id, email])
    await done("PATCH", `/orders/${id}/status`, { status: "confirmed" })
    const lines = lineItems.map((line: { readonly id: string }) => ({ orderLineItemId: line.id, quantity: 1 }))
    await done("POST", `/orders/${id}/fulfillments`, { lineItems: lines, status: "delivered" })
    return String(id)
  }
  /** The token of the link in the mail about an order, as if that was sent just now. */
  const link = async (orderId: string) => {
    const [row] = await app.db.query(
      `insert into customer_review_requests (organization_id, order_id, sent_at) values ('org_default', $1, $2)
        on conflict (organization_id, order_id) do update set sent_at = excluded.sent_at returning id`,
      [orderId, new Date(app.clock.now())]
    )
    return `${row?.["id"]}.${app.context.digests(`link ${row?.["id"]}`)[0]}`
  }
  /** A private image that a customer uploaded. */
  const photo = async (as: TestActor, contentType = "image/jpeg", isPublic = false) => {
    const id = randomUUID()
    await app.db.query(
      `insert into media_assets (id, organization_id, storage_key, filename, content_type, size, digest, is_public,
         uploaded_by, expires_at)
       select $1, id, $2, 'a', $3, 1, 'd', $4, $5, now() + interval '1 day' from organizations limit 1`,
      [id, `2026/${id}.jpg`, contentType, isPublic, as.userId]
    )
    return id
  }
  const write = async (as: TestActor, entityId: string, rating = 5, more = {}) =>
    (await done("POST", "/reviews", { entityId, rating, ...more }, as)).text("data.id")
  /** Average and count of an entity, as everybody sees them. */
  const summary = async (entityId: string) => {
    const got = await done("GET", `/reviews/entity/${entityId}/summary`, undefined, null)
    return [got.at("data.averageRating"), got.at("data.totalCount")]
  }
  /** Whether a visitor is led to the file of a medium. */
  const isShown = async (mediaId: string) =>
    (await fetch(`${app.app.url}/api/media/${mediaId}`, { redirect: "manual" })).status === 302
  /** Waits until a statement of this work with this text waits for a lock; false when the work is done before. */
  const waits = (part: string, work: Promise<unknown>) =>
    Effect.promise(() => {
      let isDone = false
      const end = () => {
        isDone = true
      }
      work.then(end, end)
      const locks = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%' || $1 || '%'"
      const look = async () => isDone || (await app.db.query(locks, [part])).length > 0
      return waitFor(`${part} to wait`, look).then(() => !isDone)
    })
  const slugOf = async (entityId: string) =>
    String((await app.db.query("select slug from catalog_entities where id = $1", [entityId]))[0]?.["slug"])
  /** Imports a file. */
  const send = (file: string, query = "") =>
    calls.ask("POST", `/reviews/import${query}`, file, undefined, { "content-type": "text/csv" })
  return {
    ...calls,
    app,
    waits,
    slugOf,
    send,
    mails,
    product,
    customer,
    profileOf,
    order,
    guestOrder,
    link,
    photo,
    write,
    summary,
    isShown,
    close: app.close
  }
}

export type Shop = Awaited<ReturnType<typeof openShop>>
