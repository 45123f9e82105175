import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { migrateEach } from "../../src/layers/Migrations.ts"
import { migrationOwners } from "../../src/layers/modules/Modules.ts"
import { version } from "../../src/layers/Version.ts"
import { copyOf } from "../support/Postgres.ts"
import { tapOn } from "../support/StatementTap.ts"
import released from "./released-migrations.json" with { type: "json" }

/** What an older version that runs beside this one would trip over, by the statement that does it. */
const breaking: ReadonlyArray<readonly [what: string, pattern: RegExp]> = [
  ["drops something", /\bdrop\s+(table|column|view|materialized view|function|type|schema|domain)\b/],
  ["renames something", /\brename\b/],
  ["changes the type of a column", /\balter\s+(column\s+)?\S+\s+(set\s+data\s+)?type\b/],
  ["demands a value", /\bset\s+not\s+null\b/],
  ["removes a default", /\bdrop\s+default\b/],
  ["removes rows", /\btruncate\b/]
]

/** A new column that rows of an older version would come without. */
const demandsValue = (text: string): boolean =>
  text.startsWith("alter table") &&
  text.split(/\badd\s+column\b/).slice(1).some((column) => /\bnot\s+null\b/.test(column) && !/\bdefault\b/.test(column))

const numbers = (version: string): ReadonlyArray<number> => version.split(".").map((part) => Number.parseInt(part, 10))

const isEarlier = (version: string, than: string): boolean => {
  const [own, other] = [numbers(version), numbers(than)]
  const at = own.findIndex((part, index) => part !== other[index])
  return at !== -1 && (own[at] ?? 0) < (other[at] ?? 0)
}

/**
 * What is wrong with a statement of a migration in this version: the version before and the one after run on the same
 * tables during an upgrade. Undefined for a statement that both can live with.
 */
export const flawOf = (statement: string, version: string): string | undefined => {
  const lastUsedBy = /^\/\* last used by (\S+) \*\//.exec(statement)?.[1]
  if (lastUsedBy !== undefined) {
    return isEarlier(lastUsedBy, version) ? undefined : `contracts what version ${lastUsedBy} still uses`
  }
  const text = statement.replaceAll(/\s+/g, " ").trim().toLowerCase()
  return breaking.find(([, pattern]) => pattern.test(text))?.[0] ??
    (demandsValue(text) ? "adds a column that must have a value" : undefined)
}

const newestReleased: Readonly<Record<string, string>> = released

const onlyReleased = migrationOwners.map(([owner, migrations]) => {
  const newest = newestReleased[owner] ?? ""
  return [owner, Object.fromEntries(Object.entries(migrations).filter(([name]) => name <= newest))] as const
})

it.live("migrations since the last release only add, so that its processes go on beside the new ones", () =>
  Effect.gen(function*() {
    const { url } = yield* copyOf("template0")
    const tap = yield* tapOn(url)
    const database = PgClient.layer({ url: Redacted.make(tap.url), maxConnections: 1 })
    yield* Effect.gen(function*() {
      yield* migrateEach(onlyReleased)
      tap.take()
      yield* migrateEach(migrationOwners)
    }).pipe(Effect.provide(database))
    const flaws = tap.take().flatMap(({ text }) => {
      const flaw = flawOf(text, version)
      return flaw === undefined ? [] : [`${flaw}: ${text.slice(0, 200)}`]
    })
    assert.deepStrictEqual(flaws, [], "Expand first, and remove one version later by `contract`.")
  }))

it("a statement that an older version would trip over is refused", () => {
  const flaws: Readonly<Record<string, string | undefined>> = {
    "drop table carts": "drops something",
    "alter table carts\n  drop column email": "drops something",
    "drop function total(uuid)": "drops something",
    "alter table carts rename to baskets": "renames something",
    "alter table carts rename column email to address": "renames something",
    "alter table carts alter column total type numeric": "changes the type of a column",
    "alter table carts alter column total set data type numeric": "changes the type of a column",
    "alter table carts alter column email set not null": "demands a value",
    "alter table carts alter column email drop default": "removes a default",
    "truncate carts": "removes rows",
    "alter table carts add column weight int not null": "adds a column that must have a value",
    "alter table carts add column weight int not null default 0": undefined,
    "alter table carts add column weight int, add column gift text not null": "adds a column that must have a value",
    "create table gifts (id uuid primary key, name text not null)": undefined,
    "create index gifts_name on gifts (name)": undefined,
    "drop index gifts_name": undefined,
    "/* last used by 0.2.0 */ drop table carts": "contracts what version 0.2.0 still uses",
    "/* last used by 0.1.9 */ drop table carts": undefined
  }
  for (const [statement, flaw] of Object.entries(flaws)) assert.strictEqual(flawOf(statement, "0.2.0"), flaw, statement)
  assert.isUndefined(flawOf("/* last used by 0.2.0 */ drop table carts", "0.10.0"))
})
