import { Effect, Layer } from "effect"
import { type AnalyticsModel, defineTask, modelOf, pluginWith } from "stoa/plugin"
import { deliveries, deliveryMail } from "./Delivery.ts"
import { addedCards, cards, money } from "./GiftCard.ts"
import { GiftCardOptions, GiftCardSettings } from "./GiftCardOptions.ts"
import { giftCardPayments } from "./GiftCardPayments.ts"
import { giftCardRoutes } from "./GiftCardRoutes.ts"
import { GiftCards } from "./GiftCards.ts"
import { ownCardRoutes } from "./OwnCards.ts"
import { followSales } from "./Purchases.ts"

export { GiftCards, type IssuedCard, type NewCard } from "./GiftCards.ts"

const entries = (sign: "" | "-", ...types: ReadonlyArray<string>) => ({
  type: "sum" as const,
  sql: `(select ${sign}coalesce(sum(e.amount), 0) from gift_card_entries e where e.account_id = gift_cards.id
    and e.type in (${types.map((type) => `'${type}'`).join(", ")}))`
})

const base = modelOf(cards, { name: "GiftCardLiability", dims: ["currency", "createdAt"] })

/** What the store owes to holders of cards: outstanding = issued - redeemed + refunded + adjusted (contract §17.24). */
const liability: AnalyticsModel = {
  ...base,
  measures: {
    ...base.measures,
    issued: entries("", "issue", "top_up"),
    redeemed: entries("-", "redeem"),
    refunded: entries("", "refund"),
    adjusted: entries("", "adjust", "withdraw"),
    outstanding: { type: "sum", sql: "gift_cards.balance" }
  },
  dimensions: {
    ...base.dimensions,
    status: {
      sql:
        `case when coalesce(gift_cards.disabled_at, gift_cards.withdrawn_at) is not null then 'disabled' when gift_cards.expires_at <= now() then 'expired'
        when gift_cards.balance = 0 then 'exhausted' else 'active' end`,
      type: "string"
    }
  }
}

/** Gift cards: issued by staff or by purchase, spent in checkouts (contract, plugins §12): `plugins: [giftCards({ … })]`. */
export const giftCards = pluginWith("gift-cards", GiftCardSettings, (settings) => {
  const mail = deliveryMail(settings)
  return {
    version: "1.0.0",
    examples: new URL("./examples.json", import.meta.url),
    permissions: [{ scope: "gift-cards:admin", description: "Issue, see, correct and disable gift cards" }],
    types: {
      [settings.productType]: {
        manageInventory: false,
        storedValue: true,
        singlePurpose: settings.singlePurpose,
        maxUnitsPerLine: settings.maxUnitsPerLine
      }
    },
    schema: () => ({ ...money.tables, addedCards }),
    exports: GiftCards,
    layer: GiftCards.layer.pipe(Layer.provideMerge(Layer.succeed(GiftCardOptions, settings))),
    routes: () => [...giftCardRoutes, ...ownCardRoutes],
    mailTemplates: [mail],
    paymentMethods: (host) => Effect.map(giftCardPayments(host), (adapter) => [adapter]),
    orderProjection: followSales,
    tasks: (host) => [
      defineTask({
        slug: "gift-cards/release-holds",
        schedule: "*/5 * * * *",
        handler: () => Effect.map(host.db.use(money).releaseDue, (released) => ({ output: { released } }))
      }),
      deliveries(host, settings, mail)
    ],
    analyticsModels: () => [liability]
  }
})
