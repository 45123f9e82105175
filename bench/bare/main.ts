import { createHash, randomBytes } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { Pool, type QueryResultRow } from "pg"
import { v7 } from "uuid"
import { addLine, createOrder, insertCart, lastOrders, listPage, oneProduct, removeLine } from "./Sql.ts"

/*
 * The limit: `node:http`, the driver `pg` with a pool of ten, and one statement per request. No validation, no
 * permission, no change log, no framework; the routes and answers are those of Stoa that the benchmarks use.
 */

const { BARE_PREPARE, DATABASE_URL, PORT } = process.env
/** Plans made while the tables are empty must serve them when they are full: the limit is measured at its best. */
const pool = new Pool({
  connectionString: DATABASE_URL,
  max: 10,
  application_name: "bare",
  options: "-c enable_seqscan=off"
})

const first = async <Row extends QueryResultRow>(name: string, text: string, values: ReadonlyArray<unknown>) => {
  const named = BARE_PREPARE === "true" ? { name } : {}
  const { rows } = await pool.query<Row>({ ...named, text, values: [...values] })
  return rows[0]
}

interface Body {
  readonly body: string
}

interface Counted extends Body {
  readonly total: string
}

const answer = (response: ServerResponse, status: number, json: string) => {
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(json) })
  response.end(json)
}

const data = (response: ServerResponse, status: number, row: Body | undefined) =>
  row === undefined
    ? answer(response, 404, `{"error":{"code":"NOT_FOUND"}}`)
    : answer(response, status, `{"data":${row.body}}`)

const bodyOf = async (request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> => {
  let text = ""
  for await (const chunk of request.setEncoding("utf8")) text += chunk
  // Any other request gets a 500: bare validates nothing.
  return JSON.parse(text) as Readonly<Record<string, unknown>>
}

const hash = (secret: unknown): string => createHash("sha256").update(String(secret)).digest("hex")

const limitOf = (url: string): number => Number(/limit=(\d+)/.exec(url)?.[1] ?? 20)

const page = (response: ServerResponse, limit: number, row: Counted | undefined) => {
  const total = Number(row?.total ?? 0)
  const pagination = { page: 1, limit, total, totalPages: Math.ceil(total / limit) }
  answer(response, 200, `{"data":${row?.body ?? "[]"},"meta":${JSON.stringify({ pagination })}}`)
}

const list = async (response: ServerResponse, limit: number) =>
  page(response, limit, await first<Counted>("list", listPage, [limit]))

const orders = async ({ headers }: IncomingMessage, response: ServerResponse, limit: number) =>
  page(
    response,
    limit,
    await first<Counted>("orders", lastOrders, [headers.authorization?.slice("Bearer ".length), limit])
  )

const create = async (request: IncomingMessage, response: ServerResponse) => {
  const { currency } = await bodyOf(request)
  const [id, secret] = [v7(), randomBytes(24).toString("base64url")]
  const row = await first<{ created_at: Date; expires_at: Date }>("cart", insertCart, [id, currency, hash(secret)])
  const cart = {
    id,
    organizationId: "org_default",
    customerId: null,
    status: "active",
    currency,
    email: null,
    metadata: {},
    expiresAt: row?.expires_at,
    createdAt: row?.created_at,
    updatedAt: row?.created_at,
    shippingAddress: null,
    billingAddress: null,
    shippingRateId: null,
    promotionCodes: [],
    note: null,
    locale: null,
    giftCards: [],
    secret
  }
  answer(response, 201, `{"data":${JSON.stringify(cart)}}`)
}

const change = async (request: IncomingMessage, response: ServerResponse, [cartId, , lineId]: Array<string>) => {
  const secret = hash(request.headers["x-cart-secret"])
  if (lineId !== undefined) {
    await first("remove", removeLine, [lineId, cartId])
    return answer(response, 200, `{"data":{"deleted":true}}`)
  }
  const { entityId, quantity } = await bodyOf(request)
  data(response, 201, await first<Body>("add", addLine, [v7(), cartId, secret, entityId, quantity]))
}

const checkout = async (request: IncomingMessage, response: ServerResponse) => {
  const secret = hash(request.headers["x-cart-secret"])
  const { cartId } = await bodyOf(request)
  try {
    data(response, 201, await first<Body>("checkout", createOrder, [cartId, secret, v7()]))
  } catch (error) {
    // Division by zero is how the statement says that stock ran out.
    if (!(error instanceof Error && "code" in error && error.code === "22012")) throw error
    answer(response, 422, `{"error":{"code":"CHECKOUT_FAILED"}}`)
  }
}

const catalog = "/api/catalog/entities"

const handle = async (request: IncomingMessage, response: ServerResponse) => {
  const url = request.url ?? ""
  if (url.startsWith(`${catalog}?`)) return list(response, limitOf(url))
  if (url.startsWith(`${catalog}/`)) {
    return data(response, 200, await first<Body>("product", oneProduct, [url.slice(catalog.length + 1)]))
  }
  if (url.startsWith("/api/me/orders?")) return orders(request, response, limitOf(url))
  if (url === "/api/carts") return create(request, response)
  if (url.startsWith("/api/carts/")) return change(request, response, url.slice("/api/carts/".length).split("/"))
  if (url === "/api/checkout") return checkout(request, response)
  answer(response, 404, "{}")
}

const server = createServer((request, response) => {
  handle(request, response).catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`)
    answer(response, 500, `{"error":{"code":"INTERNAL_ERROR"}}`)
  })
})
server.listen(Number(PORT), "127.0.0.1")

process.once("SIGTERM", () => {
  server.close()
  server.closeAllConnections()
  void pool.end()
})
