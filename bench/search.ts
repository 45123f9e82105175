import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import type { Client } from "pg"
import type { SearchQuery } from "../src/domain/search/SearchQuery.ts"
import { usualFacets } from "../src/domain/search/SearchQuery.ts"
import { searchStatement } from "../src/domain/search/SearchStatements.ts"
import { environment } from "./measure/Environment.ts"
import { median, percentile } from "./measure/Figures.ts"
import { atMost, heading, note, record, table } from "./measure/Report.ts"
import type { Options } from "./Options.ts"
import { onDatabase, startBenchPostgres } from "./servers/BenchPostgres.ts"
import { startStoa } from "./servers/StoaServer.ts"

const org = "org_default"

/** Of so many words few are frequent and most are rare, as in any language: the nth is drawn half as often as the half of it. */
const vocabulary = 8000

const letters = ["0123456789abcdef", "aeioulnrstmdkpbg"] as const

/** The nth word, of five to nine letters: in the database, where `k` is n, */
const wordInSql = `translate(left(md5('word' || k), 5 + k % 5), '${letters[0]}', '${letters[1]}')`

/** and here. */
const word = (n: number): string =>
  Array.from(createHash("md5").update(`word${n}`).digest("hex").slice(0, 5 + n % 5))
    .map((digit) => letters[1][letters[0].indexOf(digit)]).join("")

/** An id that follows from a text and is a UUID as answers have them. */
const id = (text: string): string => `regexp_replace(md5(${text}), '^(.{12}).(...).', '\\14\\28')::uuid`

const each = (count: number) => `from generate_series(1, ${count}) n`

/** Products with titles of five words and descriptions of forty, in 60 categories and of 200 brands; a tenth are drafts. */
const seedProducts = async (client: Client, products: number): Promise<ReadonlyArray<readonly [string, number]>> => {
  const words = (count: number) =>
    `(select string_agg(${wordInSql}, ' ') from (select floor(power(${vocabulary}, random()))::int as k
      from generate_series(1, ${count}) w where n is not null) drawn)`
  const steps: ReadonlyArray<readonly [string, string]> = [
    [
      "categories and brands",
      `with made as (insert into categories (id, organization_id, slug)
        select ${id("'c' || n")}, '${org}', 'category-' || n ${each(60)})
       insert into brands (id, organization_id, slug, display_name)
        select ${id("'b' || n")}, '${org}', 'brand-' || n, 'Brand ' || n ${each(200)}`
    ],
    [
      "entities",
      `insert into catalog_entities (id, organization_id, type, slug, status, is_visible, metadata)
        select ${id("'e' || n")}, '${org}', case n % 4 when 0 then 'service' else 'product' end, 'product-' || n,
          case n % 10 when 0 then 'draft' else 'active' end, n % 10 <> 0,
          jsonb_build_object('color', (array['red', 'blue', 'green', 'black'])[1 + n % 4]) ${each(products)}`
    ],
    [
      "words",
      `insert into entity_attributes (id, organization_id, entity_id, locale, title, description)
        select ${id("'a' || n")}, '${org}', ${id("'e' || n")}, 'en', ${words(5)}, ${words(40)} ${each(products)}`
    ],
    [
      "links to categories",
      `insert into entity_categories (organization_id, entity_id, category_id)
        select '${org}', ${id("'e' || n")}, ${id("'c' || 1 + n % 60")} ${each(products)}`
    ],
    [
      "links to brands",
      `insert into entity_brands (organization_id, entity_id, brand_id)
        select '${org}', ${id("'e' || n")}, ${id("'b' || 1 + n % 200")} ${each(products)}`
    ]
  ]
  const took: Array<readonly [string, number]> = []
  for (const [name, text] of steps) {
    took.push([name, await timed(() => client.query(text))])
  }
  await client.query("vacuum analyze")
  return took
}

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  await work()
  return performance.now() - began
}

const some = { page: 1, limit: 20, attributes: [], facets: usualFacets } satisfies SearchQuery

const drawn = (from: number, to: number) => from + Math.floor(Math.random() * (to - from + 1))

const swapped = (text: string) => `${text[0]}${text[2]}${text[1]}${text.slice(3)}`

/** What shoppers ask, from the rare word to the whole shop; each request draws other words. */
type Question = readonly [name: string, query: () => SearchQuery]

const questions: readonly [Question, ...ReadonlyArray<Question>] = [
  ["a rare word", () => ({ ...some, q: word(drawn(2000, 7999)) })],
  ["a usual word", () => ({ ...some, q: word(drawn(20, 200)) })],
  ["two usual words", () => ({ ...some, q: `${word(drawn(20, 200))} ${word(7)}` })],
  ["a usual word in a category", () => ({ ...some, q: word(drawn(20, 200)), category: "category-7" })],
  ["two letters of a word", () => ({ ...some, q: word(drawn(1, 7999)).slice(0, 2) })],
  ["a category", () => ({ ...some, category: `category-${drawn(1, 60)}` })],
  ["a brand and a colour", () => ({
    ...some,
    brand: `brand-${drawn(1, 200)}`,
    attributes: [{ name: "color", values: ["red"] }]
  })],
  ["a typing error", () => ({ ...some, q: swapped(word(drawn(200, 7999))) })],
  ["a word that a third of all have", () => ({ ...some, q: word(12) })],
  ["a word that nearly all have", () => ({ ...some, q: word(1) })],
  ["two words that most have", () => ({ ...some, q: `${word(1)} ${word(2)}` })],
  ["a whole type", () => ({ ...some, type: "product" })]
]

const pathOf = (query: SearchQuery): string => {
  const sent = new URLSearchParams()
  for (const name of ["q", "type", "category", "brand"] as const) {
    const value = query[name]
    if (value !== undefined) sent.set(name, value)
  }
  for (const { name, values } of query.attributes) for (const value of values) sent.append(`attr.${name}`, value)
  return `/api/search?${sent}`
}

const p99 = (times: ReadonlyArray<number>) => percentile([...times].sort((a, b) => a - b), 0.99)

/** Asks over HTTP with a key; gives how long it took in ms and how many there are. */
const asking = async (origin: string, query: SearchQuery) => {
  let total = 0
  const took = await timed(async () => {
    const response = await fetch(`${origin}${pathOf(query)}`, { headers: { "x-api-key": "dev-admin-key" } })
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
    const body = await response.json() as { readonly meta: { readonly total: number } }
    total = body.meta.total
  })
  return { took, total }
}

/** Asks each question `rounds` times over HTTP, and sends the same statement by the raw driver. */
const askAll = async (origin: string, url: string, client: Client, rounds: number) => {
  const compile = (query: SearchQuery) =>
    Effect.map(
      SqlClient.SqlClient,
      (sql) => searchStatement(sql, { organization: org, query, publicOnly: false, isForgiving: false }).compile()
    )
  const found = []
  for (const [name, query] of questions) {
    const [uncached, bare, totals] = [new Array<number>(), new Array<number>(), new Array<number>()]
    for (let round = -10; round < rounds; round++) {
      const asked = query()
      const [text, parameters] = await Effect.runPromise(
        Effect.provide(compile(asked), PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))
      )
      const answer = await asking(origin, asked)
      const statement = await timed(() => client.query(text, [...parameters]))
      if (round < 0) continue
      totals.push(answer.total)
      uncached.push(answer.took)
      bare.push(statement)
    }
    const figures = (ms: ReadonlyArray<number>) => ({ p50: median(ms), p99: p99(ms) })
    found.push({ name, hits: median(totals), uncached: figures(uncached), bare: figures(bare) })
  }
  return found
}

/** One product more, written by the raw driver: with the triggers of the index, and without them. */
const writing = async (client: Client, rounds: number) => {
  const write = (n: number) => [
    `with made as (insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
      values (${id(`'w' || ${n}`)}, '${org}', 'product', 'written-' || ${n}, 'active', true) returning *)
     insert into entity_attributes (id, organization_id, entity_id, locale, title, description)
      select ${id(`'wa' || ${n}`)}, '${org}', ${id(`'w' || ${n}`)}, 'en', '${word(1)} ${word(50)} ${word(600)}',
        '${word(9)} ${word(1000)}'`
  ]
  const written = async (from: number) => {
    const took: Array<number> = []
    for (let n = from; n < from + rounds; n++) took.push(await timed(() => client.query(write(n)[0] ?? "")))
    return took
  }
  await written(0)
  const indexed = await written(rounds)
  await client.query("set session_replication_role = replica")
  const plain = await written(2 * rounds)
  await client.query("set session_replication_role = origin")
  return { indexed: median(indexed), indexedP99: p99(indexed), plain: median(plain), plainP99: p99(plain) }
}

/**
 * Search among 100,000 products, asked over HTTP one at a time, and beside each the same statement sent by the raw driver
 * with the same settings: the difference is what the service adds. Then what the index costs a writer.
 */
export const runSearch = async (options: Options): Promise<void> => {
  const [products, rounds] = [options.flows ?? 100_000, 200]
  heading(`search among ${products} products, ${rounds} rounds`)
  const postgres = await startBenchPostgres()
  try {
    table(["environment", ""], Object.entries(await environment(postgres.admin)))
    const url = await postgres.create("stoa")
    const server = await startStoa({ databaseUrl: url })
    await onDatabase(url, async (client) => {
      const took = await seedProducts(client, products)
      table(["import in one statement", "s"], took.map(([name, ms]) => [name, ms / 1000]))
      await client.query(
        "set jit = off; set work_mem = '32MB'; set plan_cache_mode = force_custom_plan; set random_page_cost = 1.1"
      )
      const found = await askAll(server.origin, url, client, rounds)
      table(
        ["search", "hits", "p50 ms", "p99 ms", "bare p50 ms", "bare p99 ms"],
        found.map(({ bare, hits, name, uncached }) => [name, hits, uncached.p50, uncached.p99, bare.p50, bare.p99])
      )
      const writes = await writing(client, 300)
      table(["a product with words, written bare", "p50 ms", "p99 ms"], [
        ["with the index", writes.indexed, writes.indexedP99],
        ["without its triggers", writes.plain, writes.plainP99]
      ])
      record("search", { products, found, writes })
      for (const { name, uncached } of found) atMost(`${name}, p99`, uncached.p99, 50, " ms")
      note("bare: its statement by the driver pg, without typing errors forgiven")
    })
    await server.stop()
  } finally {
    await postgres.stop()
  }
}
