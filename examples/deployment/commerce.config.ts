import { defineConfig } from "stoa/config"
import { giftWrap } from "./GiftWrap.ts"

/** A deployment with a plugin of its own beside the core. */
export default defineConfig({
  storeName: "Gifts & Co.",
  store: { defaultCurrency: "EUR" },
  auth: { apiKeys: { enabled: true } },
  plugins: [giftWrap]
})
