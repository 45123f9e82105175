import { assert, inject } from "@effect/vitest"
import { buildersOf, createPluginTestApp, type PluginTestOptions, type TestActor } from "stoa/plugin/testing"
import { callsOf } from "../../../../test/support/PluginCalls.ts"
import { giftCards } from "../index.ts"

/** A mail of gift cards as the shop's mailer got it. */
export interface SentMail {
  readonly template: string
  readonly to: string
  readonly data: Readonly<Record<string, unknown>>
}

/** A store that sells and takes gift cards. */
export const openShop = async (options: Parameters<typeof giftCards>[0] = {}, config: PluginTestOptions = {}) => {
  const mails: Array<SentMail> = []
  const send = async ({ data, template, to }: { template: string; to: string; data: object }) => {
    if (template.startsWith("gift-cards/")) mails.push({ template, to, data: { ...data } })
  }
  const app = await createPluginTestApp(giftCards(options), {
    postgres: inject("postgres"),
    rateLimits: { strict: 1_000_000, api: 1_000_000, checkout: 1_000_000 },
    email: { send },
    ...config
  })
  const builders = buildersOf(app)

  const calls = callsOf(app, "/gift-cards")
  const { ask, done } = calls

  const issue = async (amount = 5_000, body: object = {}) => {
    const made = await done("POST", "", { amount, currency: "USD", ...body })
    return { id: made.text("data.id"), code: made.text("data.code"), made, path: `/${made.text("data.id")}` }
  }
  const expired = async (amount: number, body: object = {}) => {
    const made = await issue(amount, { ...body, expiresAt: new Date(app.clock.now() + 60_000).toISOString() })
    app.clock.advance("2 minutes")
    return made
  }
  const card = (id: string) => done("GET", `/${id}`)
  const balance = async (id: string) => (await card(id)).at("data.balance")

  /** A cart of a new product, as a guest or a customer has it. */
  const cartOf = async (
    price: number,
    lines: ReadonlyArray<object> = [{}],
    as: TestActor | null = null,
    email?: string,
    type = "product",
    currency = "USD"
  ) => {
    const entityId = await builders.product({ price, type, currency })
    const cart = await ask("POST", "/carts", { currency, ...(email && { email }) }, as)
    const headers = { "x-cart-secret": cart.text("data.secret") }
    for (const line of lines) {
      const body = { entityId, quantity: 1, ...line }
      const added = await ask("POST", `/carts/${cart.text("data.id")}/items`, body, as, headers)
      assert.strictEqual(added.status, 201, JSON.stringify(added.body))
    }
    return { id: cart.text("data.id"), currency, headers, as }
  }
  type Cart = Awaited<ReturnType<typeof cartOf>>
  const checkOut = ({ as, currency, headers, id }: Cart, giftCardCodes: ReadonlyArray<string>, more: object = {}) => {
    const body = { cartId: id, paymentMethodId: "test", currency, giftCardCodes, ...more }
    return ask("POST", "/checkout", body, as, headers)
  }
  /** An order of one thing. */
  const buy = async (price: number, codes: ReadonlyArray<string>, body: object = {}) =>
    checkOut(await cartOf(price), codes, body)
  const buyIn = async (currency: string, price: number, codes: ReadonlyArray<string>) =>
    checkOut(await cartOf(price, [{}], null, undefined, "product", currency), codes)

  const refund = (orderId: string, amount?: number) => ask("POST", `/orders/${orderId}/refunds`, { amount })

  /** The liability as analytics show it: all measures of a currency. */
  const liability = async (currency: string) => {
    const names = ["issued", "redeemed", "refunded", "adjusted", "outstanding"]
    const answer = await ask("POST", "/analytics/query", {
      measures: names.map((name) => `GiftCardLiability.${name}`),
      filters: [{ member: "GiftCardLiability.currency", operator: "equals", values: [currency] }]
    })
    const row = Object(answer.at("data.rows.0"))
    return Object.fromEntries(names.map((name) => [name, Number(row[`GiftCardLiability.${name}`] ?? 0)]))
  }

  return {
    ...calls,
    app,
    mails,
    issue,
    expired,
    card,
    balance,
    cartOf,
    checkOut,
    buy,
    buyIn,
    refund,
    liability,
    run: (task: string) => app.serviceRegistry.enqueue(`gift-cards/${task}`, {}),
    close: app.close
  }
}

export type Shop = Awaited<ReturnType<typeof openShop>>
