import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { beforeHook, HookRefusal } from "../../src/domain/platform/hooks/Hook.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { anOrganization } from "../support/Organizations.ts"
import { api, asAdmin, asCustomer, asStaff, live, TestApp, testAppLayer } from "../support/TestApp.ts"
import { counts, ended, exported, imported, jsonl, reasons, upload } from "./ImportFixtures.ts"

const small = testAppLayer({
  importExport: { maxFileBytes: 2_000_000, batchRows: 3 },
  hooks: [
    beforeHook("catalog.beforeCreate", ({ data }) => {
      if (data.slug === "refused") throw new HookRefusal("The hook refuses this.")
      return data
    })
  ]
})

const withSmallApp = layer(small, live)

const codeOf = (answer: { readonly status: number; readonly at: (path: string) => unknown }) => [
  answer.status,
  answer.at("error.code"),
  answer.at("error.message")
]

const readAs = "The file was read as UTF-8 with commas between its cells."

/** Sends bytes that are not text. */
const sendBytes = Effect.fnUntraced(function*(bytes: Uint8Array, query = "") {
  const { url } = yield* TestApp
  return yield* Effect.promise(async () => {
    const response = await fetch(`${url}/api/imports?${query}`, {
      method: "POST",
      headers: { "x-test-actor": JSON.stringify(asAdmin), "content-type": "text/csv" },
      body: bytes
    })
    const body: unknown = await response.json()
    return { status: response.status, body: JSON.stringify(body) }
  })
})

withSmallApp("a file that cannot be imported", (it) => {
  it.effect("is answered with its problem, and leaves nothing behind", () =>
    Effect.gen(function*() {
      const sent = [
        yield* upload("slug\nx\n", { type: "application/octet-stream" }),
        yield* upload("slug\nx\n", { query: "kind=prices&format=shopify" }),
        yield* upload("slug\nx\n", { query: "kind=invoices" }),
        yield* upload("", {}),
        yield* upload("slug,colour\nx,red\n", {}),
        yield* upload("slug,slug\nx,y\n", {}),
        yield* upload("type\nproduct\n", {}),
        yield* upload("orderNumber,line.colour\nx,red\n", { query: "kind=orders" }),
        yield* upload("a,b\n1,2\n", { query: "format=shopify" }),
        yield* upload("a,b\n1,2\n", { query: "format=woocommerce" }),
        yield* upload("slug\nx\n", { headers: { "idempotency-key": "short" } })
      ]
      assert.deepStrictEqual(sent.map(codeOf), [
        [422, "VALIDATION_FAILED", "format is required: csv, jsonl, shopify, woocommerce, square or magento."],
        [422, "VALIDATION_FAILED", "kind must be catalog: files of shopify describe products."],
        [422, "VALIDATION_FAILED", sent[2]?.at("error.message")],
        [422, "VALIDATION_FAILED", "The file is empty: its first line names the columns."],
        [422, "VALIDATION_FAILED", `There is no column "colour" in files of this kind. ${readAs}`],
        [422, "VALIDATION_FAILED", `The column "slug" is there twice. ${readAs}`],
        [422, "VALIDATION_FAILED", `The column "slug" is missing. ${readAs}`],
        [422, "VALIDATION_FAILED", sent[7]?.at("error.message")],
        [
          422,
          "VALIDATION_FAILED",
          `This is not a product export of Shopify: it has no columns "Handle" and "Title". ${readAs}`
        ],
        [
          422,
          "VALIDATION_FAILED",
          `This is not a product export of WooCommerce: it has no columns "Type" and "Name". ${readAs}`
        ],
        [422, "VALIDATION_FAILED", "Idempotency-Key must have 8 to 255 characters."]
      ])
      assert.include(sent[7]?.text("error.message"), "\"status\", \"placedAt\", \"currency\", \"grandTotal\"")
      const utf16 = yield* sendBytes(new Uint8Array([0xff, 0xfe, 0x73, 0x00]))
      const latin1 = yield* sendBytes(new Uint8Array([...Buffer.from("slug\ncaf"), 0xe9, 0x0a]))
      assert.deepStrictEqual([utf16.status, latin1.status], [422, 422])
      assert.include(utf16.body, "UTF-16")
      assert.include(latin1.body, "not UTF-8")
      const wide = yield* upload(`slug\n${"x".repeat(1_100_000)}\n`)
      const long = yield* upload(`{"slug":"${"x".repeat(1_100_000)}"}\n`, { query: "format=jsonl" })
      const big = yield* upload(`slug\n${"xxxxxxxxx\n".repeat(300_000)}`)
      assert.deepStrictEqual([wide, long, big].map(({ status }) => status), [413, 413, 413])
      assert.strictEqual(big.at("error.code"), "PAYLOAD_TOO_LARGE")
      assert.strictEqual((yield* api("GET", "/api/imports", { as: asAdmin })).number("meta.pagination.total"), 0)
      const left = yield* onDatabase((sql) => sql`select 1 from import_rows union all select 1 from imports`)
      assert.lengthOf(left, 0)
    }))

  it.effect("needs the permissions of its records, and does not exist for another tenant", () =>
    Effect.gen(function*() {
      const refused = [
        yield* upload("slug\nx\n", { as: asCustomer("shopper") }),
        yield* upload("email\na@b\n", { query: "kind=customers", as: asStaff }),
        yield* upload("sku,currency,amount\na,USD,1\n", { query: "kind=prices", as: asStaff }),
        yield* upload("Handle,Title\na,b\n", { query: "format=shopify", as: asStaff }),
        yield* api("GET", "/api/exports/orders", { as: asCustomer("shopper") }),
        yield* api("GET", "/api/exports/prices", { as: asStaff })
      ]
      assert.deepStrictEqual(refused.map(({ status }) => status), [403, 403, 403, 403, 403, 403])
      assert.strictEqual((yield* api("POST", "/api/imports", { body: "slug\nx\n" })).status, 401)
      const mine = yield* imported("slug,type\nmine,product\n")
      const elsewhere = yield* anOrganization
      for (const path of ["", "/refusals", "/refusals.csv"]) {
        const there = yield* api("GET", `/api/imports/${mine.text("data.id")}${path}`, { as: elsewhere })
        assert.strictEqual(there.status, 404, path)
      }
      assert.strictEqual(
        (yield* api("POST", `/api/imports/${mine.text("data.id")}/cancel`, { as: elsewhere })).status,
        404
      )
      assert.strictEqual(
        (yield* api("POST", `/api/imports/${mine.text("data.id")}/cancel`, { as: asAdmin })).status,
        409
      )
      assert.strictEqual((yield* api("GET", "/api/exports/nothing", { as: asAdmin })).status, 422)
      assert.strictEqual(yield* exported("catalog", "jsonl", elsewhere), "")
    }))

  it.effect("is imported once for a key, and another file cannot use its key", () =>
    Effect.gen(function*() {
      const headers = { "idempotency-key": "once-and-for-all" }
      const [one, two] = yield* Effect.all([
        upload("slug,type\nkeyed,product\n", { headers }),
        upload("slug,type\nkeyed,product\n", { headers })
      ], { concurrency: "unbounded" })
      assert.deepStrictEqual([one.status, two.status], [202, 202])
      assert.strictEqual(one.text("data.id"), two.text("data.id"))
      const other = yield* upload("slug,type\nother,product\n", { headers })
      assert.deepStrictEqual(codeOf(other), [
        422,
        "VALIDATION_FAILED",
        "Idempotency-Key must be a new one: this one was used with another request."
      ])
      assert.deepStrictEqual(counts(yield* ended(one.text("data.id"))), [1, 0, 0, 0])
    }))
})

withSmallApp("rows", (it) => {
  it.effect("keep byte order marks out, and CRLF, quotes and cells that look like formulas as they are", () =>
    Effect.gen(function*() {
      const file = "\ufeffslug,type,title,description,categories\r\n" +
        "\"a, b\",product,'=1+1,\"two\r\nlines, \"\"quoted\"\"\",one|two\r\n" +
        "plain,product,5\" pipe,' kept,\"[\"\"a|b\"\"]\"\r\n"
      assert.deepStrictEqual(counts(yield* imported(file)), [2, 0, 0, 0])
      const lines = (yield* exported("catalog", "jsonl")).trim().split("\n")
      assert.include(lines.join(), "\"title\":\"=1+1\"")
      assert.include(lines.join(), "5\\\" pipe")
      assert.include(lines.join(), "[\"a|b\"]")
      const csv = yield* exported("catalog")
      assert.include(csv, "'=1+1")
      const again = yield* imported(csv)
      assert.deepStrictEqual([again.number("data.updated"), again.number("data.created")], [0, 0])
    }))

  it.effect("are refused one by one for NUL, by hooks and by the database", () =>
    Effect.gen(function*() {
      yield* onDatabase((sql) =>
        sql`create function poison() returns trigger language plpgsql as $$
            begin raise exception 'poison'; end $$`.pipe(
          Effect.andThen(sql`create trigger poison before insert on catalog_entities for each row
              when (new.slug = 'poison') execute function poison()`)
        )
      )
      const done = yield* imported(
        jsonl({ slug: "n1", type: "a\0b" }, { slug: "n2", type: "p" }, { slug: "poison", type: "p" }, {
          slug: "refused",
          type: "p"
        }, { slug: "n3", type: "p" }),
        { query: "format=jsonl" }
      )
      assert.deepStrictEqual(counts(done), [2, 0, 0, 3])
      assert.deepStrictEqual(yield* reasons(done.text("data.id")), [
        "1:  It holds text that cannot be stored: NUL, broken Unicode, or too many levels.",
        "3:  The record could not be written.",
        "4:  The hook refuses this."
      ])
      const report = yield* api("GET", `/api/imports/${done.text("data.id")}/refusals.csv`, { as: asAdmin })
      assert.deepStrictEqual(String(report.body).split("\n").slice(0, 1), ["row,line,key,reason"])
      assert.include(String(report.body), "4,4,refused,The hook refuses this.")
    }))

  it.effect("are processed in their order, so that the last one of a file wins", () =>
    Effect.gen(function*() {
      const done = yield* imported("slug,type,title\ntwice,product,One\ntwice,,Two\ntwice2,product,x\ntwice,,Three\n")
      // Two lines with one slug that follow each other are one record.
      assert.deepStrictEqual(counts(done), [2, 1, 0, 0])
      const found = yield* api("GET", "/api/catalog/entities/twice?include=attributes", { as: asAdmin })
      assert.strictEqual(found.at("data.attributes.0.title"), "Three")
    }))

  it.effect("are only counted in a rehearsal", () =>
    Effect.gen(function*() {
      const file = jsonl({ slug: "dry", type: "product", categories: ["dry"] }, { slug: "dry2" })
      const done = yield* imported(file, { query: "format=jsonl&dryRun=true" })
      assert.deepStrictEqual([done.text("data.state"), ...counts(done)], ["completed", 1, 0, 0, 1])
      assert.strictEqual((yield* api("GET", "/api/catalog/entities/dry", { as: asAdmin })).status, 404)
      const categories = yield* api("GET", "/api/catalog/categories", { as: asAdmin })
      assert.notInclude(JSON.stringify(categories.body), "\"dry\"")
      const recorded = yield* onDatabase((sql) =>
        sql`select 1 from outbox_events where payload->>'slug' in ('dry', 'dry2')`
      )
      assert.lengthOf(recorded, 0)
    }))

  it.effect("of the same file in several imports at once are created once", () =>
    Effect.gen(function*() {
      const file = jsonl(...Array.from({ length: 40 }, (_, n) => ({
        slug: `p${n}`,
        type: "product",
        categories: ["all"],
        variants: [{ sku: `P${n}`, options: { Size: "S" } }]
      })))
      const done = yield* Effect.all(
        [1, 2, 3].map(() => imported(file, { query: "format=jsonl" })),
        { concurrency: "unbounded" }
      )
      const sums = done.map(counts).reduce((left, right) => left.map((count, at) => count + (right[at] ?? 0)))
      assert.deepStrictEqual(sums, [40, 0, 80, 0])
      const [rows] = yield* onDatabase((sql) =>
        sql<{ entities: number; entries: number }>`select
          (select count(*) from catalog_entities where slug ~ '^p\\d+$')::int4 as entities,
          (select count(*) from outbox_events where type = 'catalog.create' and payload->>'slug' ~ '^p\\d+$')::int4
            as entries`
      )
      assert.deepStrictEqual(rows, { entities: 40, entries: 40 })
    }))
})
