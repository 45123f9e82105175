import { createHash } from "node:crypto"
import type { Client } from "pg"
import { batch, fileOf, importInto, key, productOf, seconds } from "./load/ProductFile.ts"
import { environment } from "./measure/Environment.ts"
import { memoryOf } from "./measure/ProcessUse.ts"
import { atLeast, atMost, exactly, heading, note, record, table } from "./measure/Report.ts"
import type { Options } from "./Options.ts"
import { onDatabase, startBenchPostgres } from "./servers/BenchPostgres.ts"
import { startStoa } from "./servers/StoaServer.ts"

const mebibyte = 1_048_576

const exportFrom = async (origin: string, pid: number) => {
  const began = performance.now()
  const response = await fetch(`${origin}/api/exports/catalog?format=jsonl`, { headers: key })
  const hash = createHash("sha256")
  let [bytes, peak] = [0, 0]
  for await (const chunk of response.body ?? []) {
    hash.update(chunk)
    bytes += chunk.length
    peak = Math.max(peak, (await memoryOf(pid)).now)
  }
  return { hash: hash.digest("hex"), megabytes: bytes / mebibyte, took: seconds(began), peak }
}

/** Rows of a batch by the raw driver: no validation, no comparison, no change log; the index of search comes of triggers. */
const insertBare = `with input as (select * from jsonb_to_recordset($1) as x(slug text, title text, description text,
    category text, sku text)),
  made as (insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
    select gen_random_uuid(), 'org_default', 'product', slug, 'active', true from input returning id, slug),
  words as (insert into entity_attributes (id, organization_id, entity_id, locale, title, description)
    select gen_random_uuid(), 'org_default', made.id, 'en', title, description from made join input using (slug)),
  links as (insert into entity_categories (organization_id, entity_id, category_id)
    select 'org_default', made.id, c.id from made join input using (slug)
      join categories c on c.organization_id = 'org_default' and c.slug = input.category)
  insert into variants (id, organization_id, entity_id, sku, combination)
    select gen_random_uuid(), 'org_default', made.id, sku, '' from made join input using (slug)`

const insertAll = async (client: Client, products: number): Promise<number> => {
  await client.query(`insert into categories (id, organization_id, slug)
    select gen_random_uuid(), 'org_default', 'category-' || n from generate_series(0, 49) n`)
  const began = performance.now()
  for (let from = 0; from < products; from += batch) {
    const count = Math.min(batch, products - from)
    await client.query(insertBare, [JSON.stringify(Array.from({ length: count }, (_, n) => productOf(from + n)))])
  }
  return seconds(began)
}

/** Rows of the bare insert: enough to know how fast it is. */
const bareRows = 20_000

const hashOf = async (file: AsyncIterable<Uint8Array>): Promise<string> => {
  const hash = createHash("sha256")
  for await (const chunk of file) hash.update(chunk)
  return hash.digest("hex")
}

/**
 * 100,000 products in, the same file again, and out: how long, how much memory, and whether what comes out is what went
 * in. Beside it rows of the same kind by the raw driver, in batches of the same size.
 */
export const runImportExport = async (options: Options): Promise<void> => {
  const products = options.flows ?? 100_000
  heading(`import and export of ${products} products`)
  const postgres = await startBenchPostgres()
  try {
    table(["environment", ""], Object.entries(await environment(postgres.admin)))
    const bareUrl = await postgres.create("bare")
    await (await startStoa({ databaseUrl: bareUrl })).stop()
    const rows = Math.min(products, bareRows)
    const bare = rows / (await onDatabase(bareUrl, (client) => insertAll(client, rows)))
    const server = await startStoa({ databaseUrl: await postgres.create("stoa") })
    const first = await importInto(server.origin, server.pid, fileOf(products))
    const again = await importInto(server.origin, server.pid, fileOf(products))
    const out = await exportFrom(server.origin, server.pid)
    const rate = products / (first.received + first.worked)
    table(["", "s", "per s", "memory before MiB", "peak MiB"], [
      ["file received", first.received, products / first.received, first.before, first.peak],
      ["imported", first.worked, products / first.worked, first.before, first.peak],
      ["the same file again", again.worked, products / again.worked, again.before, again.peak],
      ["exported", out.took, products / out.took, again.peak, out.peak]
    ])
    note(`bare insert: ${bare.toFixed(0)} per s; the file has ${out.megabytes.toFixed(1)} MB`)
    record("import-export", { products, first, again, out, bare })
    exactly("created", first.found.created, products)
    exactly("the same file again: unchanged", again.found.unchanged, products)
    exactly("files that differ", out.hash === await hashOf(fileOf(products).body) ? 0 : 1, 0)
    atLeast("import over bare insert", rate / bare, 0.3)
    // The heap grows to what it likes before it is cleaned: what counts is that the same work again adds nothing.
    // BENCH_NODE_ARGS="--max-old-space-size=192" shows how little suffices.
    atMost("memory of the same file again over the first time", again.peak - first.peak, 100, " MiB")
    await server.stop()
  } finally {
    await postgres.stop()
  }
}
