import { assert, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"

/** Why mails of the plugins of this repository are sent. A mail that is new here needs a decision. */
const purposes: Readonly<Record<string, string>> = {
  "appointments/Notices.ts": "purpose, else transactional; category waiting-list",
  "gift-cards/Delivery.ts": "order",
  "notifications/Delivery.ts": "ofEachMail",
  "pos-restaurant/Alerts.ts": "order",
  "pos/Receipts.ts": "order",
  "procurement/OrderPapers.ts": "order",
  "reviews/ReviewRequests.ts": "category reviews",
  "scheduled-orders/Mails.ts": "transactional",
  "scheduled-orders/PriceMails.ts": "transactional"
}

it("every mail of a plugin says its purpose, which is the one that was decided", () => {
  const found = globSync("src/plugins/*/**/*.ts").filter((file) => !file.includes("/test/") && !file.includes("/kit/"))
    .flatMap((file) => {
      const text = readFileSync(file, "utf8")
      return /mailTemplate\(\{/.test(text) ? [[file.replace("src/plugins/", ""), text] as const] : []
    })
  assert.sameMembers(found.map(([file]) => file), Object.keys(purposes))
  for (const [file, text] of found) {
    for (const word of purposes[file]?.match(/\border|transactional|ofEachMail|category [\w-]+/g) ?? []) {
      assert.include(text.replace(/category: "([\w-]+)"/g, "category $1"), word, file)
    }
  }
})
