import { assert, inject } from "@effect/vitest"
import {
  buildersOf,
  createPluginTestApp,
  type PluginTestOptions,
  type TestActor,
  testAdminActor
} from "stoa/plugin/testing"
import { uom } from "../../uom/index.ts"
import { warehouse } from "../../warehouse/index.ts"
import { procurement } from "../index.ts"

/** An answer, whose values are read by their paths. */
export interface Read {
  readonly status: number
  readonly body: unknown
  readonly at: (path: string) => unknown
  readonly text: (path: string) => string
}

const valueAt = (body: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((value, name) => Reflect.get(Object(value), name), body)

/** A mail as the shop's mailer got it. */
export interface SentMail {
  readonly template: string
  readonly to: string
  readonly text: string
}

/** A store that buys goods: every request by the admin unless it says who asks. */
export const openShop = async (
  options: Parameters<typeof procurement>[0] = {},
  config: PluginTestOptions = {}
) => {
  const mails: Array<SentMail> = []
  const send = async ({ template, text, to }: SentMail) => void mails.push({ template, to, text })
  const app = await createPluginTestApp([uom, warehouse, procurement(options)], {
    postgres: inject("postgres").url,
    rateLimits: { api: 1_000_000 },
    email: { send },
    ...config
  })
  const builders = buildersOf(app)
  let made = 0

  const ask = async (method: string, path: string, body?: unknown, as: TestActor = testAdminActor): Promise<Read> => {
    const answer = await app.app.request(method, `/api${path}`, { as, ...(body === undefined ? {} : { body }) })
    const at = (path: string) => valueAt(answer.body, path)
    return { status: answer.status, body: answer.body, at, text: (path) => String(at(path)) }
  }
  /** Paths after `/procurement`; fails unless the request is done. */
  const done = async (method: string, path: string, body?: unknown): Promise<Read> => {
    const answer = await ask(method, `/procurement${path}`, body)
    assert.isBelow(answer.status, 300, `${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer
  }
  const refused = async (expected: string, method: string, path: string, body?: unknown, as?: TestActor) => {
    const answer = await ask(method, `/procurement${path}`, body, as)
    assert.strictEqual(`${answer.status} ${answer.text("error.code")}`, expected, JSON.stringify(answer.body))
    return answer
  }

  const supplier = async (body: object = {}) =>
    (await done("POST", "/suppliers", { name: "Mill", code: `S-${++made}`, ...body })).text("data.id")
  const product = () => builders.product({ stock: 0 })
  const created = async (path: string, body: object) => {
    const answer = await ask("POST", path, body)
    assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
    return answer.text("data.id")
  }
  const unit = (code: string) => created("/uom/units", { code: `${code}-${++made}`, name: code, category: "count" })
  /** A thing that is bought in boxes of so many pieces, and kept and sold in pieces. */
  const boxed = async (entityId: string, factorDecimal: string) => {
    const [box, piece] = [await unit("box"), await unit("piece")]
    await created("/uom/conversions", { fromUnitId: box, toUnitId: piece, entityId, factorDecimal })
    await created(`/uom/entities/${entityId}/uom`, { purchaseUomId: box, stockUomId: piece, saleUomId: piece })
    return { box, piece }
  }
  const place = async () =>
    (await ask("POST", "/inventory/warehouses", { name: "Dock", code: `W-${++made}` })).text("data.id")

  /** A draft of ten of a thing at 2.50, or of these lines. */
  const draft = async (items: ReadonlyArray<object>, more: object = {}) => {
    const body = { supplierId: await supplier(), warehouseId: await place(), items, ...more }
    return (await done("POST", "/purchase-orders", body)).at("data")
  }
  const line = async (more: object = {}) => ({ entityId: await product(), quantityOrdered: 10, unitCost: 250, ...more })
  const move = (id: string, ...names: ReadonlyArray<string>) =>
    names.reduce<Promise<Read | undefined>>(
      (before, name) => before.then(() => done("POST", `/purchase-orders/${id}/${name}`)),
      Promise.resolve(undefined)
    )
  /** An approved order, with its lines. */
  const approved = async (items: ReadonlyArray<object>, more: object = {}) => {
    const id = String(valueAt(await draft(items, more), "id"))
    await move(id, "submit", "approve")
    const whole = await done("GET", `/purchase-orders/${id}`)
    return { id, path: `/purchase-orders/${id}`, item: (n: number) => whole.text(`data.items.${n}.id`) }
  }
  const order = (id: string) => done("GET", `/purchase-orders/${id}`)
  const receive = (poId: string, items: ReadonlyArray<object>) => done("POST", "/grn", { poId, items })
  /** On hand and incoming in all warehouses, and the average cost of a thing in the first. */
  const stock = async (entityId: string) => {
    const { at } = await ask("GET", `/inventory/levels?entityId=${entityId}`)
    const levels = at("data")
    const sum = (name: string) =>
      (Array.isArray(levels) ? levels : []).reduce((total, level) => total + Number(level[name]), 0)
    return [sum("quantityOnHand"), sum("quantityIncoming"), at("data.0.averageCost")]
  }
  return {
    ...app,
    // The checks of every plugin are for this one.
    plugins: app.plugins.slice(-1),
    routes: app.routes.filter(({ path }) => path.startsWith("/api/procurement")),
    mails,
    ask,
    done,
    refused,
    supplier,
    product,
    unit,
    boxed,
    place,
    draft,
    line,
    move,
    approved,
    order,
    receive,
    stock
  }
}

export type Shop = Awaited<ReturnType<typeof openShop>>
