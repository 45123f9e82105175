import { defineConfig } from "stoa/config"
import { giftWrap } from "./GiftWrap.ts"

/** A deployment with a module of its own beside the core. */
export default defineConfig({
  storeName: "Gifts & Co.",
  store: { defaultCurrency: "EUR" },
  auth: { apiKeys: { enabled: true } },
  hooks: [...giftWrap.hooks],
  tasks: [...giftWrap.tasks]
})
