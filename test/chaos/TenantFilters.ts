import { assert, it } from "@effect/vitest"
import { Cause, Effect, Exit, Option } from "effect"
import { globSync, readFileSync } from "node:fs"
import { runMutant } from "../support/MutantRun.ts"
import { alwaysWith, copyOf, freshDatabase } from "../support/Postgres.ts"
import { redundant } from "../support/RedundantFilters.ts"
import { closeClient } from "../support/SharedClients.ts"
import { filtered, filtersIn, switchName } from "../support/TenantFilter.ts"
import { testAppOn } from "../support/TestApp.ts"
import { footprintOf } from "../tenancy/Footprint.ts"
import {
  type Look,
  otherwise,
  outsidersIds,
  ownRequests,
  readsOf,
  touched,
  viewOf,
  whileTaken
} from "../tenancy/OtherTenants.ts"
import { aStore } from "../tenancy/Stores.ts"

/*
 * Takes out every filter of organizations of every repository, one after the other, and looks whether a test sees it:
 * first what two stores see of each other over HTTP, then the tests of the repositories themselves. What no test sees is
 * to be explained in test/support/RedundantFilters.ts. STOA_CHAOS_FILTERS=7/40 takes every 40th, beginning with the 7th, and
 * STOA_CHAOS_FILTERS=domain/tax,StaffRepo.ts#4 those whose names contain one of these texts.
 */

const chosen = process.env["STOA_CHAOS_FILTERS"] ?? ""

const all = globSync(filtered).sort().flatMap((file) =>
  Array.from({ length: filtersIn(readFileSync(file, "utf8")) }, (_, n) => `${file}#${n}`)
)

const mutants = all.filter((mutant, index) => {
  const [, offset = 0, step = 1] = (/^(\d+)\/(\d+)$/.exec(chosen) ?? []).map(Number)
  return step > 1 ? index % step === offset % step : chosen.split(",").some((text) => mutant.includes(text))
})

/** Where it shows that a filter is out, and by what; undecided where the look itself went wrong. */
interface Visibility {
  readonly where: "over HTTP" | "inside" | "nowhere" | "undecided"
  readonly sign: string
}

const nothing: Visibility = { where: "nowhere", sign: "" }

/** Nothing is sent again while the walk lasts, or an hour of it would show what no filter did. */
const appOn = (url: string) =>
  testAppOn(url, { email: { send: async () => {} }, webhooks: { backoff: { baseSeconds: 43_200, jitter: 0 } } })

/** Two stores in a database without connections, with all that they see and are. */
const street = Effect.gen(function*() {
  const { name, url } = yield* freshDatabase
  return yield* Effect.gen(function*() {
    const [ours, theirs] = [yield* aStore("org_ours"), yield* aStore("org_theirs")]
    const ourView = yield* viewOf(ours)
    // Who reads an invoice for the first time issues it.
    yield* viewOf(theirs)
    return { name, ours, theirs, ourView, theirRows: yield* footprintOf("org_theirs") }
  }).pipe(
    Effect.provide(appOn(url), { local: true }),
    // A database is copied only while it has no connections.
    Effect.ensuring(closeClient(url))
  )
})

type Street = Effect.Success<typeof street>

const firstOf = Effect.fnUntraced(function*(looks: ReadonlyArray<Look>) {
  for (const look of looks) {
    const sign = yield* look
    if (sign !== undefined) return sign
  }
  return undefined
})

/** In the order of their price. */
const looksAt = ({ ourView, ours, theirRows, theirs }: Street): ReadonlyArray<Look> => [
  ...otherwise(ours, ourView),
  readsOf(theirs, ours),
  whileTaken("org_theirs", firstOf(outsidersIds(ours, theirs, "5 seconds"))),
  touched("org_theirs", theirRows),
  ...ownRequests(ours, theirs),
  touched("org_theirs", theirRows),
  Effect.as(aStore("org_third"), undefined),
  touched("org_theirs", theirRows)
]

/** What the service says whose sessions do without the filter, on a copy of the street. */
const seenOverHttp = (mutant: string, at: Street) =>
  Effect.gen(function*() {
    const database = yield* copyOf(at.name)
    yield* alwaysWith(database, switchName, mutant)
    const looked = yield* firstOf(looksAt(at)).pipe(
      Effect.provide(appOn(database.url), { local: true }),
      Effect.timeoutOption("2 minutes"),
      Effect.exit
    )
    if (Exit.isFailure(looked)) {
      const recorded = Cause.pretty(looked.cause).split("\n")[0] ?? ""
      return {
        where: recorded.startsWith("Error: POST ") ? "over HTTP" : "undecided",
        sign: recorded
      } satisfies Visibility
    }
    if (Option.isNone(looked.value)) return { where: "undecided", sign: "no answer in time" } satisfies Visibility
    const sign = looked.value.value
    return sign === undefined ? nothing : { where: "over HTTP", sign } satisfies Visibility
  }).pipe(Effect.scoped)

/** Modules whose tests are known to pass with every filter in its place. */
const sound = new Set<string>()

/** What the tests of tenants and of the module itself say without it; undecided where they say it of the whole thing. */
const seenInside = Effect.fnUntraced(function*(mutant: string) {
  const [, module = ""] = /^src\/(?:domain|layers)\/(\w+)\//.exec(mutant) ?? []
  // What modules write for imports and exports is tested with those.
  const importExport = mutant.includes("/import-export/") ? ["test/import-export/"] : []
  const tests = ["test/tenancy/Repos", ...new Set([...importExport, `test/${module}/`])]
  const run = yield* runMutant(mutant, tests)
  if (run.outcome === "passed") return nothing
  if (!sound.has(module) && (yield* runMutant("", tests)).outcome === "passed") sound.add(module)
  return {
    where: run.outcome === "failed" && sound.has(module) ? "inside" : "undecided",
    sign: run.recorded
  } satisfies Visibility
})

it.live(`taking out each of ${mutants.length} filters of organizations shows`, () =>
  Effect.gen(function*() {
    assert.isAbove(all.length, 200)
    const at = yield* street
    assert.deepStrictEqual(yield* seenOverHttp("", at), nothing, "something shows without any change")
    const wrong: Array<string> = []
    for (const mutant of mutants) {
      const outside = yield* seenOverHttp(mutant, at)
      const { sign, where } = outside.where === "over HTTP" ? outside : yield* seenInside(mutant)
      yield* Effect.logInfo(`${mutant}: ${where} ${sign.slice(0, 200)}`)
      const expected = redundant.has(mutant) ? ["nowhere"] : ["over HTTP", "inside"]
      if (!expected.includes(where)) wrong.push(`${mutant}: ${where}`)
    }
    assert.deepStrictEqual(yield* seenOverHttp("", at), nothing, "something shows by now without any change")
    assert.deepStrictEqual(wrong, [])
  }).pipe(Effect.scoped))
