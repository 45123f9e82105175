import { assert, inject } from "@effect/vitest"
import { buildersOf, createPluginTestApp, type PluginTestOptions, testAdminActor } from "stoa/plugin/testing"
import { callsOf } from "../../../../test/support/PluginCalls.ts"
import { uom } from "../../uom/index.ts"
import { warehouse } from "../../warehouse/index.ts"
import { procurement } from "../index.ts"

/** A mail as the shop's mailer got it. */
export interface SentMail {
  readonly template: string
  readonly to: string
  readonly text: string
}

/** Approves what the admin requests. */
export const approver = { ...testAdminActor, userId: "approver", name: "Approver" }

/** A store that buys goods. */
export const openShop = async (
  options: Parameters<typeof procurement>[0] = {},
  config: PluginTestOptions = {}
) => {
  const mails: Array<SentMail> = []
  const send = async ({ template, text, to }: SentMail) => void mails.push({ template, to, text })
  const app = await createPluginTestApp([uom, warehouse, procurement(options)], {
    postgres: inject("postgres"),
    rateLimits: { api: 1_000_000 },
    email: { send },
    ...config
  })
  const builders = buildersOf(app)
  let made = 0

  const { ask, done, refused } = callsOf(app, "/procurement")
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
  const place = () => created("/inventory/warehouses", { name: "Dock", code: `W-${++made}` })

  /** A draft of ten of a thing at 2.50, or of these lines. */
  const draft = async (items: ReadonlyArray<object>, more: object = {}) => {
    const body = { supplierId: await supplier(), warehouseId: await place(), items, ...more }
    return Object((await done("POST", "/purchase-orders", body)).at("data"))
  }
  const line = async (more: object = {}) => ({ entityId: await product(), quantityOrdered: 10, unitCost: 250, ...more })
  const move = async (id: string, ...names: ReadonlyArray<string>) => {
    for (const name of names) {
      await done("POST", `/purchase-orders/${id}/${name}`, undefined, name === "approve" ? approver : undefined)
    }
  }
  const order = (id: string) => done("GET", `/purchase-orders/${id}`)
  /** An approved order, with its lines. */
  const approved = async (items: ReadonlyArray<object>, more: object = {}) => {
    const { id } = await draft(items, more)
    await move(id, "submit", "approve")
    const whole = await order(id)
    return { id, path: `/purchase-orders/${id}`, item: (n: number) => whole.text(`data.items.${n}.id`) }
  }
  const receive = (poId: string, items: ReadonlyArray<object>) => done("POST", "/grn", { poId, items })
  /** On hand and incoming in all warehouses, and the average cost of a thing in the first. */
  const stock = async (entityId: string) => {
    const levels = (await ask("GET", `/inventory/levels?entityId=${entityId}`)).list("data").map(Object)
    const sum = (name: string) => levels.reduce((total, level) => total + level[name], 0)
    return [sum("quantityOnHand"), sum("quantityIncoming"), levels[0]?.averageCost]
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
