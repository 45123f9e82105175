import { defineConfig } from "stoa/config"
import { giftWrap } from "./GiftWrap.ts"

/** A deployment with one plugin beside the core. */
export default defineConfig({
  storeName: "Gifts & Co.",
  store: { defaultCurrency: "EUR" },
  auth: { apiKeys: { enabled: true } },
  plugins: [giftWrap]
})
