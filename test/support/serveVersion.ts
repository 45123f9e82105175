import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer } from "effect"
import { afterHook, definePlugin, isUuid, statements, table, text, uuid } from "stoa/plugin"
import { announce, processApp } from "../../src/layers/App.ts"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import { marketplace } from "../../src/plugins/marketplace/index.ts"

/** What the next version adds: a column with a default, which rows of this version come without, and a nullable one. */
const added = process.env["STOA_TEST_VERSION"] === "next"
  ? { writtenBy: text.default("this version"), remark: text.nullable }
  : {}

const receipts = table("receipts", { orderId: uuid, ...added }, { unique: [{ columns: ["orderId"] }] })

/** Writes a row for each order that was created, by whichever version. */
const receiptPlugin = definePlugin({
  id: "receipts",
  version: "1.0.0",
  schema: () => [receipts],
  migrations: "writtenBy" in added
    ? { "0001_next_of_the_core": statements("alter table cart_lines add column gift_note text not null default ''") }
    : {},
  hooks: ({ db }) => [
    afterHook("orders.afterCreate", ({ result }) =>
      Effect.gen(function*() {
        if (isUuid(result.id)) yield* db.table(receipts).insert({ orderId: result.id })
      }))
  ]
})

/** This version of the service, or the next one as far as its tables tell: STOA_TEST_VERSION is `this` or `next`. */
const serve = Effect.gen(function*() {
  const settings = yield* readSettings({ plugins: [marketplace(), receiptPlugin] })
  return yield* Layer.launch(Layer.effectDiscard(announce).pipe(Layer.provideMerge(processApp(settings))))
})

NodeRuntime.runMain(serve)
