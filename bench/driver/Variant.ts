/** One way to run the same three statements. What is absent is the driver's own default. */
export interface Variant {
  readonly name: string
  readonly driver: "pg" | "sql-pg"
  /** Connections of the pool. */
  readonly connections: number
  /** Named statements, parsed once per connection. `pg` parses each time by default. */
  readonly prepare: boolean
  /** Several fibers' statements on one connection at once; sql-pg only. */
  readonly multiplex: boolean
  /** Settings of every session. */
  readonly settings: Readonly<Record<string, string>>
  /** Flows per second of all together, so that both drivers meet the disk as often; 0: as many as go. */
  readonly rate: number
}

const pg: Variant = {
  name: "pg",
  driver: "pg",
  connections: 10,
  prepare: false,
  multiplex: false,
  settings: {},
  rate: 0
}
const named: Variant = { ...pg, name: "pg named", prepare: true }
const sqlPg: Variant = { ...pg, name: "sql-pg", driver: "sql-pg", prepare: true }

const both = (suffix: string, change: Partial<Variant>): ReadonlyArray<Variant> =>
  [pg, named, sqlPg].map((variant) => ({ ...variant, ...change, name: `${variant.name}, ${suffix}` }))

const own = (suffix: string, change: Partial<Variant>): Variant => ({
  ...sqlPg,
  ...change,
  name: `${sqlPg.name}, ${suffix}`
})

/** Flows per second that a slow machine reaches too, and that leaves most commits alone on the disk. */
const pace = 200

/**
 * Each variant switches one thing, so that the difference to its driver's plain row is that thing: naming of
 * statements, sharing of connections, number of backends, kind of plan, JIT, the timer of statement_timeout, the wait
 * for the disk, and the rate at which commits arrive.
 */
export const variants: ReadonlyArray<Variant> = [
  pg,
  named,
  sqlPg,
  own("prepare=false", { prepare: false }),
  own("multiplex", { multiplex: true }),
  own("multiplex, 2 connections", { multiplex: true, connections: 2 }),
  ...both("2 connections", { connections: 2 }),
  ...both("4 connections", { connections: 4 }),
  own("force_generic_plan", { settings: { plan_cache_mode: "force_generic_plan" } }),
  own("force_custom_plan", { settings: { plan_cache_mode: "force_custom_plan" } }),
  { ...named, name: "pg named, force_custom_plan", settings: { plan_cache_mode: "force_custom_plan" } },
  own("jit=off", { settings: { jit: "off" } }),
  own("statement_timeout", { settings: { statement_timeout: "15000", idle_in_transaction_session_timeout: "30000" } }),
  ...both("synchronous_commit=off", { settings: { synchronous_commit: "off" } }),
  ...both(`${pace} flows/s`, { rate: pace })
]
