import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import { Entity, ShardingConfig } from "effect/cluster"
import { randomUUID } from "node:crypto"
import { Pool } from "pg"
import { ReservationRepo } from "../src/domain/inventory/ReservationRepo.ts"
import { EntityId } from "../src/domain/platform/ids/Id.ts"
import { StockEntity, stockEntityActor } from "../src/entities/StockEntity.ts"
import { migrateAll } from "../src/layers/Migrations.ts"
import { environment } from "./measure/Environment.ts"
import { median } from "./measure/Figures.ts"
import { atLeast, exactly, heading, note, record, table } from "./measure/Report.ts"
import type { Options } from "./Options.ts"
import { type BenchPostgres, onDatabase, startBenchPostgres } from "./servers/BenchPostgres.ts"

const item = "11111111-1111-7111-8111-111111111111"
const units = 1_000_000
const connections = 10

/** Runs so many reservations, `users` at once; how many a second. */
type Run = (count: number, users: number) => Promise<number>

const perSecond = async (count: number, users: number, one: () => Promise<unknown>): Promise<number> => {
  let left = count
  const began = performance.now()
  await Promise.all(Array.from({ length: users }, async () => {
    while (left-- > 0) await one()
  }))
  return count / (performance.now() - began) * 1_000
}

/** A row lock for each reservation: one statement that lowers the stock and writes the hold. */
const bare = async (postgres: BenchPostgres) => {
  const connectionString = await postgres.create("row_locks")
  const pool = new Pool({ connectionString, max: connections })
  // The server may end before a connection does.
  pool.on("error", () => undefined)
  await pool.query("create table stock (id uuid primary key, on_hand int not null, reserved int not null default 0)")
  await pool.query("create table holds (id uuid primary key, product_id uuid not null, quantity int not null)")
  await pool.query("insert into stock values ($1, $2)", [item, units])
  const text =
    `with taken as (update stock set reserved = reserved + 1 where id = $1 and on_hand - reserved >= 1 returning id)
    insert into holds select $2, id, 1 from taken returning id`
  const reserve = async () => {
    const { rowCount } = await pool.query({ name: "reserve", text, values: [item, randomUUID()] })
    if (rowCount !== 1) throw new Error("The stock did not suffice.")
  }
  const run: Run = (count, users) => perSecond(count, users, reserve)
  return { run, stop: () => pool.end() }
}

const seed = (url: string) =>
  onDatabase(url, async (client) => {
    const warehouse = randomUUID()
    await client.query(
      "insert into warehouses (id, organization_id, name, code) values ($1, 'org_default', 'Main', 'main')",
      [warehouse]
    )
    await client.query("insert into stock_items (organization_id, sellable_id) values ('org_default', $1)", [item])
    await client.query(
      `insert into stock_levels (id, organization_id, sellable_id, warehouse_id, entity_id, on_hand)
        values ($1, 'org_default', $2, $3, $2, $4)`,
      [randomUUID(), item, warehouse, units]
    )
  })

/** The stock entity in this process, called by its client. */
const entity = (url: string, work: (run: Run) => Promise<void>) =>
  Effect.gen(function*() {
    const make = yield* Entity.makeTestClient(StockEntity, stockEntityActor())
    const { reserve } = yield* make("org_default")
    const one = () => {
      const line = { sellableId: item, entityId: EntityId.make(item), quantity: 1, title: "Mug" }
      const wish = {
        holder: randomUUID(),
        lines: [line],
        ttlSeconds: 900,
        pricing: "{}",
        deadline: Date.now() + 60_000
      }
      return Effect.runPromise(reserve(wish))
    }
    yield* Effect.promise(() => work((count, users) => perSecond(count, users, one)))
  }).pipe(
    Effect.scoped,
    Effect.provide(ReservationRepo.layer.pipe(
      Layer.provideMerge(Layer.merge(
        PgClient.layer({ url: Redacted.make(url), maxConnections: connections }),
        ShardingConfig.layer()
      ))
    )),
    Effect.runPromise
  )

/** Reservations of one hot item: the stock entity, which writes those that wait in one statement, beside row locks. */
export const runReservations = async (options: Options): Promise<void> => {
  const [count, users] = [options.flows ?? 20_000, options.users ?? 200]
  heading(`reservations of one item: ${count} by ${users} at once, ${options.windows} runs each, in turns`)
  const postgres = await startBenchPostgres()
  table(["environment", ""], Object.entries(await environment(postgres.admin)))
  try {
    const locks = await bare(postgres)
    const url = await postgres.create("reservations")
    await migrateAll(url)
    await seed(url)
    const rates = { entity: new Array<number>(), locks: new Array<number>() }
    await entity(url, async (run) => {
      // Warms both up.
      await run(count, users)
      await locks.run(count / 4, users)
      for (let round = 0; round < options.windows; round++) {
        rates.entity.push(await run(count, users))
        rates.locks.push(await locks.run(count / 4, users))
      }
    })
    const reserved = await onDatabase(
      url,
      (client) => client.query<{ units: number }>("select sum(reserved)::int as units from stock_levels")
    )
    await locks.stop()
    exactly("units reserved", reserved.rows[0]?.units ?? 0, count * (options.windows + 1))
    const [ours, theirs] = [median(rates.entity), median(rates.locks)]
    note(`median: stock entity ${ours.toFixed(0)}/s, row locks ${theirs.toFixed(0)}/s`)
    record("reservations", { count, users, ...rates })
    atLeast("reservations of one item", ours / theirs, 1, " x row locks")
  } finally {
    await postgres.stop()
  }
}
