import { assert, inject } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import type { Plugin } from "stoa/plugin"
import {
  buildersOf,
  createPluginTestApp,
  type PluginTestOptions,
  type TestActor,
  testAdminActor,
  testStaffActor,
  withPermissions
} from "stoa/plugin/testing"
import { callsOf } from "../../../../test/support/PluginCalls.ts"
import { giftCards } from "../../gift-cards/index.ts"
import { pos } from "../index.ts"

/** A mail as the store's mailer got it. */
export interface TillMail {
  readonly template: string
  readonly to: string
  readonly data: Readonly<Record<string, unknown>>
}

const person = (userId: string, ...permissions: ReadonlyArray<string>): TestActor =>
  withPermissions(permissions, { ...testStaffActor, userId, name: userId })

/** Who works at tills, by what they may. */
export const cashier = person("cashier", "pos:operate")
export const colleague = person("colleague", "pos:operate")
export const manager = person("manager", "pos:operate", "pos:manage")
/** Staff of the store that has nothing to do with tills. */
export const clerk = person("clerk", "orders:read", "orders:update", "orders:create")
/** The admin of another organization. */
export const outsider: TestActor = { ...testAdminActor, organizationId: "org_elsewhere" }

let made = 0

/** A store with tills and gift cards, asked over HTTP like by any client. */
export const openTills = async (
  options: Parameters<typeof pos>[0] = {},
  config: PluginTestOptions = {},
  others: ReadonlyArray<Plugin> = []
) => {
  const mails: Array<TillMail> = []
  const app = await createPluginTestApp([giftCards(), pos(options), ...others], {
    postgres: inject("postgres"),
    email: { send: async ({ data, template, to }) => void mails.push({ template, to, data: { ...data } }) },
    ...config
  })
  await app.db.query("insert into organizations (id, slug, name) values ($1, $1, $1)", [outsider.organizationId])
  const builders = buildersOf(app)
  const calls = callsOf(app, "/pos")
  const { ask, done } = calls

  /** A route of the core, which is taken for granted. */
  const core = async (method: string, path: string, body?: unknown, as: TestActor | null = testAdminActor) => {
    const got = await ask(method, path, body, as)
    assert.isBelow(got.status, 300, `${method} ${path}: ${JSON.stringify(got.body)}`)
    return got
  }
  const underKey = (key: string, method: string, path: string, body?: unknown) =>
    ask(method, `/pos${path}`, body, testAdminActor, { "idempotency-key": key })

  const terminal = async (body: object = {}) => {
    const code = `K${++made}`
    // Builders stock this warehouse.
    await builders.product()
    const houses = await core("GET", "/inventory/warehouses?limit=100")
    const warehouse = houses.list("data").find((one) => Reflect.get(Object(one), "code") === "PLUGIN-TESTS")
    const warehouseId: unknown = Reflect.get(Object(warehouse), "id")
    const answer = await done("POST", "/terminals", { name: "Till", code, warehouseId, ...body })
    return { terminalId: answer.text("data.id"), code, warehouseId: String(warehouseId), answer }
  }
  const shift = async (terminalId: string, openingFloat = 10_000, as: TestActor = testAdminActor) =>
    (await done("POST", "/shifts/open", { terminalId, openingFloat }, as)).text("data.id")
  /** A terminal with an open shift. */
  const till = async (body: object = {}, openingFloat = 10_000, as: TestActor = testAdminActor) => {
    const { answer: _, ...one } = await terminal(body)
    return { ...one, shiftId: await shift(one.terminalId, openingFloat, as) }
  }
  type Till = Awaited<ReturnType<typeof till>>
  const start = async (of: Pick<Till, "shiftId" | "terminalId">, body: object = {}, as?: TestActor) => {
    const { shiftId, terminalId } = of
    const started = await done("POST", "/transactions", { shiftId, terminalId, ...body }, as)
    return {
      id: started.text("data.id"),
      path: `/transactions/${started.text("data.id")}`,
      receiptNumber: started.text("data.receiptNumber"),
      started
    }
  }
  const add = (path: string, body: object, as?: TestActor) => done("POST", `${path}/items`, body, as)
  /** A sale of units of something new. */
  const sale = async (of: Pick<Till, "shiftId" | "terminalId">, price = 1_000, quantity = 1, body: object = {}) => {
    const entityId = await builders.product({ price })
    const one = await start(of, body)
    const item = await add(one.path, { entityId, quantity })
    return { ...one, entityId, itemId: item.text("data.id") }
  }
  const read = (path: string) => done("GET", path)
  const pay = (path: string, amount: number, body: object = {}) =>
    done("POST", `${path}/payments`, { method: "cash", amount, ...body })
  const complete = (path: string) => done("POST", `${path}/complete`)
  /** A completed sale, with the lines of its order. */
  const sold = async (
    of: Pick<Till, "shiftId" | "terminalId">,
    price = 1_000,
    quantity = 1,
    { payment = {}, start: first = {} }: { readonly payment?: object; readonly start?: object } = {}
  ) => {
    const one = await sale(of, price, quantity, first)
    await pay(one.path, (await read(one.path)).number("data.amountDue"), payment)
    const completed = await complete(one.path)
    const orderId = completed.text("data.transaction.orderId")
    const order = await core("GET", `/orders/${orderId}`)
    return { ...one, completed, orderId, order, lineId: order.text("data.lineItems.0.id") }
  }

  const stock = async (entityId: string) => {
    const levels = await core("GET", `/inventory/levels?entityId=${entityId}&limit=100`)
    const sum = (field: string) =>
      levels.list("data").reduce((total: number, one) => total + Number(Reflect.get(Object(one), field)), 0)
    return { onHand: sum("quantityOnHand"), reserved: sum("quantityReserved") }
  }
  /** A person of the staff; their id. */
  const member = async (role = "admin") => {
    const [row] = await app.db.query("insert into users (name, email) values ('Mia', $1) returning id", [
      `${randomUUID()}@example.com`
    ])
    await app.db.query("insert into members (organization_id, user_id, role) values ('org_default', $1, $2)", [
      row?.["id"],
      role
    ])
    return String(row?.["id"])
  }
  /** A person who may approve, with a token for an action. */
  const override = async (action: string, body: object = {}) => {
    const operatorId = await member()
    await done("PUT", "/auth/pin", { operatorId, pin: "2580", canOverride: true })
    const given = await done("POST", "/auth/override", { operatorId, pin: "2580", action, ...body }, cashier)
    return { operatorId, token: given.text("data.token"), given }
  }
  const withToken = (token: string, method: string, path: string, body?: unknown, as: TestActor = cashier) =>
    ask(method, `/pos${path}`, body, as, { "x-pos-override": token })
  const withKey = (key: string, method: string, path: string, body?: unknown) =>
    ask(method, path, body, null, { "x-api-key": key })
  const giftCard = async (amount: number, body: object = {}) => {
    const card = await core("POST", "/gift-cards", { amount, currency: "USD", ...body })
    const balance = async () => (await core("GET", `/gift-cards/${card.text("data.id")}`)).at("data.balance")
    return { code: card.text("data.code"), id: card.text("data.id"), balance }
  }

  return {
    ...calls,
    ...builders,
    app,
    callsAt: (prefix: string) => callsOf(app, prefix),
    mails,
    core,
    underKey,
    terminal,
    shift,
    till,
    start,
    add,
    sale,
    read,
    pay,
    complete,
    sold,
    stock,
    member,
    override,
    withToken,
    withKey,
    giftCard,
    close: app.close
  }
}

export type TillShop = Awaited<ReturnType<typeof openTills>>

/** Values of an answer at these paths under `data`. */
export const picked = (of: { readonly at: (path: string) => unknown }, ...paths: ReadonlyArray<string>) =>
  paths.map((path) => of.at(`data.${path}`))

export const code = (of: { readonly status: number; readonly at: (path: string) => unknown }) =>
  `${of.status} ${String(of.at("error.code"))}`
