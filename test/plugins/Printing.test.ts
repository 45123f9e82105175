import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { definePlugin, group, type PrintedDocument } from "stoa/plugin"
import { refused } from "../checkout/CheckoutFixtures.ts"
import { pdfTexts } from "../invoices/PdfText.ts"
import { api, asAdmin, live, TestApp, testAppLayer } from "../support/TestApp.ts"

const long = "x".repeat(100_000)

/** Every text is as long as anybody could make it, but for what the test looks for. */
const paper = (lines: number): PrintedDocument => ({
  title: "Purchase order",
  number: "PO-0001/ä\"",
  date: new Date("2026-11-27T23:30:00Z"),
  facts: [
    { label: "Delivery", value: "2026-12-24" },
    ...Array.from({ length: 50 }, () => ({ label: long, value: long }))
  ],
  parties: [{ label: "Supplier", lines: ["Mühle & Söhne", ...Array.from({ length: 99 }, () => long)] }],
  columns: ["Item", "Quantity", "Total"],
  rows: Array.from({ length: lines }, (_, n) => ({
    title: `Item ${n}`,
    details: [`Кружка ${n}`],
    cells: [String(n), `€${n}.00`]
  })),
  totals: [{ label: "Total", value: "€7.00", strong: true }],
  notes: ["Deliver\nto the back door", long]
})

const routes = group("Papers", "/papers")
const papers = definePlugin({
  id: "papers",
  version: "1.0.0",
  routes: () =>
    [2, 500, 2_001].map((lines) =>
      routes.raw(
        "GET",
        `/${lines}.pdf`,
        { public: "for the test", produces: "application/pdf" },
        ({ services }) => services.printing.pdf(paper(lines))
      )
    )
})

const fetched = (lines: number) =>
  Effect.flatMap(TestApp, ({ url }) =>
    Effect.promise(async () => {
      const answer = await fetch(`${url}/api/papers/${lines}.pdf`)
      const bytes = Buffer.from(await answer.arrayBuffer())
      return { headers: answer.headers, bytes, texts: pdfTexts(bytes) }
    }))

layer(testAppLayer({ plugins: [papers], storeName: "Mugs & Co", invoices: { sellerLines: ["1 Main St"] } }), live)(
  "a document that a plugin prints",
  (it) => {
    it.effect("shows what the plugin says with the seller of the deployment", () =>
      Effect.gen(function*() {
        const { headers, texts } = yield* fetched(2)
        for (
          const text of [
            "Mugs & Co",
            "1 Main St",
            "Purchase order",
            "PO-0001/ä\"",
            "Nov 27, 2026",
            "2026-12-24",
            "Mühle & Söhne",
            "Quantity",
            "Item 1",
            "Кружка 1",
            "€1.00",
            "€7.00",
            "Deliver to the back door"
          ]
        ) {
          assert.include(texts.map((one) => one.trim()), text)
        }
        assert.strictEqual(headers.get("content-type"), "application/pdf")
        assert.strictEqual(headers.get("content-disposition"), "inline; filename=\"PO-0001-.pdf\"")
      }))

    it.effect("has 500 lines on a bounded number of pages, however long its texts are", () =>
      Effect.gen(function*() {
        const { texts } = yield* fetched(500)
        const last = texts.findLast((text) => /Page \d+ \/ \d+/.test(text)) ?? ""
        assert.isAtMost(Number(/\/ (\d+)/.exec(last)?.[1]), 25, last)
        assert.includeMembers(texts.map((one) => one.trim()), ["Item 0", "Item 499"])
      }))

    it.effect("is refused with more lines than a document may have", () =>
      Effect.map(
        api("GET", "/api/papers/2001.pdf", { as: asAdmin }),
        (answer) => refused(answer, 422, "VALIDATION_FAILED")
      ))
  }
)
