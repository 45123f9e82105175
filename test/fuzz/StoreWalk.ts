import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { developmentKeyring, encryptSecret } from "../../src/domain/webhooks/SecretEncryption.ts"
import { signTestEvent } from "../../src/layers/payments/TestProvider.ts"
import { signIn } from "../access/People.ts"
import { api } from "../support/TestApp.ts"
import { askerOf, files, filled, nameless, type Probe, reads, writes } from "../tenancy/Probes.ts"
import { aStore, type Store } from "../tenancy/Stores.ts"

/** The organization of a store. */
export const organizationOf = ({ as }: Pick<Store, "as">): string => as.organizationId ?? ""

const ask = (probe: Probe, store: Store) => {
  const { body, method, path } = filled(probe, store)
  return api(method, path, { as: askerOf(probe, store), ...body === undefined ? {} : { body } })
}

/** Opens a store and reads everything of it, so that its records are known. */
export const openStore = Effect.fnUntraced(function*(organization: string, buyer?: string) {
  const store = yield* aStore(organization, buyer)
  for (const probe of [...reads, ...files]) yield* ask(probe, store)
  for (const route of nameless) {
    const [method = "", path = ""] = route.split(" ")
    if (method === "GET") yield* api(method, path, { as: path.startsWith("/api/me") ? store.buyer : store.as })
  }
  return store
})

/** Changes every record of a store, in an order in which that can be done. */
export const changeStore = (store: Store) => Effect.forEach(writes, (probe) => ask(probe, store), { discard: true })

/** A small PDF, since a body of these tests is text, as the form that a browser sends. */
const aForm = [
  "--edge",
  "content-disposition: form-data; name=\"file\"; filename=\"paper.pdf\"",
  "content-type: application/pdf",
  "",
  "%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n",
  "--edge--",
  ""
].join("\r\n")

/** A file: sent, looked at, shown by an entity and taken away again. */
export const mediaWalk = Effect.fnUntraced(function*({ as, entity: entityId }: Store) {
  const made = yield* api("POST", "/api/media/upload", {
    as,
    body: aForm,
    headers: { "content-type": "multipart/form-data; boundary=edge" }
  })
  const mediaAssetId = made.text("data.id")
  yield* api("PATCH", `/api/media/${mediaAssetId}`, { as, body: { alt: "A paper" } })
  yield* api("POST", "/api/media/attach", { as, body: { entityId, mediaAssetId, role: "document" } })
  const { pathname, search } = new URL(made.text("data.url"), "http://localhost")
  const file = (headers: Readonly<Record<string, string>> = {}) => api("GET", `${pathname}${search}`, { as, headers })
  const whole = yield* file()
  yield* file({ range: "bytes=0-3" })
  yield* file({ range: "bytes=999999-" })
  yield* file({ "if-none-match": whole.headers.get("etag") ?? "" })
  yield* api("GET", `/api/media/${mediaAssetId}`, { as })
  yield* api("POST", "/api/media/detach", { as, body: { entityId, mediaAssetId } })
})

/** A bought file, from its purchase to its link. */
export const downloadWalk = Effect.fnUntraced(function*({ as, buyer }: Store) {
  const body = {
    type: "digitalDownload",
    slug: "download",
    status: "active",
    metadata: { downloadUrl: "https://files.invalid/a.pdf" }
  }
  const entityId = (yield* api("POST", "/api/catalog/entities", { as, body })).text("data.id")
  yield* api("POST", "/api/pricing/prices", { as, body: { entityId, currency: "USD", amount: 500 } })
  const cartId = (yield* api("POST", "/api/carts", { as: buyer, body: { currency: "USD" } })).text("data.id")
  yield* api("POST", `/api/carts/${cartId}/items`, { as: buyer, body: { entityId, quantity: 1 } })
  const checkout = { cartId, paymentMethodId: "test", currency: "USD" }
  const order = (yield* api("POST", "/api/checkout", { as: buyer, body: checkout })).text("data.id")
  const offered = yield* api("GET", `/api/me/orders/${order}/downloads`, { as: buyer })
  const link = new URL(offered.text("data.0.downloadUrl"), "http://localhost")
  yield* api("GET", `${link.pathname}${link.search}`)
})

/** The link by which a receiver declines mails. */
export const declineWalk = Effect.fnUntraced(function*(found: Store) {
  const { keyId, text } = encryptSecret(
    developmentKeyring,
    "mail/decline",
    JSON.stringify([organizationOf(found), "0".repeat(64), "news"])
  )
  const path = `/api/mail/unsubscribe?token=${keyId}.${Buffer.from(text, "base64").toString("base64url")}`
  yield* api("GET", path)
  yield* api("POST", path)
})

/** A purchase of somebody who is not known, who has the secret of the cart alone. */
export const guestWalk = Effect.fnUntraced(function*({ entity: entityId, variant: variantId, ...found }: Store) {
  const organization = organizationOf(found)
  const store = { "x-store-id": organization }
  const cart = yield* api("POST", "/api/carts", { headers: store, body: { currency: "USD" } })
  const headers = { ...store, "x-cart-secret": cart.text("data.secret") }
  const cartId = cart.text("data.id")
  const path = `/api/carts/${cartId}`
  const line = yield* api("POST", `${path}/items`, { headers, body: { entityId, variantId, quantity: 1 } })
  yield* api("PATCH", `${path}/items/${line.at("data.id")}`, { headers, body: { quantity: 2 } })
  yield* api("GET", path, { headers })
  const body = { cartId, currency: "USD", paymentMethodId: "test" }
  const key = { ...headers, "idempotency-key": randomUUID() }
  const order = yield* api("POST", "/api/checkout", { headers: key, body })
  yield* api("POST", "/api/checkout", { headers: key, body })
  yield* api("GET", `/api/orders/${order.at("data.id")}`, { headers })
  yield* api("GET", `/api/orders/${order.at("data.id")}/fulfillments`, { headers })
  const left = yield* api("POST", "/api/carts", { headers: store, body: { currency: "USD" } })
  const secret = { "x-cart-secret": left.text("data.secret") }
  yield* api("POST", `/api/carts/${left.text("data.id")}/claim`, { as: found.buyer, headers: secret })
})

/** People of a store and its keys, as its owner manages them. */
export const staffWalk = Effect.fnUntraced(function*(store: Pick<Store, "as">) {
  const organization = organizationOf(store)
  const owner = yield* signIn({ active: organization, organization, role: "owner" })
  const newcomer = yield* signIn()
  const headers = owner.bearer
  const invited = yield* api("POST", "/api/admin/staff/invitations", {
    headers,
    body: { email: newcomer.email, role: "staff" }
  })
  yield* api("POST", "/api/auth/organization/accept-invitation", {
    headers: newcomer.bearer,
    body: { invitationId: invited.at("data.id") }
  })
  const regular = yield* signIn({ active: organization })
  yield* api("GET", "/api/me/profile", { headers: regular.bearer })
  yield* api("POST", "/api/admin/staff", { headers, body: { userId: regular.userId, role: "staff" } })
  const members = yield* api("GET", "/api/admin/staff?limit=100", { headers })
  const place = members.list("data").findIndex((_, index) => members.at(`data.${index}.userId`) === newcomer.userId)
  const member = members.at(`data.${place}.id`)
  yield* api("PATCH", `/api/admin/staff/${member}`, { headers, body: { role: "customer" } })
  yield* api("DELETE", `/api/admin/staff/${member}`, { headers })
  yield* api("POST", "/api/admin/api-keys", { headers, body: { name: "Robot", role: "staff" } })
})

/** Requests that name no record, and the user who deletes the account. */
export const oddsWalk = Effect.fnUntraced(function*({ as, entity: entityId, order }: Store) {
  const organization = organizationOf({ as })
  const lineItems = [{ entityId, entityType: "product", quantity: 1, unitPrice: 1_000, totalPrice: 1_000 }]
  yield* api("POST", "/api/promotions/validate", {
    as,
    body: { code: "SAVE", currency: "USD", subtotal: 1_000, lineItems }
  })
  yield* api("POST", "/api/jobs/run", { as })
  const object = {
    id: "pi_none",
    amount: 1,
    currency: "usd",
    metadata: { orderId: order, organizationId: organization }
  }
  const event = JSON.stringify({ id: randomUUID(), type: "payment_intent.payment_failed", data: { object } })
  const headers = { "x-payment-signature": signTestEvent("test", event) }
  yield* api("POST", "/api/payments/webhook", { body: event, headers })
  yield* api("POST", "/api/imports?kind=brands&format=csv", {
    as,
    body: "slug,displayName\nacme,Acme\n",
    headers: { "content-type": "text/csv" }
  })
  const unsold = yield* api("POST", "/api/catalog/entities", {
    as,
    body: { type: "product", slug: `unsold-${entityId}` }
  })
  yield* api("DELETE", `/api/catalog/entities/${unsold.at("data.id")}`, { as })
  yield* api("POST", "/api/customers", { as, body: { firstName: "Ann", email: `${entityId}@example.com` } })
  yield* api("GET", "/api/metrics", { headers: { "x-api-key": "a-key-for-metrics-alone" } })
  const leaver = yield* signIn({ active: organization })
  yield* api("GET", "/api/me/profile", { headers: leaver.bearer })
  yield* api("DELETE", "/api/me", { headers: leaver.bearer })
})

/** A mail about an order that is sent again. */
export const messageWalk = ({ as, message, sent }: Store) =>
  api("POST", `/api/orders/${sent}/messages/${message}/resend`, { as, body: { to: "ann@home.example" } })

/** A webhook endpoint without a listener, whose secret and delivery are asked for again. */
export const webhookWalk = Effect.fnUntraced(function*({ as, delivery, endpoint }: Store) {
  yield* api("PATCH", `/api/webhooks/${endpoint}`, { as, body: { description: "Changed" } })
  yield* api("POST", `/api/webhooks/${endpoint}/rotate-secret`, { as, body: {} })
  yield* api("POST", `/api/webhooks/deliveries/${delivery}/redeliver`, { as })
})
